"""The commands of `python -m tools.local`."""

import argparse
import os
import re
import sys
import webbrowser
from collections.abc import Callable, Sequence
from pathlib import Path

from tools.local import http_json, sign
from tools.local.chat import chat
from tools.local.demo import demo
from tools.local.errors import LocalError
from tools.local.load.plan import MOST_MESSAGES
from tools.local.load.rounds import Load, load
from tools.local.stack import Options, start
from tools.local.state import SHARED, StackInfo, require_running, running
from tools.local.suite import run_suite
from tools.local.waiting import Stopped, ending_on_signals, wait_while

DEFAULT_PERSON = "+34600111222"
PLAYGROUND_MEMORY = (("CompactAt", "12"), ("KeepMessages", "6"))
"""Unless `--set` says otherwise, so that memory is seen at work after a few messages instead of forty."""


def main(arguments: Sequence[str]) -> int:
    """Runs one command; returns the exit code."""
    parser = _parser()
    options, further = parser.parse_known_args(arguments)
    if further and options.command is not _e2e:
        parser.error(f"unrecognized arguments: {' '.join(further)}")
    options.further = further
    command: Callable[[argparse.Namespace], int] = options.command
    try:
        with ending_on_signals():
            return command(options)
    except LocalError as error:
        print(f"{error}", file=sys.stderr)
        return 1
    except Stopped:
        return 143
    except KeyboardInterrupt:
        return 130


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tools.local", description="The product on this machine.")
    commands = parser.add_subparsers(required=True)

    run = commands.add_parser("run", help="start the stack and keep it running until Ctrl-C")
    run.add_argument("--port", type=int, default=0, help="port of the webhook (default: a free one)")
    run.add_argument(
        "--emulator-port", type=int, default=0, help="port of the AWS emulator (default: a free one)"
    )
    run.add_argument("--provider", choices=("whasp", "meta"), default="whasp")
    run.add_argument("--agent", default="companion", help="a folder of layers/agents")
    run.add_argument("--set", type=_override, action="append", default=[], metavar="Parameter=value")
    run.add_argument("--playground", action="store_true", help="serve the playground page, and open it")
    run.add_argument(
        "--playground-port", type=int, default=0, help="port of the playground page (default: a free one)"
    )
    run.add_argument("--no-browser", action="store_true", help="only print the page's address")
    run.add_argument("--state", type=Path, default=SHARED, help="folder for everything that it writes")
    run.set_defaults(command=_run)

    play = commands.add_parser("demo", help="play a scripted week on a stack of its own, and check it")
    play.set_defaults(command=lambda _: demo(SHARED / "demo"))

    crowd = commands.add_parser(
        "load", help="many people at once on a stack of its own; check that nothing is lost"
    )
    usual = Load()
    crowd.add_argument(
        "--people",
        type=_count(2000),
        nargs="+",
        default=usual.people,
        help="of each round (default: 30 100 300)",
    )
    crowd.add_argument(
        "--messages", type=_count(MOST_MESSAGES), default=usual.messages, help="of each person (default: 10)"
    )
    crowd.add_argument(
        "--seconds", type=_count(7200), default=usual.seconds, help="for all rounds together (default: 540)"
    )
    crowd.add_argument(
        "--at-once", type=_count(64), default=usual.at_once, help="webhooks side by side (default: 4)"
    )
    crowd.add_argument("--seed", type=int, default=usual.seed, help="of the orders and the repetitions")
    crowd.set_defaults(command=_load)

    talk = commands.add_parser("chat", help="talk with the agent in this terminal")
    talk.add_argument("--as", dest="person", default=DEFAULT_PERSON, help="phone number to write from")
    talk.add_argument("--state", type=Path, default=SHARED, help="folder of the running stack")
    talk.set_defaults(command=_chat)

    signed = commands.add_parser("sign", help="print a signed curl command for the running stack, or send it")
    signed.add_argument("--text", default="hello")
    signed.add_argument("--person", default=DEFAULT_PERSON)
    signed.add_argument("--send", action="store_true", help="send it instead of printing it")
    signed.add_argument("--state", type=Path, default=SHARED, help="folder of the running stack")
    signed.set_defaults(command=_sign)

    suite = commands.add_parser("e2e", help="run the end-to-end tests; further arguments go to pytest")
    suite.set_defaults(command=_e2e)
    return parser


