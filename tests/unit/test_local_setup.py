"""What the local stack checks, and how it keeps out of the user's AWS configuration."""

import os
import socket
from pathlib import Path

import pytest

from tools.local import demo_script
from tools.local.checks import find_tools
from tools.local.commands import main
from tools.local.environment import emulator_env, tool_env
from tools.local.errors import LocalError
from tools.local.ports import LOOPBACK, choose_port
from tools.local.template import load_template, table_extras

ROOT = Path(__file__).resolve().parents[2]


def program(path: Path, text: str = "#!/bin/sh\n") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)
    return path


@pytest.fixture
def no_tools(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    for name in ("SAM_BIN", "MINISTACK_BIN"):
        monkeypatch.delenv(name, raising=False)
    return monkeypatch


@pytest.mark.enable_socket
def test_a_busy_port_is_one_clear_line():
    with socket.create_server((LOOPBACK, 0)) as busy:
        port = busy.getsockname()[1]
        with pytest.raises(LocalError, match=f"^port {port} is in use.*--port") as caught:
            choose_port(port, "--port")
    assert "\n" not in str(caught.value)


@pytest.mark.enable_socket
def test_a_port_that_cannot_be_one_is_one_clear_line():
    with pytest.raises(LocalError, match=r"^port 70000 is in use or not allowed"):
        choose_port(70000, "--port")


def test_what_is_not_installed_is_named_with_the_way_to_install_it(tmp_path, no_tools):
    with pytest.raises(
        LocalError, match=r"^SAM CLI is not installed in .venv-sam/bin/sam: start with `make run`"
    ):
        find_tools(tmp_path)


def test_a_variable_that_names_no_program_is_named(tmp_path, no_tools):
    no_tools.setenv("SAM_BIN", str(tmp_path / "nothing"))
    with pytest.raises(LocalError, match=r"^SAM_BIN is .*nothing', which is no program"):
        find_tools(tmp_path)


def test_layers_are_built_with_the_python_that_runs_the_functions(tmp_path, no_tools):
    program(tmp_path / ".venv-sam/bin/sam")
    program(tmp_path / ".venv-emulator/bin/ministack")
    program(tmp_path / ".venv-emulator/bin/python", "#!/bin/sh\necho /usr/bin/python-with-pip\n")
    assert find_tools(tmp_path).pip_python == Path("/usr/bin/python-with-pip")
    python = program(tmp_path / ".venv-emulator/bin/python", "#!/bin/sh\necho\n")
    assert find_tools(tmp_path).pip_python == python


def test_make_must_be_there(tmp_path, no_tools):
    no_tools.setenv("PATH", str(tmp_path))
    with pytest.raises(LocalError, match=r"^make is not on the PATH"):
        find_tools(tmp_path)


@pytest.mark.parametrize("env", [lambda s: emulator_env(s, 1), lambda s: tool_env(s, "http://127.0.0.1:1")])
def test_nothing_of_the_users_aws_setup_gets_in(env, monkeypatch, tmp_path):
    for name in ("AWS_PROFILE", "AWS_SESSION_TOKEN", "AWS_ENDPOINT_URL_SQS", "AWS_ROLE_ARN", "OPENAI_API_KEY"):
        monkeypatch.setenv(name, "the user's")
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "the user's")
    made = env(tmp_path)
    assert "the user's" not in made.values()
    assert made["AWS_ENDPOINT_URL"] == "http://127.0.0.1:1"
    for name in ("AWS_CONFIG_FILE", "AWS_SHARED_CREDENTIALS_FILE", "TMPDIR"):
        assert Path(made[name]).is_relative_to(tmp_path)


def test_making_environments_leaves_the_users_own_alone(tmp_path):
    before = dict(os.environ)
    emulator_env(tmp_path, 1)
    tool_env(tmp_path, "http://127.0.0.1:1")
    assert dict(os.environ) == before


def test_local_servers_are_never_asked_for_through_a_proxy(monkeypatch, tmp_path):
    monkeypatch.setenv("HTTPS_PROXY", "http://proxy:3128")
    monkeypatch.setenv("NO_PROXY", "intranet")
    made = emulator_env(tmp_path, 1)
    assert made["HTTPS_PROXY"] == "http://proxy:3128"
    assert made["NO_PROXY"] == made["no_proxy"] == "intranet,127.0.0.1,localhost"


def test_the_emulator_listens_on_loopback_only_and_leaves_docker_alone(tmp_path):
    made = emulator_env(tmp_path, 1)
    assert made["BIND_HOST"] == LOOPBACK
    assert made["IOT_MTLS_ENABLED"] == made["SFTP_ENABLED"] == "0"
    assert not Path(made["DOCKER_HOST"].removeprefix("unix://")).exists()


def test_vector_indexes_and_times_to_live_are_read_from_the_template():
    extras = {found.logical_id: found for found in table_extras(load_template(ROOT / "template.yaml"), {})}
    assert extras.keys() >= {"MessagesTable", "TurnsTable", "FactsTable", "RecallTable"}
    assert all(
        found.time_to_live == {"AttributeName": "expires_at", "Enabled": True} for found in extras.values()
    )
    (index,) = extras["RecallTable"].vector_indexes
    assert index["Dimensions"] > 0
    assert {"AttributeName": "owner", "SearchSchemaElementType": "HASH"} in index["SearchSchema"]


def test_references_to_parameters_and_mappings_are_resolved(tmp_path):
    (tmp_path / "template.yaml").write_text("""
Parameters: {Size: {Type: Number, Default: 4}}
Mappings: {Names: {Index: {Name: by_meaning}}}
Resources:
  Table:
    Type: AWS::DynamoDB::Table
    Properties:
      TableName: !Sub "${AWS::StackName}-x"
      VectorIndexes: [{IndexName: !FindInMap [Names, Index, Name], Dimensions: !Ref Size}]
  Plain: {Type: AWS::DynamoDB::Table, Properties: {}}
""")
    template = load_template(tmp_path / "template.yaml")
    (default,) = table_extras(template, {})
    assert default.vector_indexes == ({"IndexName": "by_meaning", "Dimensions": 4},)
    (overridden,) = table_extras(template, {"Size": "8"})
    assert overridden.vector_indexes[0]["Dimensions"] == 8


def test_the_scripted_week_is_long_enough_to_be_compacted():
    days = (demo_script.INTRODUCTION, demo_script.BURST, demo_script.RETRIED, *demo_script.WEEK)
    assert sum(len(day.texts) for day in days) >= 45
    assert all(len(day.texts) <= 10 for day in days)  # more would be more than one batch of the queue
    assert [day.days_ago for day in days] == sorted((day.days_ago for day in days), reverse=True)


def test_a_mistake_of_the_user_is_one_line_and_exit_code_1(tmp_path, capsys):
    assert main(["sign", "--state", str(tmp_path)]) == 1
    assert capsys.readouterr().err == "no local stack is running: start one with `make run`\n"
