"""Reads from template.yaml what the emulator's CloudFormation passes over: vector indexes and time to live."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml


class _Loader(yaml.SafeLoader):
    """YAML with CloudFormation's short tags, read as their long form."""


def _tag(loader: yaml.SafeLoader, suffix: str, node: yaml.Node) -> dict[str, Any]:
    value: Any
    if isinstance(node, yaml.ScalarNode):
        value = loader.construct_scalar(node)
        if suffix == "GetAtt":
            value = str(value).split(".", 1)
    elif isinstance(node, yaml.SequenceNode):
        value = loader.construct_sequence(node, deep=True)
    else:
        value = loader.construct_mapping(node, deep=True)  # type: ignore[arg-type]
    return {suffix if suffix in {"Ref", "Condition"} else f"Fn::{suffix}": value}


_Loader.add_multi_constructor("!", _tag)


@dataclass(frozen=True, slots=True)
class TableExtras:
    """What is to be applied to one deployed table, in the words of the DynamoDB API."""

    logical_id: str
    vector_indexes: tuple[Mapping[str, Any], ...]
    time_to_live: Mapping[str, Any] | None


def load_template(path: Path) -> dict[str, Any]:
    """The template, with `!Ref x` as `{"Ref": "x"}` and so on."""
    with path.open(encoding="utf-8") as file:
        template: dict[str, Any] = yaml.load(file, Loader=_Loader)
    return template


def table_extras(template: Mapping[str, Any], overrides: Mapping[str, str]) -> list[TableExtras]:
    """Every table with a vector index or a time to live."""
    extras = []
    for logical_id, resource in template["Resources"].items():
        if resource["Type"] != "AWS::DynamoDB::Table":
            continue
        properties = _resolve(resource["Properties"], template, overrides)
        indexes = tuple(properties.get("VectorIndexes", ()))
        time_to_live = properties.get("TimeToLiveSpecification")
        if indexes or time_to_live:
            extras.append(TableExtras(logical_id, indexes, time_to_live))
    return extras


def _resolve(value: Any, template: Mapping[str, Any], overrides: Mapping[str, str]) -> Any:
    """Replaces references to parameters and mappings; other functions stay as they are."""
    if isinstance(value, list):
        return [_resolve(item, template, overrides) for item in value]
    if not isinstance(value, dict):
        return value
    if len(value) == 1:
        name, argument = next(iter(value.items()))
        if name == "Ref" and argument in template.get("Parameters", {}):
            parameter = template["Parameters"][argument]
            text = overrides.get(argument, parameter.get("Default", ""))
            return int(text) if parameter["Type"] == "Number" else text
        if name == "Fn::FindInMap":
            table, row, column = _resolve(argument, template, overrides)
            return template["Mappings"][table][row][column]
    return {key: _resolve(item, template, overrides) for key, item in value.items()}