def _override(text: str) -> tuple[str, str]:
    match = re.fullmatch(r"([A-Za-z]\w*)=(.*)", text, re.DOTALL)
    if match is None:
        raise argparse.ArgumentTypeError(f"{text!r} is not Parameter=value")
    return match[1], match[2]


def _count(most: int) -> Callable[[str], int]:
    def number(text: str) -> int:
        if not text.isascii() or not text.isdigit() or not 1 <= int(text) <= most:
            raise argparse.ArgumentTypeError(f"{text!r} is not a whole number from 1 to {most}")
        return int(text)

    return number


def _load(options: argparse.Namespace) -> int:
    amount = Load(tuple(options.people), options.messages, options.seconds, options.at_once, options.seed)
    return load(SHARED / "load", amount)


def _run(options: argparse.Namespace) -> int:
    chosen = Options(
        state=options.state.absolute(),
        port=options.port,
        emulator_port=options.emulator_port,
        provider=options.provider,
        agent_id=options.agent,
        overrides=((*PLAYGROUND_MEMORY, *options.set) if options.playground else tuple(options.set)),
        playground=options.playground,
        playground_port=options.playground_port,
    )
    with start(chosen, _say) as stack:
        _say(introduction(stack.info))
        if stack.info.playground_url and not options.no_browser:
            _open(stack.info.playground_url)
        try:
            if wait_while(lambda: stack.ended_child() is None):
                return 0
        except KeyboardInterrupt:
            _say("\nEnding everything …")
            return 0
        ended = stack.ended_child()
        assert ended is not None
        raise LocalError(f"{ended.name} has ended unexpectedly (log: {ended.log})")


def introduction(info: StackInfo) -> str:
    """What `run` says when everything is up."""
    body, headers = sign.signed_request(info, DEFAULT_PERSON, "Hello, my name is Maya.")
    model = f"simulated, {info.model_url}" if info.model_url else "OpenAI (OPENAI_API_KEY is set)"
    page = f"  playground   {info.playground_url}\n" if info.playground_url else ""
    # whasp signs the time as well; Meta's signature covers the body only.
    validity = "" if info.provider == "meta" else "good for five minutes; "
    return f"""
The stack is running.

{page}  webhook      {info.webhook_url}
  AWS emulator {info.endpoint}
  provider     simulated, {info.provider_url}
  model        {model}
  logs         {info.logs}

Talk with the agent in another terminal:

  make chat

or send a signed webhook ({validity}`python -m tools.local sign` prints a new one):

  {sign.curl(info.webhook_url, body, headers)}

Ctrl-C ends everything."""


def _open(url: str) -> None:
    """Shows the page where somebody sits in front of this machine; never a browser in the terminal."""
    graphical = sys.platform in ("darwin", "win32") or any(map(os.environ.get, ("DISPLAY", "WAYLAND_DISPLAY")))
    if sys.stdout.isatty() and graphical:
        webbrowser.open(url)


def _chat(options: argparse.Namespace) -> int:
    info = running(options.state.absolute())
    if info is not None:
        return chat(info, options.person)
    _say("No local stack is running: starting one for this talk.")
    with start(Options(state=options.state.absolute()), _say) as stack:
        return chat(stack.info, options.person)


def _sign(options: argparse.Namespace) -> int:
    info = require_running(options.state.absolute())
    body, headers = sign.signed_request(info, options.person, options.text)
    if not options.send:
        print(sign.curl(info.webhook_url, body, headers))
        return 0
    status, answer = http_json.send("POST", info.webhook_url, body, headers)
    print(status, answer.decode(errors="replace"))
    return 0 if 200 <= status < 300 else 1


def _e2e(options: argparse.Namespace) -> int:
    return run_suite(options.further)


def _say(text: str) -> None:
    print(text, flush=True)
