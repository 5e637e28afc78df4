"""The commands that people use beside `make run`."""

import subprocess
import sys
from typing import Any

import pytest

from tests.e2e.places import STATE, clean_env
from tools.local.state import ROOT, SHARED


def local(*arguments: Any, **options: Any) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "tools.local", *map(str, arguments)]
    return subprocess.run(
        command,
        cwd=ROOT,
        env=clean_env(),
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
        **options,
    )


def test_a_piped_talk_shows_every_answer(talk, person):
    lines = "Hola, me llamo Maya.\n/summary\n¿Cómo me llamo?\n/quit\nnever sent\n"
    done = local("chat", "--as", person, "--state", STATE, input=lines)
    assert done.returncode == 0, done.stdout + done.stderr
    answers = [line for line in done.stdout.splitlines() if line.startswith("agent> ")]
    assert len(answers) == 2
    assert "Maya" in answers[1]
    assert "(no summary yet)" in done.stdout
    assert len(talk.received(person)) == 2


def test_a_talk_can_change_its_person(talk, person):
    other = f"{person[:-1]}{(int(person[-1]) + 1) % 10}"
    done = local("chat", "--as", person, "--state", STATE, input=f"Hola\n/as {other}\nHola\n")
    assert done.returncode == 0, done.stdout + done.stderr
    assert len(talk.received(person)) == len(talk.received(other)) == 1


def test_a_signed_request_can_be_sent(talk, person):
    done = local("sign", "--text", "Hola", "--person", person, "--send", "--state", STATE)
    assert done.returncode == 0, done.stdout + done.stderr
    assert talk.wait_for_reply(person, already=0)


def test_the_printed_curl_command_works_as_it_is(talk, person):
    printed = local("sign", "--text", "it's me", "--person", person, "--state", STATE).stdout
    sent = subprocess.run(["sh", "-c", printed], capture_output=True, text=True, timeout=60, check=True)
    assert " 200 " in sent.stdout.splitlines()[0]
    assert talk.wait_for_reply(person, already=0)


@pytest.mark.usefixtures("talk")
def test_a_second_stack_in_the_same_folder_is_refused_in_one_line():
    done = local("run", "--state", STATE)
    assert done.returncode == 1
    assert done.stderr.startswith("a local stack is running already: http://127.0.0.1:")
    assert len(done.stderr.splitlines()) == 1


def test_a_busy_port_is_refused_in_one_line(talk, tmp_path):
    port = talk.info.gateway_url.rpartition(":")[2]
    done = local("run", "--port", port, "--state", tmp_path)
    assert done.returncode == 1
    assert done.stderr == f"port {port} is in use or not allowed: choose another with --port, or leave it out\n"


def test_the_demo_goes_as_promised_and_leaves_nothing_running():
    done = local("demo")
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr
    assert "everything went as promised" in done.stdout
    listed = subprocess.run(
        ["ps", "-axww", "-o", "command="], capture_output=True, text=True, check=True
    ).stdout
    assert str(SHARED / "demo") not in listed
