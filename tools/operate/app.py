"""The command line: its commands, its options, and how it ends."""

import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated

import typer
from botocore.exceptions import BotoCoreError, ClientError, NoCredentialsError

from tools.local.errors import LocalError
from tools.local.state import SHARED
from tools.operate import erasing, figures, people
from tools.operate.deployment import Deployment
from tools.operate.errors import FAILED, OperateError
from tools.operate.facts import facts
from tools.operate.knowledge import knowledge
from tools.operate.output import Output
from tools.operate.redriving import redrive
from tools.operate.session import Session, open_deployment, session_of
from tools.operate.target import Options
from whatsapp_agent.errors import AgentError

HELP = """
Look up, correct, export and erase what the agent remembers about a person; watch and mend a deployment.

Without [bold]--stack-name[/bold] it works on the stack that [bold]make run[/bold] runs on this machine; with it
on a stack in your AWS account, with your AWS credentials. Options of this page may also stand behind a command.

A start: [bold]operate stats[/bold], then [bold]operate inspect +34600111222[/bold].
"""

EPILOG = """
Exit status: 0 done · 1 something outside failed · 2 wrong usage · 3 nothing is known about that person ·
4 not confirmed · 5 only partly done, run it again.
"""

TAKES_VALUE = ("--stack-name", "--region", "--profile", "--state")
ANYWHERE = (*TAKES_VALUE, "--json")
"""Options of the program that may stand behind a command as well."""

app = typer.Typer(
    name="operate",
    help=HELP,
    epilog=EPILOG,
    no_args_is_help=True,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


@app.callback()
def _options(
    context: typer.Context,
    stack_name: Annotated[
        str,
        typer.Option(
            "--stack-name", envvar="OPERATE_STACK_NAME", help="A stack on AWS. Default: the local stack."
        ),
    ] = "",
    region: Annotated[
        str, typer.Option("--region", help="AWS region of the stack. Default: as configured.")
    ] = "",
    profile: Annotated[str, typer.Option("--profile", help="Profile of your AWS configuration.")] = "",
    state: Annotated[Path, typer.Option("--state", help="Folder of the local stack.", hidden=True)] = SHARED,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON document instead of tables.")] = False,
) -> None:
    session = session_of(context)
    session.options = Options(stack_name, region, profile, state)
    session.output = Output(as_json=json)


PERSON, PRIVACY, RUNNING = "One person", "Privacy", "The deployment"

app.command(rich_help_panel=PERSON)(people.inspect)
app.add_typer(facts, name="facts", rich_help_panel=PERSON)
app.command(rich_help_panel=PERSON)(people.history)
app.command(rich_help_panel=PERSON)(people.transcript)
app.command(rich_help_panel=PERSON)(people.pause)
app.command(rich_help_panel=PERSON)(people.resume)
app.command(rich_help_panel=PRIVACY)(people.export)
app.command(rich_help_panel=PRIVACY)(erasing.erase)
app.add_typer(erasing.erasures, name="erasures", rich_help_panel=PRIVACY)
app.add_typer(knowledge, name="knowledge", rich_help_panel=RUNNING)
app.command(rich_help_panel=RUNNING)(redrive)
app.command(rich_help_panel=RUNNING)(figures.stats)
app.command(rich_help_panel=RUNNING)(figures.costs)


def hoisted(arguments: Sequence[str]) -> list[str]:
    """The arguments with the program's own options in front, where they may stand behind the command too.
    What follows `--` stays.
    """
    front: list[str] = []
    rest: list[str] = []
    waiting = list(arguments)
    while waiting:
        argument = waiting.pop(0)
        if argument == "--":
            rest += [argument, *waiting]
            break
        if argument.partition("=")[0] not in ANYWHERE:
            rest.append(argument)
            continue
        front.append(argument)
        if argument in TAKES_VALUE and waiting:
            front.append(waiting.pop(0))
    return front + rest


def main(
    arguments: Sequence[str], opening: Callable[[Options], Deployment] = open_deployment, name: str = "operate"
) -> int:
    """Runs one command; returns its exit status."""
    session = Session(opening)
    try:
        app(args=hoisted(arguments), prog_name=name, obj=session)
    except SystemExit as ended:
        return ended.code if isinstance(ended.code, int) else FAILED
    except OperateError as error:
        session.output.error(str(error))
        return error.status
    except (AgentError, LocalError) as error:
        session.output.error(str(error))
    except NoCredentialsError:
        session.output.error("there are no AWS credentials: see `aws configure`, or name a --profile")
    except ClientError as error:
        # AWS's own sentence can quote what was asked; the code and the call say enough.
        code = error.response.get("Error", {}).get("Code", "an error")
        session.output.error(f"AWS answers {code} to {error.operation_name}")
    except BotoCoreError as error:
        session.output.error(f"AWS could not be reached: {type(error).__name__}")
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        sys.stderr.close()
    return FAILED
