"""The tables of template.yaml, made for tests under names of their own."""

from functools import cache
from pathlib import Path
from typing import Any
from uuid import uuid4

import boto3
import yaml
from botocore.config import Config

from tools.local.template import load_template, table_extras

TEMPLATE = Path(__file__).parents[2] / "template.yaml"
_OF_TESTS = ("AttributeDefinitions", "KeySchema", "BillingMode")


class _Loader(yaml.SafeLoader):
    """Reads CloudFormation's short tags (`!Ref x`) as plain values: the tables' keys have none."""


def _plain(loader: yaml.SafeLoader, _tag: str, node: yaml.Node) -> Any:
    if isinstance(node, yaml.ScalarNode):
        return loader.construct_scalar(node)
    if isinstance(node, yaml.SequenceNode):
        return loader.construct_sequence(node, deep=True)
    assert isinstance(node, yaml.MappingNode)
    return loader.construct_mapping(node, deep=True)


_Loader.add_multi_constructor("!", _plain)


@cache
def definitions() -> dict[str, dict[str, Any]]:
    """Parameters of CreateTable, by the table's logical name in lower case without `Table`, without indexes."""
    resources = yaml.load(TEMPLATE.read_text("utf-8"), Loader=_Loader)["Resources"]
    return {
        name.removesuffix("Table").lower(): _without_indexes(resource["Properties"])
        for name, resource in resources.items()
        if resource["Type"] == "AWS::DynamoDB::Table"
    }


def _without_indexes(properties: dict[str, Any]) -> dict[str, Any]:
    # An attribute that only an index uses may not be declared without it.
    used = {element["AttributeName"] for element in properties["KeySchema"]}
    found = {name: properties[name] for name in _OF_TESTS}
    declared = [each for each in properties["AttributeDefinitions"] if each["AttributeName"] in used]
    return {**found, "AttributeDefinitions": declared}


@cache
def vector_index() -> dict[str, Any]:
    """The vector index of the Recall table, with the attributes that it needs declared, for CreateTable."""
    extras = {extra.logical_id: extra for extra in table_extras(load_template(TEMPLATE), {})}
    properties = load_template(TEMPLATE)["Resources"]["RecallTable"]["Properties"]
    indexes = [dict(index) for index in extras["RecallTable"].vector_indexes]
    return {"AttributeDefinitions": properties["AttributeDefinitions"], "VectorIndexes": indexes}


def dynamodb_client(endpoint: str | None) -> Any:
    """A client for moto (no endpoint) or an emulator; it does not retry, so that a failure shows."""
    return boto3.client(
        "dynamodb",
        region_name="eu-west-1",
        endpoint_url=endpoint,
        aws_access_key_id="test",
        aws_secret_access_key="test",
        config=Config(retries={"total_max_attempts": 1}, read_timeout=20, connect_timeout=5),
    )


def create_tables(client: Any, *wanted: str, vectors: bool = False) -> dict[str, str]:
    """Creates tables with unique names; returns the names by what they hold. `vectors`: with vector indexes."""
    suffix = uuid4().hex[:8]
    names = {table: f"{table}-{suffix}" for table in wanted}
    for table, name in names.items():
        extra = vector_index() if vectors and table == "recall" else {}
        client.create_table(**{"TableName": name, **definitions()[table], **extra})
    return names


def items_of(client: Any, table: str) -> list[dict[str, Any]]:
    """Every item of a table, as DynamoDB writes it."""
    found: list[dict[str, Any]] = []
    for page in client.get_paginator("scan").paginate(TableName=table, ConsistentRead=True):
        found += page["Items"]
    return found
