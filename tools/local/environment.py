"""Environments for child processes: nothing of the user's AWS configuration gets in."""

import os
from collections.abc import Mapping
from pathlib import Path

from tools.local.ports import LOOPBACK

REGION = "us-east-1"
ACCOUNT_KEYS = {"AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "test"}
"""Credentials that only the emulator takes."""

_PASSED_TO_EMULATOR = {
    "PATH",
    "LANG",
    "LC_ALL",
    "LC_CTYPE",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "REQUESTS_CA_BUNDLE",
}
_PROXIES = {"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"}


def _own_aws(state: Path, endpoint: str) -> dict[str, str]:
    return {
        **ACCOUNT_KEYS,
        "AWS_DEFAULT_REGION": REGION,
        "AWS_REGION": REGION,
        "AWS_ENDPOINT_URL": endpoint,
        "AWS_CONFIG_FILE": str(state / "aws-config"),
        "AWS_SHARED_CREDENTIALS_FILE": str(state / "aws-credentials"),
        "AWS_EC2_METADATA_DISABLED": "true",
    }


def _no_proxy(environ: Mapping[str, str]) -> dict[str, str]:
    listed = environ.get("NO_PROXY") or environ.get("no_proxy") or ""
    hosts = ",".join(filter(None, [listed, LOOPBACK, "localhost"]))
    return {"NO_PROXY": hosts, "no_proxy": hosts}


def emulator_env(state: Path, port: int) -> dict[str, str]:
    """For the emulator. The functions inherit it, so it holds little."""
    passed = {name: value for name, value in os.environ.items() if name in _PASSED_TO_EMULATOR | _PROXIES}
    return {
        **passed,
        **_no_proxy(os.environ),
        **_own_aws(state, f"http://{LOOPBACK}:{port}"),
        "HOME": str(state),
        "TMPDIR": str(state / "tmp"),
        "TZ": "UTC",
        "BIND_HOST": LOOPBACK,
        "GATEWAY_PORT": str(port),
        "LAMBDA_EXECUTOR": "local",
        "SFTP_ENABLED": "0",
        "IOT_MTLS_ENABLED": "0",  # it would listen on a fixed port
        # Left to itself, the emulator removes containers that it thinks are its own.
        "DOCKER_HOST": f"unix://{state}/no-docker",
    }


def tool_env(state: Path, endpoint: str) -> dict[str, str]:
    """For SAM CLI and the simulators: the user's own environment without anything of AWS, OpenAI or SAM."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("AWS_", "OPENAI_", "SAM_", "PYTHON")) and name != "VIRTUAL_ENV"
    }
    return {
        **kept,
        **_no_proxy(os.environ),
        **_own_aws(state, endpoint),
        "SAM_CLI_TELEMETRY": "0",
        "__SAM_CLI_APP_DIR": str(state / "sam"),
        "TMPDIR": str(state / "tmp"),
    }
