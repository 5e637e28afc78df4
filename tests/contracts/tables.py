"""The tables of template.yaml, made for tests under names of their own."""

from functools import cache
from pathlib import Path
from typing import Any
from uuid import uuid4

import boto3
import yaml
from botocore.config import Config

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
    """Parameters of CreateTable, by the table's logical name in lower case without `Table`."""
    resources = yaml.load(TEMPLATE.read_text("utf-8"), Loader=_Loader)["Resources"]
    return {
        name.removesuffix("Table").lower(): _without_index(
            {key: resource["Properties"][key] for key in _OF_TESTS}
        )
        for name, resource in resources.items()
        if resource["Type"] == "AWS::DynamoDB::Table"
    }


def _without_index(table: dict[str, Any]) -> dict[str, Any]:
    """Only what the keys need: moto knows no vector index, and refuses attributes that nothing uses."""
    keys = {key["AttributeName"] for key in table["KeySchema"]}
    return {
        **table,
        "AttributeDefinitions": [a for a in table["AttributeDefinitions"] if a["AttributeName"] in keys],
    }


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


def create_tables(client: Any, *wanted: str) -> dict[str, str]:
    """Creates tables with unique names; returns the names by what they hold."""
    suffix = uuid4().hex[:8]
    names = {table: f"{table}-{suffix}" for table in wanted}
    for table, name in names.items():
        client.create_table(TableName=name, **definitions()[table])
    return names


def items_of(client: Any, table: str) -> list[dict[str, Any]]:
    """Every item of a table, as DynamoDB writes it."""
    found: list[dict[str, Any]] = []
    for page in client.get_paginator("scan").paginate(TableName=table, ConsistentRead=True):
        found += page["Items"]
    return found
