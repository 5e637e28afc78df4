"""A talk with the agent in the terminal; works with piped input as well."""

import sys
import threading
from typing import TextIO

from tools.local.memory import fact_lines
from tools.local.state import StackInfo
from tools.local.talk import Talk

_HELP = "/facts and /summary show what is remembered, /as <phone> changes who you are, /quit ends."
_PREFIX = "agent> "


def chat(info: StackInfo, person: str, source: TextIO | None = None) -> int:
    """Reads lines until the end of the input; returns the exit code.

    With piped input each line waits for its reply; in a terminal replies appear as they come.
    """
    lines = source or sys.stdin
    session = _Session(Talk(info), person)
    print(f"You write as {person}. {_HELP}", flush=True)
    interactive = lines.isatty()
    with session.replies_as_they_come() if interactive else session.silent():
        for line in lines:
            text = line.strip()
            if text == "/quit":
                break
            if text:
                session.handle(text, wait=not interactive)
    return 1 if session.unanswered else 0


class _Session:
    def __init__(self, talk: Talk, person: str) -> None:
        self._talk = talk
        self._person = person
        self._shown = len(talk.received(person))
        self._lock = threading.Lock()
        self.unanswered = False

    def handle(self, text: str, *, wait: bool) -> None:
        command, _, argument = text.partition(" ")
        match command:
            case "/facts":
                print(
                    "\n".join(fact_lines(self._talk.remembered(self._person))) or "(no facts yet)", flush=True
                )
            case "/summary":
                print(self._talk.remembered(self._person).summary.text or "(no summary yet)", flush=True)
            case "/as" if argument.strip():
                with self._lock:
                    self._person = argument.strip()
                    self._shown = len(self._talk.received(self._person))
                print(f"You write as {self._person}.", flush=True)
            case _ if text.startswith("/"):
                print(_HELP, flush=True)
            case _:
                self._write(text, wait=wait)

    def _write(self, text: str, *, wait: bool) -> None:
        delivery = self._talk.write(self._person, text)[0]
        if not 200 <= delivery["status"] < 300:
            print(f"(the webhook answered {delivery['status']})", flush=True)
            self.unanswered = True
            return
        if wait:
            # A message that asks for no answer (STOP) comes to its end without one.
            self.unanswered |= not self._talk.wait_until_answered(self._person, [delivery["event_id"]])
            if not self.show_new():
                print("(no answer in time)" if self.unanswered else "(no answer is due)", flush=True)

    def show_new(self) -> int:
        """Prints what the agent has sent meanwhile; returns how many messages that were."""
        with self._lock:
            new = self._talk.received(self._person)[self._shown :]
            self._shown += len(new)
        for message in new:
            print(_PREFIX + message["text"], flush=True)
        return len(new)

    def replies_as_they_come(self) -> "_Watcher":
        return _Watcher(self)

    def silent(self) -> "_Watcher":
        return _Watcher(None)


class _Watcher:
    """Shows new replies from a thread while the `with` block runs."""

    def __init__(self, session: _Session | None) -> None:
        self._session = session
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def __enter__(self) -> None:
        if self._session:
            self._thread.start()

    def __exit__(self, *_: object) -> None:
        self._over.set()
        if self._session:
            self._thread.join()

    def _watch(self) -> None:
        while self._session and not self._over.wait(0.3):
            self._session.show_new()
