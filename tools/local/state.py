"""The description of a running stack, `stack.json`, which everything that talks to the stack reads."""

import http.client
import json
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from urllib.parse import urlsplit

from tools.local.errors import LocalError
from tools.local.gateway import IDENTITY_PATH

ROOT = Path(__file__).resolve().parents[2]
SHARED = ROOT / ".local"
"""Everything that the local stack writes lies below this folder."""


@dataclass(frozen=True, slots=True)
class StackInfo:
    """A running stack.

    Attributes:
        gateway_url: Answers /webhooks/… as the deployed function URL does.
        webhook_url: Where the configured provider's events go.
        endpoint: The emulator, for any AWS client.
        model_url: The simulated model; empty where the real one answers.
        number: Business number that the simulated provider has.
        outputs: The deployed stack's outputs; `resources` gives physical names by logical id.
        secrets: What this stack was deployed with: `webhook_secret`, `provider_api_key`, ….
        playground_url: The playground page; empty where it is not served.
    """

    id: str
    pid: int
    provider: str
    agent_id: str
    number: str
    gateway_url: str
    webhook_url: str
    endpoint: str
    region: str
    provider_url: str
    model_url: str
    function_url: str
    outputs: Mapping[str, str]
    resources: Mapping[str, str]
    secrets: Mapping[str, str]
    logs: str
    playground_url: str = ""


def description(state: Path) -> Path:
    return state / "stack.json"


def write(state: Path, info: StackInfo) -> None:
    """Writes the description, readable by the user only and never half."""
    draft = description(state).with_suffix(".draft")
    draft.unlink(missing_ok=True)
    with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as file:
        json.dump(asdict(info), file, indent=2)
    draft.replace(description(state))


def running(state: Path) -> StackInfo | None:
    """The stack that runs with this folder; None where there is none, also where a description is stale."""
    try:
        info = StackInfo(**json.loads(description(state).read_text(encoding="utf-8")))
    except (FileNotFoundError, ValueError, TypeError):
        return None
    return info if _identity(info.gateway_url) == info.id else None


def require_running(state: Path) -> StackInfo:
    """The running stack.

    Raises:
        LocalError: None runs.
    """
    info = running(state)
    if info is None:
        stale = " (the one described in stack.json has ended)" if description(state).exists() else ""
        raise LocalError(f"no local stack is running{stale}: start one with `make run`")
    return info


def _identity(url: str) -> str:
    address = urlsplit(url)
    connection = http.client.HTTPConnection(address.hostname or "", address.port, timeout=5)
    try:
        connection.request("GET", IDENTITY_PATH)
        return str(json.loads(connection.getresponse().read())["id"])
    except (OSError, http.client.HTTPException, ValueError, KeyError, TypeError):
        return ""
    finally:
        connection.close()
