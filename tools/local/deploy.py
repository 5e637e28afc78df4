"""Builds and deploys template.yaml to the emulator, as `sam build` and `sam deploy` do to AWS."""

import fcntl
import json
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tools.local.checks import Tools
from tools.local.clients import client
from tools.local.environment import REGION, tool_env
from tools.local.errors import LocalError
from tools.local.gaps import close_gaps
from tools.local.processes import run
from tools.local.template import load_template

STACK_NAME = "whatsapp-agent"
BUILD_SECONDS = 900
"""The first build downloads the layers' packages."""
DEPLOY_SECONDS = 300


@dataclass(frozen=True, slots=True)
class Deployment:
    """A deployed stack: its outputs, and the physical name of each resource by logical id."""

    outputs: dict[str, str]
    resources: dict[str, str]


class Deployer:
    """Deploys from `root`, keeping everything that it writes in `state` and `shared` (the build's cache)."""

    def __init__(self, root: Path, state: Path, shared: Path, tools: Tools, endpoint: str) -> None:
        self._root = root
        self._state = state
        self._shared = shared
        self._tools = tools
        self._endpoint = endpoint

    def build_and_deploy(self, parameters: Mapping[str, str]) -> Deployment:
        """Builds, deploys, and applies what the emulator's CloudFormation passes over.

        Raises:
            LocalError: With the last words of the step that failed.
        """
        template = load_template(self._root / "template.yaml")
        known = {name: value for name, value in parameters.items() if name in template["Parameters"]}
        with _one_at_a_time(self._shared / "build.lock"):
            built = self._build()
        self._deploy(built, known)
        deployment = self._describe()
        close_gaps(self._endpoint, template, known, deployment.resources)
        return deployment

    def _build(self) -> Path:
        build = self._state / "build"
        python = self._tools.pip_python
        # Not the cache of builds for AWS: those hold packages for another Python.
        cache = self._shared / "cache" / re.sub(r"\W+", "-", str(python)).strip("-")
        env = {
            **tool_env(self._state, self._endpoint),
            "LOCAL_BUILD": "native",
            "PYTHON": str(python),
        }
        command: list[str | Path] = [
            self._tools.sam,
            "build",
            "--template",
            "template.yaml",
            "--build-dir",
            build,
        ]
        command += ["--cached", "--cache-dir", cache, "--config-file", self._empty_config()]
        run("sam build", command, env, self._root, self._state / "logs" / "build.log", BUILD_SECONDS)
        return build / "template.yaml"

    def _deploy(self, built: Path, parameters: Mapping[str, str]) -> None:
        """Parameters go through a private file: a command line can be read by everybody on the machine."""
        config = self._state / "deploy.toml"
        pairs = ", ".join(json.dumps(f"{name}={value}") for name, value in parameters.items())
        config.write_text(
            f"version = 0.1\n[default.deploy.parameters]\nparameter_overrides = [{pairs}]\n", encoding="utf-8"
        )
        command: list[str | Path] = [
            self._tools.sam,
            "deploy",
            "--template-file",
            built,
            "--config-file",
            config,
        ]
        command += ["--stack-name", STACK_NAME, "--resolve-s3", "--capabilities", "CAPABILITY_IAM"]
        command += [
            "--no-confirm-changeset",
            "--no-fail-on-empty-changeset",
            "--no-progressbar",
            "--region",
            REGION,
        ]
        env = tool_env(self._state, self._endpoint)
        try:
            run("sam deploy", command, env, self._root, self._state / "logs" / "deploy.log", DEPLOY_SECONDS)
        finally:
            config.unlink()

    def _empty_config(self) -> Path:
        """Keeps the settings of real deployments (samconfig.toml) out of the local build."""
        path = self._state / "build.toml"
        path.write_text("version = 0.1\n", encoding="utf-8")
        return path

    def _describe(self) -> Deployment:
        cloudformation = client("cloudformation", self._endpoint)
        stack = cloudformation.describe_stacks(StackName=STACK_NAME)["Stacks"][0]
        if stack["StackStatus"] not in {"CREATE_COMPLETE", "UPDATE_COMPLETE"}:
            raise LocalError(f"the deployment ended as {stack['StackStatus']}")
        pages = cloudformation.get_paginator("list_stack_resources").paginate(StackName=STACK_NAME)
        return Deployment(
            outputs={output["OutputKey"]: output["OutputValue"] for output in stack.get("Outputs", [])},
            resources={
                resource["LogicalResourceId"]: resource["PhysicalResourceId"]
                for page in pages
                for resource in page["StackResourceSummaries"]
            },
        )


@contextmanager
def _one_at_a_time(lock: Path) -> Iterator[None]:
    """Two stacks that start together share the build's cache: the second waits."""
    lock.parent.mkdir(parents=True, exist_ok=True)
    with lock.open("w", encoding="ascii") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
