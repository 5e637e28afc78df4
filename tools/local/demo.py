"""Plays the scripted week on a stack of its own and checks what the product promises."""

import time
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from tools.local import demo_script as script
from tools.local import http_json, sign
from tools.local.memory import fact_lines
from tools.local.stack import Options, start
from tools.local.talk import Talk, poll

_BURST_SECONDS = "1"
_KEPT = 20


def demo(state: Path) -> int:
    """Plays the week; returns 0 where everything went as promised."""
    began = time.monotonic()
    options = Options(state=state, agent_id=script.AGENT, overrides=(("BurstSeconds", _BURST_SECONDS),))
    with start(options, _say) as stack:
        _say(f"The stack is up after {time.monotonic() - began:.0f} s.")
        play = _Play(Talk(stack.info))
        play.first_day()
        play.media()
        play.week()
        play.return_after_weeks()
        play.replaced_number()
        play.stop()
        play.erasure()
        verdict = f"{play.failed} expectation(s) FAILED" if play.failed else "everything went as promised"
        _say(f"\nDone after {time.monotonic() - began:.0f} s: {verdict}.")
    return 1 if play.failed else 0


class _Play:
    def __init__(self, talk: Talk) -> None:
        self._talk = talk
        self._seen = 0
        self.failed = 0

    def first_day(self) -> None:
        replies = self._play(script.INTRODUCTION)
        self._expect("a first message is answered", len(replies) == 1)
        replies = self._play(script.BURST)
        self._expect("three quick messages are answered once", len(replies) == 1)
        replies = self._play(script.RETRIED, duplicates=4)
        self._expect("the same event delivered five times is answered once", len(replies) == 1)
        info = self._talk.info
        body, headers = sign.signed_request(info, script.PERSON, "I am not who I say I am")
        unsigned = {name: value for name, value in headers.items() if not name.lower().startswith("webhook-")}
        status, _ = http_json.send("POST", info.webhook_url, body, unsigned)
        self._expect(f"a request without a signature is refused (401, was {status})", status == 401)

    def media(self) -> None:
        self._title("Tuesday: a voice message and a picture")
        recording = b"OggS\x00\x02TRANSCRIPT:" + script.VOICE.encode()
        replies = self._send("voice", recording, f"(voice: {script.VOICE})")
        self._expect("a voice message is answered", len(replies) == 1)
        said = [message for message in self._talk.remembered(script.PERSON).messages if message.kind == "voice"]
        self._expect("and remembered by its words", [message.text for message in said] == [script.VOICE])
        picture = b"\xff\xd8\xff\xe0PICTURE:" + script.PHOTO.encode()
        caption = script.PHOTO_CAPTION
        replies = self._send("image", picture, f"(picture) {caption}", caption=caption)
        self._expect("a picture is answered", len(replies) == 1)
        kept = " ".join(message.text for message in self._talk.remembered(script.PERSON).messages)
        self._expect("and remembered by what it shows", script.PHOTO in kept and caption in kept)

    def week(self) -> None:
        for day in script.WEEK:
            self._play(day)
        compacted = poll(self._compacted, 60)
        kept = self._talk.remembered(script.PERSON)
        _say("\n── What is remembered now ──")
        for line in fact_lines(kept):
            _say(f"  {line}")
        _say(f"  summary: {kept.summary.text}")
        self._expect("a long talk is summed up", bool(compacted))
        missing = [key for key in script.TOLD if not kept.values(key)]
        self._expect(f"facts stand under the agent's own keys{_missing(missing)}", not missing)
        after = [message for message in kept.messages if message.seq > kept.summary.through_seq]
        whole = len(after) == len(kept.messages) and len(after) >= _KEPT
        self._expect(
            f"only the newest messages are kept as they were ({len(kept.messages)})", bool(compacted) and whole
        )

    def return_after_weeks(self) -> None:
        self._title(f"{script.WEEKS_AWAY} weeks later: Maya is back")
        text = " ".join(self._write([script.RETURN], days_ago=0))
        self._expect("she is greeted by name", script.NAME in text)
        mentions = [word for word in script.WORDS_OF_THE_WEEK if word in text.lower()]
        self._expect("the greeting picks up what she said then", bool(mentions))
        text = " ".join(self._write([script.RETURN_QUESTION], days_ago=0))
        self._expect("a question about it is answered from memory", "300" in text)

    def replaced_number(self) -> None:
        self._title("The business number is replaced")
        self._talk.control("replace_number", {"old": self._talk.info.number, "new": script.NEW_NUMBER})
        text = " ".join(self._write([script.AFTER_REPLACEMENT], days_ago=0, number=script.NEW_NUMBER))
        self._expect("her memory came along", script.NAME in text)
        last = self._talk.received(script.PERSON)[-1]
        self._expect("the reply comes from the new number", last["number"] == script.NEW_NUMBER)

    def stop(self) -> None:
        self._title("Maya asks for silence, and writes again later")
        before = self._requests()
        # whasp blocks the chat at the word itself: not even the confirmation reaches her.
        replies = self._write([script.STOP], days_ago=0, number=script.NEW_NUMBER)
        self._expect("STOP is kept, without asking the model", not replies and self._requests() == before)
        opted_out = self._talk.remembered(script.PERSON).summary.opted_out_at
        self._expect("her wish is remembered", opted_out is not None)
        replies = self._write([script.AFTER_STOP], days_ago=0, number=script.NEW_NUMBER)
        lifted = self._talk.remembered(script.PERSON).summary.opted_out_at is None
        self._expect("when she writes again she is answered", len(replies) == 1 and lifted)

    def erasure(self) -> None:
        self._title("Maya asks to be forgotten")
        self._talk.erase(script.PERSON)
        gone = poll(lambda: self._talk.remembered(script.PERSON).empty, 60)
        self._expect("nothing about her is left", bool(gone))
        text = " ".join(self._write([script.AFTER_ERASURE], days_ago=0, number=script.NEW_NUMBER))
        self._expect("the agent does not know her any more", bool(text) and script.NAME not in text)

    def _compacted(self) -> bool:
        kept = self._talk.remembered(script.PERSON)
        return kept.summary.version > 0 and len(kept.messages) < 2 * _KEPT

    def _play(self, day: script.Day, **options: object) -> list[str]:
        self._title(f"{day.title} ({day.days_ago} days ago)")
        return self._write(day.texts, days_ago=day.days_ago, **options)

    def _send(self, kind: str, data: bytes, shown: str, **options: object) -> list[str]:
        _say(f"  Maya   {shown}")
        sent_at = (datetime.now(UTC) - timedelta(days=26)).isoformat()
        return self._answers(self._talk.send_medium(script.PERSON, kind, data, sent_at=sent_at, **options))

    def _requests(self) -> int:
        return len(self._talk.model_requests()) if self._talk.info.model_url else 0

    def _write(self, texts: Sequence[str], *, days_ago: int, **options: object) -> list[str]:
        """Writes, waits until everything is answered, and returns the replies."""
        sent_at = (datetime.now(UTC) - timedelta(days=days_ago)).isoformat()
        for text in texts:
            _say(f"  Maya   {text}")
        return self._answers(self._talk.write(script.PERSON, *texts, sent_at=sent_at, **options))

    def _answers(self, deliveries: Sequence[Mapping[str, Any]]) -> list[str]:
        answered = self._talk.wait_until_answered(script.PERSON, [one["event_id"] for one in deliveries])
        replies = [message["text"] for message in self._talk.received(script.PERSON)[self._seen :]]
        self._seen += len(replies)
        for reply in replies:
            _say("  agent  " + reply.replace("\n", "\n         "))
        if not answered:
            self._expect("every message is answered in time", holds=False)
        return replies

    def _title(self, text: str) -> None:
        _say(f"\n── {text} ──")

    def _expect(self, what: str, holds: bool) -> None:
        self.failed += not holds
        _say(f"{'ok    ' if holds else 'FAILED'} {what}")


def _missing(keys: Sequence[str]) -> str:
    return f" (missing: {', '.join(keys)})" if keys else ""


def _say(text: str) -> None:
    print(text, flush=True)
