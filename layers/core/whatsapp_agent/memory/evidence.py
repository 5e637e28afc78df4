"""What the person really said, as evidence for or against a proposed fact."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from whatsapp_agent.memory.likeness import telling_words, without_accents
from whatsapp_agent.memory.records import Message
from whatsapp_agent.memory.refusal_tables import AFFIRMATIONS
from whatsapp_agent.memory.refusals import holds_secret, secrets_said

_FIRST_WORD = re.compile(r"\w+|[^\w\s]")
_FIRST_WORDS = 2


@dataclass(frozen=True, slots=True)
class Said:
    """The message of the person that shows a fact: its place, when it was sent and when it was received."""

    seq: int
    at: datetime
    received_at: datetime
    confirms: frozenset[str]
    """Words of the agent that the person made their own by answering yes."""


class Evidence:
    """The compacted messages, as far as they speak for or against a fact."""

    def __init__(self, messages: Sequence[Message], now: datetime) -> None:
        self._said: dict[int, Said] = {}
        asked: frozenset[str] = frozenset()
        theirs: set[str] = set()
        ours: set[str] = set()
        for message in messages:
            words = telling_words(message.text)
            if message.role != "user":
                ours |= words
                asked = words
                continue
            theirs |= words
            confirms = asked if _affirms(message.text) else frozenset()
            # A phone's clock may be ahead: nothing was learned in the future.
            at = min(message.sent_at, now)
            self._said[message.seq] = Said(message.seq, at, min(message.received_at, now), confirms)
        self._theirs, self._ours = frozenset(theirs), frozenset(ours)
        self._their_text = without_accents(" ".join(m.text for m in messages if m.role == "user"))
        self._secrets = secrets_said(message.text for message in messages)

    def find(self, seq: int) -> Said | None:
        """The person's message with that number, else their newest; None where they said nothing."""
        if not self._said:
            return None
        return self._said.get(seq) or self._said[max(self._said)]

    def reason_to_refuse(self, value: str, said: Said) -> str:
        """`secret` for a value that repeats a secret from the messages, `agents_words` for one that only the
        agent or the owner has said, else an empty string.
        """
        if holds_secret(value, self._secrets):
            return "secret"
        words = telling_words(value)
        only_ours = words <= self._ours and not any(
            word in self._theirs or (len(word) >= 4 and word in self._their_text) for word in words
        )
        return "agents_words" if words and only_ours and not words & said.confirms else ""


def _affirms(text: str) -> bool:
    words = _FIRST_WORD.findall(without_accents(text))[:_FIRST_WORDS]
    return any(word in AFFIRMATIONS for word in (*words[:1], " ".join(words))) or any(
        text.strip().startswith(sign) for sign in AFFIRMATIONS if not sign.isascii()
    )
