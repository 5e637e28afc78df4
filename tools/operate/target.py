"""Which deployment a command is about: a stack on AWS by its name, or the one that `make run` runs here."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import boto3
from botocore.config import Config
from botocore.exceptions import ClientError, NoRegionError, ProfileNotFound

from tools.local.clients import client as local_client
from tools.local.deploy import STACK_NAME
from tools.local.state import SHARED, running
from tools.operate.errors import OperateError

_CONFIG = Config(connect_timeout=5, read_timeout=30, retries={"mode": "standard", "total_max_attempts": 5})


@dataclass(frozen=True, slots=True)
class Options:
    """What the command line says about where to look.

    Attributes:
        stack_name: A CloudFormation stack on AWS; empty for the local stack.
        state: Folder of the local stack.
    """

    stack_name: str = ""
    region: str = ""
    profile: str = ""
    state: Path = SHARED


@dataclass(frozen=True, slots=True)
class Target:
    """A deployed stack.

    Attributes:
        resources: Physical names by logical id.
        parameters: What it was deployed with; secrets are masked.
        client: Makes a boto3 client of a service.
        local: Whether it runs on this machine.
    """

    name: str
    outputs: Mapping[str, str]
    resources: Mapping[str, str]
    parameters: Mapping[str, str]
    client: Callable[[str], Any]
    local: bool


def find_target(options: Options) -> Target:
    """The stack that the options name; without a name, the one that runs on this machine.

    Raises:
        OperateError: There is none; the message says what to do.
    """
    return _on_aws(options) if options.stack_name else _on_this_machine(options.state)


def _on_aws(options: Options) -> Target:
    try:
        session: Any = boto3.session.Session(
            region_name=options.region or None, profile_name=options.profile or None
        )
        cloudformation = session.client("cloudformation", config=_CONFIG)
    except ProfileNotFound as error:
        raise OperateError(f"{error}: see `aws configure list-profiles`") from error
    except NoRegionError as error:
        raise OperateError("no AWS region is set: add --region, for example --region eu-west-1") from error
    region = session.region_name

    def client(service: str) -> Any:
        return session.client(service, config=_CONFIG)

    name = f"stack {options.stack_name} in {region}"
    return _described(name, cloudformation, options.stack_name, client, local=False)


def _on_this_machine(state: Path) -> Target:
    info = running(state.absolute())
    if info is None:
        raise OperateError(
            "no local stack is running: start one with `make run`, or name a stack on AWS with --stack-name"
        )
    endpoint = info.endpoint

    def client(service: str) -> Any:
        return local_client(service, endpoint)

    return _described(f"local stack at {endpoint}", client("cloudformation"), STACK_NAME, client, local=True)


def _described(
    name: str, cloudformation: Any, stack_name: str, client: Callable[[str], Any], *, local: bool
) -> Target:
    try:
        stack = cloudformation.describe_stacks(StackName=stack_name)["Stacks"][0]
        pages = list(cloudformation.get_paginator("list_stack_resources").paginate(StackName=stack_name))
    except ClientError as error:
        if error.response.get("Error", {}).get("Code") == "ValidationError":
            raise OperateError(f"there is no {name}: check --stack-name, --region and --profile") from error
        raise
    outputs = {output["OutputKey"]: output["OutputValue"] for output in stack.get("Outputs", ())}
    if "MessagesTable" not in outputs:
        raise OperateError(f"the {name} is no deployment of this project: it has no output MessagesTable")
    return Target(
        name=name,
        outputs=outputs,
        resources={
            resource["LogicalResourceId"]: resource["PhysicalResourceId"]
            for page in pages
            for resource in page["StackResourceSummaries"]
            if "PhysicalResourceId" in resource
        },
        parameters={
            parameter["ParameterKey"]: parameter.get("ParameterValue", "")
            for parameter in stack.get("Parameters", ())
        },
        client=client,
        local=local,
    )
