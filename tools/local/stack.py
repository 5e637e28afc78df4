"""The whole product on this machine: emulator, simulators, deployment, gateway."""

import contextlib
import fcntl
import http.client
import os
import platform
import secrets
import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tools.local import state as stack_state
from tools.local.checks import find_tools
from tools.local.deploy import Deployer
from tools.local.environment import REGION, emulator_env, tool_env
from tools.local.errors import LocalError
from tools.local.gateway import Gateway
from tools.local.ports import LOOPBACK, choose_port
from tools.local.processes import Child, Children
from tools.local.sign_event import META_SECRET, META_VERIFY_TOKEN, WHASP_SECRET
from tools.local.simulated_provider.server import DEFAULT_NUMBERS
from tools.local.state import ROOT, SHARED, StackInfo

START_SECONDS = 60

Say = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Options:
    """How to run the stack.

    Attributes:
        state: Folder for everything that this run writes.
        port: Of the gateway; 0 takes a free one. `emulator_port` likewise.
        overrides: Further parameters of the template.
        playground: Whether to serve the playground page, on `playground_port` (0 takes a free one).
    """

    state: Path = SHARED
    port: int = 0
    emulator_port: int = 0
    provider: str = "whasp"
    agent_id: str = "companion"
    overrides: tuple[tuple[str, str], ...] = ()
    playground: bool = False
    playground_port: int = 0


class Stack:
    """A running stack."""

    def __init__(self, info: StackInfo, children: Children) -> None:
        self.info = info
        self._children = children

    def ended_child(self) -> Child | None:
        """A server of the stack that has ended by itself: the stack is of no use any more."""
        return self._children.ended()


@contextmanager
def start(options: Options, say: Say) -> Iterator[Stack]:
    """Starts a stack, and ends everything of it with the `with` block, however that ends.

    Raises:
        LocalError: Something that the user can put right.
    """
    tools = find_tools(ROOT)
    state = options.state
    if other := stack_state.running(state):
        raise LocalError(f"a local stack is running already: {other.gateway_url} (process {other.pid})")
    gateway_port = choose_port(options.port, "--port")
    emulator_port = choose_port(options.emulator_port, "--emulator-port")
    page_port = choose_port(options.playground_port, "--playground-port") if options.playground else 0
    endpoint = f"http://{LOOPBACK}:{emulator_port}"
    stack_id = secrets.token_hex(8)
    logs = state / "logs"
    with _folders(state), Children(ROOT) as children, Gateway(gateway_port, stack_id) as gateway:
        emulator = children.start(
            "the AWS emulator", [tools.emulator], emulator_env(state, emulator_port), logs / "emulator.log"
        )
        env = tool_env(state, endpoint)
        webhook_url = f"{gateway.url}/webhooks/{options.provider}"
        keys = _secrets(options.provider)
        arguments = ["--provider", options.provider, "--webhook-url", webhook_url]
        arguments += ["--secret", keys["webhook_secret"], "--api-key", keys["provider_api_key"]]
        provider_url = _simulator(children, "simulated_provider", arguments, env, logs)
        model_url = ""
        if not keys["openai_api_key"]:
            model_url = _simulator(children, "simulated_model", [], env, logs)
        emulator.wait_until(lambda: _answers(emulator_port), START_SECONDS)
        say("Building and deploying template.yaml (the first time takes a minute or two) …")
        deployer = Deployer(ROOT, state, SHARED, tools, endpoint)
        deployed = deployer.build_and_deploy(_parameters(options, keys, provider_url, model_url))
        function_url = deployed.outputs["WebhookUrl"]
        gateway.forward_to((LOOPBACK, emulator_port), function_url.split("/")[2])
        info = StackInfo(
            id=stack_id,
            pid=os.getpid(),
            provider=options.provider,
            agent_id=options.agent_id,
            number=DEFAULT_NUMBERS[options.provider],
            gateway_url=gateway.url,
            webhook_url=webhook_url,
            endpoint=endpoint,
            region=REGION,
            provider_url=provider_url,
            model_url=model_url,
            function_url=function_url,
            outputs=deployed.outputs,
            resources=deployed.resources,
            secrets={name: value for name, value in keys.items() if name != "openai_api_key"},
            logs=str(logs),
            playground_url=f"http://{LOOPBACK}:{page_port}/" if page_port else "",
        )
        stack_state.write(state, info)
        if page_port:
            _playground(children, state, page_port, env, logs)
        try:
            yield Stack(info, children)
        finally:
            stack_state.description(state).unlink(missing_ok=True)


@contextmanager
def _folders(state: Path) -> Iterator[None]:
    """Makes the folders and keeps other stacks out of them, also while this one is starting or ending.

    The logs stay afterwards, for whoever wants to see what happened.
    """
    (state / "logs").mkdir(parents=True, exist_ok=True)
    with (state / "run.lock").open("w", encoding="ascii") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            raise LocalError(f"another local stack is starting or ending in {state}: try again") from error
        stack_state.description(state).unlink(missing_ok=True)
        shutil.rmtree(state / "tmp", ignore_errors=True)
        (state / "tmp").mkdir(mode=0o700)
        try:
            yield
        finally:
            shutil.rmtree(state / "tmp", ignore_errors=True)


def _secrets(provider: str) -> dict[str, str]:
    """The secrets that the files in events/ are signed with. They guard nothing: all this is loopback only."""
    return {
        "webhook_secret": WHASP_SECRET if provider == "whasp" else META_SECRET,
        "meta_verify_token": META_VERIFY_TOKEN,
        "provider_api_key": "local-provider-key",
        "openai_api_key": os.environ.get("OPENAI_API_KEY", "").strip(),
    }


def _parameters(options: Options, keys: dict[str, str], provider_url: str, model_url: str) -> dict[str, str]:
    base_url = f"{model_url}/v1" if model_url else os.environ.get("OPENAI_BASE_URL", "")
    return {
        "Provider": options.provider,
        "AgentId": options.agent_id,
        "OpenAIApiKey": keys["openai_api_key"] or "sk-local-simulated",
        "OpenAIBaseUrl": base_url,
        "WebhookSecret": keys["webhook_secret"],
        "ProviderApiKey": keys["provider_api_key"],
        "MetaVerifyToken": keys["meta_verify_token"],
        "WhaspApiUrl": provider_url,
        "GraphApiUrl": provider_url,
        "Architecture": "arm64" if platform.machine().lower() in {"arm64", "aarch64"} else "x86_64",
        **dict(options.overrides),
    }


def _simulator(children: Children, name: str, options: list[str], env: dict[str, str], logs: Path) -> str:
    command = [sys.executable, "-m", f"tools.local.{name}", "--port", "0", *options]
    child = children.start(f"the {name.replace('_', ' ')}", command, env, logs / f"{name}.log")
    return f"http://{LOOPBACK}:{child.announced_port(START_SECONDS)}"


def _playground(children: Children, state: Path, port: int, env: dict[str, str], logs: Path) -> None:
    command = [sys.executable, "-m", "tools.local.playground", "--state", str(state), "--port", str(port)]
    child = children.start("the playground page", command, env, logs / "playground.log")
    child.announced_port(START_SECONDS)


def _answers(port: int) -> bool:
    connection = http.client.HTTPConnection(LOOPBACK, port, timeout=5)
    with contextlib.closing(connection):
        try:
            connection.request("GET", "/_ministack/ready")
            return connection.getresponse().status == 200
        except (OSError, http.client.HTTPException):
            return False
