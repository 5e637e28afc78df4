"""Tools as a model is told of them, and the check of what it wrote as their arguments."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

_MOST_CHARS = 4000
_TYPES: dict[str, type] = {"string": str, "boolean": bool}


@dataclass(frozen=True, slots=True)
class ToolSpec:
    """A tool as the model is told of it.

    Attributes:
        parameters: JSON schema of the arguments, strict: an object with every property required.
    """

    name: str
    description: str
    parameters: Mapping[str, Any]


class WrongArguments(Exception):
    """The arguments are not what the tool takes; the message says what it takes and repeats nothing."""


def checked(text: str, schema: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments, where they are an object of the schema: flat, of strings and booleans.

    Raises:
        WrongArguments: They are not.
    """
    if len(text) > _MOST_CHARS:
        raise WrongArguments("the arguments are too long")
    try:
        given = json.loads(text)
    except (ValueError, RecursionError):
        raise WrongArguments("the arguments are not JSON") from None
    properties: Mapping[str, Mapping[str, Any]] = schema["properties"]
    if not isinstance(given, dict):
        raise WrongArguments(f"the arguments must be an object with {', '.join(properties)}")
    if missing := [name for name in properties if name not in given]:
        raise WrongArguments(f"missing: {', '.join(missing)}")
    if len(given) > len(properties):
        raise WrongArguments(f"only these are taken: {', '.join(properties)}")
    for name, part in properties.items():
        if not isinstance(given[name], _TYPES[part["type"]]):
            raise WrongArguments(f"{name} must be a {part['type']}")
        if given[name] not in part.get("enum", (given[name],)):
            raise WrongArguments(f"{name} must be one of {', '.join(part['enum'])}")
    return given
