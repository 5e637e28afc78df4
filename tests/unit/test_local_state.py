"""stack.json tells where the stack is, and a stale one is told from a running stack."""

import stat
from pathlib import Path

import pytest

from tests.unit.local_stack import a_stack
from tools.local import state
from tools.local.errors import LocalError
from tools.local.gateway import Gateway
from tools.local.ports import free_port

pytestmark = pytest.mark.enable_socket


def test_a_running_stack_is_found_with_all_that_it_says(tmp_path: Path):
    with Gateway(free_port(), "one") as gateway:
        info = a_stack(gateway.url)
        state.write(tmp_path, info)
        assert state.running(tmp_path) == info
        assert state.require_running(tmp_path) == info


def test_only_the_user_can_read_the_description(tmp_path: Path):
    state.write(tmp_path, a_stack("http://127.0.0.1:9"))
    assert stat.S_IMODE(state.description(tmp_path).stat().st_mode) == 0o600


def test_a_description_whose_stack_has_ended_is_stale(tmp_path: Path):
    state.write(tmp_path, a_stack(f"http://127.0.0.1:{free_port()}"))
    assert state.running(tmp_path) is None
    with pytest.raises(LocalError, match=r"has ended.*make run"):
        state.require_running(tmp_path)


def test_another_stack_on_the_same_port_is_not_taken_for_the_described_one(tmp_path: Path):
    with Gateway(free_port(), "another") as gateway:
        state.write(tmp_path, a_stack(gateway.url))
        assert state.running(tmp_path) is None


@pytest.mark.parametrize("text", ["", "{", "[]", '{"id": "one"}'])
def test_a_broken_description_is_no_stack(tmp_path: Path, text: str):
    state.description(tmp_path).write_text(text)
    assert state.running(tmp_path) is None


def test_without_a_description_no_stack_runs(tmp_path: Path):
    with pytest.raises(LocalError, match=r"no local stack is running: start one with `make run`"):
        state.require_running(tmp_path)
