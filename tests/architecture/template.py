"""template.yaml as plain data, for the tests of this folder."""

from functools import cache
from pathlib import Path
from typing import Any

from tools.local.template import load_template

ROOT = Path(__file__).parents[2]


@cache
def template() -> dict[str, Any]:
    """The template, `!Ref x` as `{"Ref": "x"}` and `!GetAtt x.y` as `{"Fn::GetAtt": ["x", "y"]}`."""
    return load_template(ROOT / "template.yaml")


def resources(kind: str) -> dict[str, dict[str, Any]]:
    """Properties of every resource of a type, by logical id."""
    return {
        name: resource.get("Properties", {})
        for name, resource in template()["Resources"].items()
        if resource["Type"] == kind
    }


def functions() -> dict[str, dict[str, Any]]:
    """Properties of every function with what Globals say filled in, by logical id."""
    shared = template()["Globals"]["Function"]
    return {name: {**shared, **own} for name, own in resources("AWS::Serverless::Function").items()}


def variables(function: str) -> dict[str, Any]:
    """The environment variables that a function declares itself."""
    declared: dict[str, Any] = functions()[function]["Environment"]["Variables"]
    return declared


def name_in(value: Any) -> str:
    """The logical id that a `!Ref`, a `!GetAtt`, or a `!Sub` of a part of one resource points at."""
    if isinstance(value, dict):
        if "Fn::Sub" in value:
            (target,) = references(value)
            return target
        target = value.get("Ref") or value["Fn::GetAtt"][0]
        return str(target)
    raise AssertionError(f"{value!r} points at no resource")


def references(value: Any) -> set[str]:
    """Every name that is referred to anywhere inside, `${…}` of `!Sub` included."""
    if isinstance(value, dict):
        found = {str(value["Ref"])} if "Ref" in value else set()
        if "Fn::Sub" in value:
            found |= {part.split("}")[0].split(".")[0] for part in str(value["Fn::Sub"]).split("${")[1:]}
        return found.union(*(references(inner) for inner in value.values()))
    if isinstance(value, list):
        return set().union(*(references(inner) for inner in value))
    return set()
