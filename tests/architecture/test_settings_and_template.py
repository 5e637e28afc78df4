"""Settings classes and template.yaml say the same: names, limits, defaults."""

import json
import re
from typing import Any, get_type_hints

import pytest

from tests.architecture.template import ROOT, functions, template, variables
from whatsapp_agent.settings import CompactSettings, EraseSettings, IngestSettings, ReplySettings, Rule

SETTINGS = {
    "IngestFunction": IngestSettings,
    "ReplyFunction": ReplySettings,
    "CompactFunction": CompactSettings,
    "EraseFunction": EraseSettings,
}
PARAMETERS = template()["Parameters"]


def rule(settings: Any, variable: str) -> Rule:
    found = get_type_hints(settings, include_extras=True)[variable.lower()].__metadata__[0]
    assert isinstance(found, Rule)
    return found


def refuses(found: Rule, value: int) -> bool:
    try:
        found.parse(str(value))
    except ValueError:
        return True
    return False


def parameter_variables() -> list[tuple[str, str, str]]:
    """Every variable that a parameter fills: function, variable, parameter."""
    return [
        (function, variable, value["Ref"])
        for function in SETTINGS
        for variable, value in variables(function).items()
        if value.get("Ref") in PARAMETERS
    ]


def test_every_function_has_settings() -> None:
    assert set(functions()) == set(SETTINGS)


@pytest.mark.parametrize("function", SETTINGS)
def test_a_function_reads_exactly_the_variables_that_it_is_given(function: str) -> None:
    assert SETTINGS[function].variables() == set(variables(function))


@pytest.mark.parametrize("function", SETTINGS)
def test_the_values_for_sam_local_cover_every_variable_and_can_be_read(function: str) -> None:
    values = json.loads((ROOT / "events" / "env.json").read_text("utf-8"))

    assert set(values) == set(SETTINGS)
    assert set(values[function]) == set(variables(function))
    SETTINGS[function].from_env(values[function])


@pytest.mark.parametrize(("function", "variable", "parameter"), parameter_variables())
def test_whatever_the_template_lets_through_the_function_takes(
    function: str, variable: str, parameter: str
) -> None:
    found, declared = rule(SETTINGS[function], variable), PARAMETERS[parameter]

    edges = [declared[key] for key in ("Default", "MinValue", "MaxValue") if key in declared]
    for value in [*edges, *declared.get("AllowedValues", [])]:
        if value != "":
            found.parse(str(value))
        else:
            assert found.optional


@pytest.mark.parametrize(
    ("function", "variable", "parameter"),
    [case for case in parameter_variables() if "MaxValue" in PARAMETERS[case[2]]],
)
def test_beyond_the_template_s_limits_the_function_refuses_too(
    function: str, variable: str, parameter: str
) -> None:
    found, declared = rule(SETTINGS[function], variable), PARAMETERS[parameter]

    assert refuses(found, declared["MinValue"] - 1)
    assert refuses(found, declared["MaxValue"] + 1)


def test_a_variable_is_named_like_what_fills_it() -> None:
    for _, variable, parameter in parameter_variables():
        assert variable.replace("_", "").lower() == parameter.lower()


def test_only_bootstrap_reads_the_environment() -> None:
    readers = {
        path.relative_to(ROOT / "layers" / "core" / "whatsapp_agent").parts[0]
        for path in (ROOT / "layers" / "core" / "whatsapp_agent").rglob("*.py")
        if re.search(r"\bos\.environ\b|\bgetenv\b|from os import environ", path.read_text("utf-8"))
    }

    assert readers == {"bootstrap"}
