"""What every command starts from: the output, and the deployment once it is needed."""

import sys
from collections.abc import Callable
from typing import Annotated

import typer

from tools.operate.deployment import Deployment, connect
from tools.operate.errors import NOT_CONFIRMED, WRONG_USAGE, OperateError
from tools.operate.metrics import CloudWatchFigures, NoFigures
from tools.operate.output import Output
from tools.operate.target import Options, find_target
from whatsapp_agent.memory.profile import AgentProfile
from whatsapp_agent.memory.records import conversation_key
from whatsapp_agent.phones import canonical

Person = Annotated[
    str,
    typer.Argument(
        metavar="PERSON",
        help="Phone number with country code, in any spelling (+34 600 111 222), or a provider's user id.",
        show_default=False,
    ),
]
Agent = Annotated[
    str,
    typer.Option(
        "--agent", help="Which agent's memory, by the name of its folder. Default: the stack's AgentId."
    ),
]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do it without asking.")]


def open_deployment(options: Options) -> Deployment:
    """The deployment that the options name."""
    target = find_target(options)
    figures = (
        NoFigures() if target.local else CloudWatchFigures(target.client("cloudwatch"), options.stack_name)
    )
    return connect(target, figures)


class Session:
    """One run of the command line.

    Args:
        opening: Opens the deployment; tests give one that they made.
    """

    def __init__(self, opening: Callable[[Options], Deployment] = open_deployment) -> None:
        self._opening = opening
        self._deployment: Deployment | None = None
        self.options = Options()
        self.output = Output()

    @property
    def deployment(self) -> Deployment:
        """The deployment, opened the first time that it is asked for."""
        if self._deployment is None:
            self._deployment = self._opening(self.options)
        return self._deployment

    def profile(self, agent: str) -> AgentProfile:
        """The agent of that name, or the stack's own.

        Raises:
            OperateError: There is none of that name.
        """
        deployment = self.deployment
        name = agent or deployment.agent_id
        if name not in deployment.profiles:
            known = ", ".join(sorted(deployment.profiles))
            raise OperateError(f"there is no agent {name!r} in layers/agents; there is {known}", WRONG_USAGE)
        return deployment.profiles[name]

    def conversation(self, person: str, agent: str) -> str:
        """The key under which the person is remembered, other addresses of theirs followed.

        Raises:
            OperateError: That is no phone number or user id, or there is no such agent.
        """
        try:
            key = canonical(person)
        except ValueError as error:
            raise OperateError(f"{person!r} is {error}", WRONG_USAGE) from error
        profile = self.profile(agent)
        return conversation_key(profile.agent_id, self.deployment.directory.resolve("", key).person)

    def confirm(self, question: str, *, yes: bool) -> None:
        """Asks, unless `yes`.

        Raises:
            OperateError: The answer is no, or nobody is there to answer.
        """
        if yes:
            return
        # On stderr, so that stdout holds the result only.
        print(f"{question} [y/N] ", end="", file=sys.stderr, flush=True)
        agreed = sys.stdin.readline().strip().lower() in ("y", "yes")
        if not agreed:
            raise OperateError("nothing was done (say --yes to do it without being asked)", NOT_CONFIRMED)


def session_of(context: typer.Context) -> Session:
    """The session that a command belongs to."""
    found = context.obj
    assert isinstance(found, Session)
    return found
