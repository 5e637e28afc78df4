"""The smallest instance of a JSON schema: what the simulated model answers where it knows no better."""

from typing import Any

_DEPTH = 12


def instance(schema: Any, root: Any = None, depth: int = 0) -> Any:
    """A valid instance of the subset of JSON Schema that structured output takes."""
    root = schema if root is None else root
    if not isinstance(schema, dict) or depth > _DEPTH:
        return None
    for name, choose in _CHOICES.items():
        if name in schema:
            return choose(schema, root, depth)
    kinds = schema.get("type", "object" if "properties" in schema else "string")
    if isinstance(kinds, list):
        # A recursion ends where it may be null.
        kinds = "null" if depth and "null" in kinds else kinds[0]
    if kinds == "object":
        return {
            name: instance(part, root, depth + 1)
            for name, part in schema.get("properties", {}).items()
            if name in schema.get("required", ())
        }
    if kinds == "array":
        return [instance(schema.get("items"), root, depth + 1) for _ in range(schema.get("minItems", 0))]
    if kinds in ("integer", "number"):
        return _number(schema)
    return {"boolean": False, "null": None}.get(kinds, _string(schema))


def _reference(schema: dict[str, Any], root: Any, depth: int) -> Any:
    target = root
    for part in str(schema["$ref"]).lstrip("#/").split("/"):
        target = target.get(part) if part and isinstance(target, dict) else target
    return instance(target, root, depth + 1)


def _any_of(schema: dict[str, Any], root: Any, depth: int) -> Any:
    options = schema["anyOf"]
    null = [option for option in options if option.get("type") == "null"]
    return instance((null or options)[0], root, depth + 1)


_CHOICES = {
    "const": lambda schema, _root, _depth: schema["const"],
    "enum": lambda schema, _root, _depth: schema["enum"][0],
    "$ref": _reference,
    "anyOf": _any_of,
}


def _number(schema: dict[str, Any]) -> Any:
    low, high = schema.get("minimum", schema.get("exclusiveMinimum")), schema.get("maximum")
    if low is not None:
        return low + 1 if "exclusiveMinimum" in schema else low
    return min(0, high) if high is not None else 0


def _string(schema: dict[str, Any]) -> str:
    formats: dict[str, str] = {
        "date": "2026-01-01",
        "date-time": "2026-01-01T00:00:00Z",
        "email": "nobody@example.com",
    }
    return formats.get(str(schema.get("format")), "-" * int(schema.get("minLength", 0)))
