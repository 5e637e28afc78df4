"""Closes the gaps between a deployment by the emulator's CloudFormation and one by AWS's."""

from collections.abc import Mapping
from functools import partial
from typing import Any

from tools.local.clients import client
from tools.local.processes import wait_for
from tools.local.template import table_extras

READY_SECONDS = 60


def close_gaps(
    endpoint: str,
    template: Mapping[str, Any],
    parameters: Mapping[str, str],
    resources: Mapping[str, str],
) -> None:
    """Applies what the emulator passes over, and mends what it hands on differently.

    Args:
        parameters: What the template was deployed with, beside its defaults.
        resources: Physical names by logical id.

    Raises:
        LocalError: A vector index does not become active.
    """
    _complete_tables(client("dynamodb", endpoint), template, parameters, resources)
    _mend_environments(endpoint, template, resources)


def _complete_tables(
    dynamodb: Any, template: Mapping[str, Any], parameters: Mapping[str, str], resources: Mapping[str, str]
) -> None:
    for extras in table_extras(template, parameters):
        table = resources[extras.logical_id]
        for index in extras.vector_indexes:
            attributes = dynamodb.describe_table(TableName=table)["Table"]["AttributeDefinitions"]
            create = [{"Create": dict(index)}]
            dynamodb.update_table(TableName=table, AttributeDefinitions=attributes, VectorIndexUpdates=create)
            what = f"the vector index of {extras.logical_id}"
            wait_for(partial(_active, dynamodb, table), READY_SECONDS, what)
        if extras.time_to_live:
            dynamodb.update_time_to_live(TableName=table, TimeToLiveSpecification=dict(extras.time_to_live))


def _active(dynamodb: Any, table: str) -> bool:
    description = dynamodb.describe_table(TableName=table)["Table"]
    states = [description["TableStatus"]]
    states += [index["IndexStatus"] for index in description.get("VectorIndexes", [])]
    return set(states) == {"ACTIVE"}


def _mend_environments(endpoint: str, template: Mapping[str, Any], resources: Mapping[str, str]) -> None:
    """Gives the functions' variables the values that they have on AWS: the emulator lets `Ref` of a secret be
    its name instead of its ARN, and hands numbers of a mapping on as numbers instead of as texts.
    """
    pages = client("secretsmanager", endpoint).get_paginator("list_secrets").paginate()
    arns = {secret["Name"]: secret["ARN"] for page in pages for secret in page["SecretList"]}
    functions = client("lambda", endpoint)
    for logical_id, resource in template["Resources"].items():
        if resource["Type"] != "AWS::Serverless::Function":
            continue
        name = resources[logical_id]
        found = functions.get_function_configuration(FunctionName=name)
        before = found.get("Environment", {}).get("Variables", {})
        after = {variable: arns.get(str(value), str(value)) for variable, value in before.items()}
        if after != before:
            functions.update_function_configuration(FunctionName=name, Environment={"Variables": after})
