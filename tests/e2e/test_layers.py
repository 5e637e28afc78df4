"""Layers hold libraries of the processor that they are built for, whatever this machine's is."""

import struct
from pathlib import Path

import pytest

from tests.e2e.builds import MACHINES, build, built_template


def native_libraries(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*.so*") if path.is_file())


def machine_of(library: Path) -> int:
    header = library.read_bytes()[:20]
    assert header[:4] == b"\x7fELF"
    return int(struct.unpack_from("<H", header, 18)[0])


@pytest.mark.parametrize("architecture", sorted(MACHINES))
def test_native_libraries_are_for_the_chosen_processor_and_lambdas_python(architecture):
    libraries = native_libraries(build(architecture))
    assert libraries, "no layer holds a native library: this test checks nothing"
    assert {machine_of(library) for library in libraries} == {MACHINES[architecture]}
    extensions = [library.name for library in libraries if ".cpython-" in library.name]
    assert all(".cpython-313-" in name for name in extensions)


@pytest.mark.parametrize("architecture", sorted(MACHINES))
def test_each_layer_holds_what_it_is_for(architecture):
    folder = build(architecture)
    assert (folder / "CoreLayer/python/whatsapp_agent/ports/store.py").is_file()
    assert (folder / "CoreLayer/python/aws_lambda_powertools").is_dir()
    assert (folder / "CoreLayer/python/boto3").is_dir()
    assert (folder / "ModelSdkLayer/python/openai").is_dir()
    assert (folder / "AgentsLayer/python/agent_profiles/companion/agent.toml").is_file()
    assert not list(folder.glob("*/python/python"))


def test_the_function_that_takes_webhooks_in_gets_no_model_sdk():
    layers = built_template("arm64")["Resources"]["IngestFunction"]["Properties"]["Layers"]
    assert layers == [{"Ref": "CoreLayer"}]
