"""The conditions of DynamoDB writes: found in what is sent, taken apart, and taken away one by one."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

_AND = re.compile(r"\s+AND\s+", re.IGNORECASE)
_COMPARES = re.compile(r"#[a-z_]+ (?:=|<|>|<=|>=|IN) .*")
_NAME = re.compile(r"#[a-z_]+")
_VALUE = re.compile(r":[a-z_]+")
_WRITES = {"PutItem": "Put", "UpdateItem": "Update", "DeleteItem": "Delete"}
_EXPRESSIONS = ("ConditionExpression", "UpdateExpression")


@dataclass(frozen=True, order=True)
class Site:
    """A place of the code that writes on a condition.

    Attributes:
        caller: The adapter's method: `DynamoLedger.commit`.
        action: Kind and table of the action; `further …` where one that changes something else stands before
            it in the same transaction.
        condition: The whole expression.
    """

    caller: str
    action: str
    condition: str

    def __str__(self) -> str:
        return f"{self.caller}, {self.action}: {self.condition}"


@dataclass(frozen=True, order=True)
class Mutant:
    """A site without one of its conditions; without any where `dropped` is the whole expression."""

    site: Site
    dropped: str

    def __str__(self) -> str:
        return f"{self.site.caller}, {self.site.action}: without {self.dropped}"


def mutants_of(site: Site) -> list[Mutant]:
    """Each way to take away one condition: every conjunct alone, and all of them.

    That an item exists is not counted where another conjunct compares one of its attributes: an item that is
    not there has none.
    """
    conjuncts = conjuncts_of(site.condition)
    compares = any(_COMPARES.fullmatch(each) for each in conjuncts)
    single = [each for each in conjuncts if not (compares and each.startswith("attribute_exists("))]
    whole = [Mutant(site, site.condition)]
    return whole if len(conjuncts) == 1 else [*(Mutant(site, each) for each in single), *whole]


def conjuncts_of(expression: str) -> list[str]:
    """The parts that `AND` joins outside of parentheses; one part where an `OR` joins them."""
    if " OR " in _outside(expression):
        return [expression]
    parts: list[str] = []
    for piece in _AND.split(expression):
        if parts and parts[-1].count("(") > parts[-1].count(")"):
            parts[-1] += f" AND {piece}"
        else:
            parts.append(piece)
    return parts


def _outside(expression: str) -> str:
    while True:
        shorter = re.sub(r"\([^()]*\)", "", expression)
        if shorter == expression:
            return shorter
        expression = shorter


def sites_in(
    operation: str, parameters: Mapping[str, Any], caller: str
) -> Iterator[tuple[Site, dict[str, Any]]]:
    """Each conditional action of a call, with its parameters."""
    if operation in _WRITES:
        actions = [(_WRITES[operation], dict(parameters))]
    else:
        actions = [(kind, each[kind]) for each in parameters.get("TransactItems", ()) for kind in each]
    seen: dict[Site, set[str]] = {}
    for kind, given in actions:
        if condition := given.get("ConditionExpression"):
            site = Site(caller, f"{kind} {_table(given)}", condition)
            changed = set(_NAME.findall(given.get("UpdateExpression", "")))
            if seen.setdefault(site, changed) != changed:
                site = replace(site, action=f"further {site.action}")
            yield site, given


def _table(given: Mapping[str, Any]) -> str:
    return str(given["TableName"]).partition("-")[0]


def without(mutant: Mutant, operation: str, parameters: dict[str, Any], caller: str) -> dict[str, Any]:
    """The call's parameters with the mutant's condition gone wherever its site occurs."""
    if operation in _WRITES:
        for site, _ in sites_in(operation, parameters, caller):
            if site == mutant.site:
                return _dropped(mutant, _WRITES[operation], parameters)
        return parameters
    if operation != "TransactWriteItems":
        return parameters
    targets = [id(given) for site, given in sites_in(operation, parameters, caller) if site == mutant.site]
    items = [
        {kind: _dropped(mutant, kind, given) if id(given) in targets else given for kind, given in each.items()}
        for each in parameters["TransactItems"]
    ]
    return {**parameters, "TransactItems": items}


def _dropped(mutant: Mutant, kind: str, given: dict[str, Any]) -> dict[str, Any]:
    kept = [each for each in conjuncts_of(mutant.site.condition) if each != mutant.dropped]
    if mutant.dropped == mutant.site.condition:
        kept = []
    changed = dict(given)
    if kept:
        changed["ConditionExpression"] = " AND ".join(kept)
    elif kind == "ConditionCheck":
        # This action is nothing but its condition: one that always holds.
        key = next(iter(given["Key"]))
        changed["ConditionExpression"] = f"attribute_exists({key}) OR attribute_not_exists({key})"
    else:
        del changed["ConditionExpression"]
        changed.pop("ReturnValuesOnConditionCheckFailure", None)
    return _only_used(changed)


def _only_used(given: dict[str, Any]) -> dict[str, Any]:
    """DynamoDB refuses a name or a value that no expression uses."""
    text = " ".join(given.get(name, "") for name in _EXPRESSIONS)
    for attribute, pattern in (("ExpressionAttributeNames", _NAME), ("ExpressionAttributeValues", _VALUE)):
        used = {
            name: value for name, value in given.get(attribute, {}).items() if name in pattern.findall(text)
        }
        given.pop(attribute, None)
        if used:
            given[attribute] = used
    return given
