"""Builds for AWS, as `make build` makes them, kept for the session."""

import json
from functools import cache
from pathlib import Path
from typing import Any

from tests.e2e.places import STATE, clean_env
from tools.local.checks import find_tools
from tools.local.processes import run
from tools.local.state import ROOT
from tools.local.template import load_template

MACHINES = {"arm64": 183, "x86_64": 62}
"""`e_machine` of an ELF file: EM_AARCH64 and EM_X86_64."""


@cache
def build(architecture: str) -> Path:
    """Runs `sam build` for the architecture; returns the folder with the built template."""
    folder = STATE / f"build-{architecture}"
    command = [find_tools(ROOT).sam, "build", "--template", "template.yaml", "--build-dir", folder]
    command += ["--parameter-overrides", f"Architecture={architecture}"]
    run("sam build", command, clean_env(), ROOT, STATE / "logs" / f"build-{architecture}.log", 900)
    return folder


def built_template(architecture: str) -> dict[str, Any]:
    """The template that `sam build` wrote."""
    return load_template(build(architecture) / "template.yaml")


def functions(template: dict[str, Any]) -> set[str]:
    """The logical ids of the functions."""
    return {
        name
        for name, resource in template["Resources"].items()
        if resource["Type"] == "AWS::Serverless::Function"
    }


def with_endpoint(architecture: str, endpoint: str) -> Path:
    """The built template with one more variable: `sam local` passes on only those that a template declares."""
    template = built_template(architecture)
    for name in functions(template):
        template["Resources"][name]["Properties"]["Environment"]["Variables"]["AWS_ENDPOINT_URL"] = endpoint
    path = build(architecture) / "with-endpoint.json"
    path.write_text(json.dumps(template), encoding="utf-8")
    return path
