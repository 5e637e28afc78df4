"""Two stacks never share a folder."""

import fcntl

import pytest

from tools.local.errors import LocalError
from tools.local.stack import Options, start

pytestmark = pytest.mark.enable_socket


def test_a_folder_in_which_another_stack_is_starting_is_left_alone(tmp_path, monkeypatch):
    for name in ("SAM_BIN", "MINISTACK_BIN"):
        program = tmp_path / "bin" / name
        program.parent.mkdir(exist_ok=True)
        program.write_text("#!/bin/sh\n")
        program.chmod(0o755)
        monkeypatch.setenv(name, str(program))
    python = tmp_path / "bin" / "python"
    python.write_text("#!/bin/sh\n")
    python.chmod(0o755)
    state = tmp_path / "state"
    (state / "tmp").mkdir(parents=True)
    (state / "tmp" / "in-use").touch()
    with (state / "run.lock").open("w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        with (
            pytest.raises(LocalError, match="another local stack is starting or ending in"),
            start(Options(state=state), lambda _: None),
        ):
            pytest.fail("it must not start")
    assert (state / "tmp" / "in-use").exists()
