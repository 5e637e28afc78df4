"""The layers' locked requirements can be built for Lambda from any host."""

import re
from pathlib import Path

import pytest

from tests.architecture.template import ROOT, resources, template

LOCKS = {
    "CoreLayer": ROOT / "layers" / "core" / "requirements.txt",
    "ModelSdkLayer": ROOT / "layers" / "model_sdk" / "requirements.txt",
}
OTHERS = sorted((ROOT / "requirements").glob("*.txt"))
PIN = re.compile(r"^(?P<name>[a-z0-9-]+)(\[[^]]*\])?==(?P<version>\S+)(?: ; (?P<marker>.*?))?(?: \\)?$", re.M)


def pins(lock: Path) -> dict[str, str]:
    return {match["name"]: match["version"] for match in PIN.finditer(lock.read_text("utf-8"))}


def test_two_layers_hold_one_version_of_what_both_need() -> None:
    core, model = (pins(lock) for lock in LOCKS.values())
    shared = core.keys() & model.keys()

    assert "typing-extensions" in shared
    assert {name: core[name] for name in shared} == {name: model[name] for name in shared}


def test_tests_run_with_the_versions_that_are_deployed() -> None:
    tested = pins(ROOT / "requirements" / "dev.txt")
    for lock in LOCKS.values():
        deployed = {name: version for name, version in pins(lock).items() if name in tested}
        assert deployed == {name: tested[name] for name in deployed}


def test_boto3_knows_vector_search() -> None:
    version = tuple(int(part) for part in pins(LOCKS["CoreLayer"])["boto3"].split("."))

    assert version >= (1, 43, 64)


@pytest.mark.parametrize("lock", LOCKS.values(), ids=LOCKS)
def test_what_a_layer_needs_does_not_depend_on_the_host_that_builds_it(lock: Path) -> None:
    markers = {match["marker"] for match in PIN.finditer(lock.read_text("utf-8")) if match["marker"]}

    # pip judges markers by the Python that runs it, not by the one that it collects for: only those may stand
    # that say the same on every host.
    assert all("emscripten" in marker for marker in markers)


@pytest.mark.parametrize("lock", [*LOCKS.values(), *OTHERS], ids=lambda lock: str(lock.relative_to(ROOT)))
def test_a_lock_pins_and_hashes_everything_and_names_no_host(lock: Path) -> None:
    text = lock.read_text("utf-8")
    entries = re.findall(r"^[a-z0-9].*?(?=^[a-z0-9]|\Z)", text, re.M | re.S)

    assert entries
    assert all("==" in entry and "--hash=sha256:" in entry for entry in entries)
    assert "://" not in text


@pytest.mark.parametrize("name", resources("AWS::Serverless::LayerVersion"))
def test_the_build_of_a_layer_follows_the_parameter_architecture(name: str) -> None:
    metadata = template()["Resources"][name]["Metadata"]
    rules = (ROOT / "layers" / "build" / "layer.mk").read_text("utf-8")

    assert metadata["BuildMethod"] == "makefile"
    assert metadata["ContextPath"] == {"Fn::Sub": "layers/build/${Architecture}"}
    assert f"build-{name}:" in rules


@pytest.mark.parametrize(("architecture", "machine"), [("arm64", "aarch64"), ("x86_64", "x86_64")])
def test_each_architecture_has_its_makefile(architecture: str, machine: str) -> None:
    text = (ROOT / "layers" / "build" / architecture / "Makefile").read_text("utf-8")

    assert f"MACHINE := {machine}\n" in text
