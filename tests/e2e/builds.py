"""Builds for AWS, as `make build` makes them, kept for the session."""

import io
import json
import zipfile
from collections.abc import Callable
from functools import cache
from hashlib import sha256
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


def with_endpoint(endpoint: str, publish: Callable[[str, bytes], str]) -> Path:
    """The template built for x86_64, changed in three ways for invoking it again and again in containers.

    It has one more variable, for `sam local` passes on only those that a template declares; the layers are
    published ones, for `sam local` makes a new image for each invocation of a function with layers of the
    template's own; and functions have time for a cold start on a busy machine.

    Args:
        publish: Publishes a layer under a name; returns its ARN.
    """
    template = built_template("x86_64")
    arns: dict[str, str] = {}
    for name in functions(template):
        properties = template["Resources"][name]["Properties"]
        properties["Environment"]["Variables"]["AWS_ENDPOINT_URL"] = endpoint
        properties["Timeout"] = 120
        for layer in properties["Layers"]:
            logical_id = layer["Ref"]
            if logical_id not in arns:
                packed = _packed(build("x86_64") / logical_id)
                # The name stands for the content: SAM CLI keeps layers and images by name.
                arns[logical_id] = publish(f"{logical_id}-{sha256(packed).hexdigest()[:16]}", packed)
        properties["Layers"] = [arns[layer["Ref"]] for layer in properties["Layers"]]
    path = build("x86_64") / "with-endpoint.json"
    path.write_text(json.dumps(template), encoding="utf-8")
    return path


def _packed(folder: Path) -> bytes:
    """A zip of the folder that is the same for the same content."""
    memory = io.BytesIO()
    with zipfile.ZipFile(memory, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for path in sorted(folder.rglob("*")):
            if path.is_file():
                entry = zipfile.ZipInfo(path.relative_to(folder).as_posix())
                entry.external_attr = 0o644 << 16
                archive.writestr(entry, path.read_bytes(), zipfile.ZIP_DEFLATED, 1)
    return memory.getvalue()
