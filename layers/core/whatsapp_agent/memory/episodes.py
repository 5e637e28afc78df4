"""Turns messages that are about to be compacted into passages: one per exchange, word by word.

An exchange is what the person said in a row and what was answered to it. Its key comes from the place of its
first message, so the same exchange always has the same key, however often a compaction is repeated.
"""

from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta

from whatsapp_agent.memory.passages import Passage
from whatsapp_agent.memory.quoting import clean
from whatsapp_agent.memory.records import Message

MOST_CHARS = 1500
"""Of one passage; a longer exchange becomes several, up to `MOST_PARTS`."""

MOST_PARTS = 20
PLACES_PER_MESSAGE = 100

ANSWER_MARK = "→ "
"""Stands before what was answered, in every language."""


def place_of(seq: int, part: int = 0) -> int:
    """The place of a passage whose exchange begins with message `seq`."""
    return seq * PLACES_PER_MESSAGE + part


def episodes(messages: Sequence[Message], days: int, retention_days: int = 0) -> list[Passage]:
    """The passages of the messages, oldest first. Each lives for `days` from when its question arrived,
    never longer than what else is remembered (`retention_days`, 0 for ever).
    """
    lifetime = timedelta(days=min(days, retention_days) if retention_days > 0 else days)
    return [passage for exchange in _exchanges(messages) for passage in _passages(exchange, lifetime)]


def exchange_text(said: Sequence[str], answered: Sequence[str]) -> str:
    """An exchange as it is kept and searched."""
    lines = [clean(text) for text in said] + [ANSWER_MARK + clean(text) for text in answered if clean(text)]
    return "\n".join(line for line in lines if line)


def _exchanges(messages: Sequence[Message]) -> Iterator[list[Message]]:
    exchange: list[Message] = []
    for message in messages:
        if exchange and message.role == "user" and exchange[-1].role != "user":
            yield exchange
            exchange = []
        exchange.append(message)
    if exchange:
        yield exchange


def _passages(exchange: Sequence[Message], lifetime: timedelta) -> Iterator[Passage]:
    first = exchange[0]
    said = [_said(message) for message in exchange if message.role == "user"]
    answered = [message.text for message in exchange if message.role != "user"]
    text = exchange_text(said, answered)
    for part, piece in enumerate(_pieces(text)[:MOST_PARTS]):
        yield _passage(first, part, piece, first.received_at + lifetime)


def _passage(first: Message, part: int, text: str, expires_at: datetime) -> Passage:
    return Passage(
        owner=first.conversation,
        place=place_of(first.seq, part),
        text=text,
        sent_at=first.sent_at,
        expires_at=expires_at,
    )


def _said(message: Message) -> str:
    known = message.kind == "text" or not message.text.strip()
    return message.text if known else f"[{clean(message.kind)}] {message.text}"


def _pieces(text: str) -> list[str]:
    pieces: list[str] = []
    while len(text) > MOST_CHARS:
        at = max(text.rfind(mark, MOST_CHARS // 2, MOST_CHARS) for mark in (" ", "\n"))
        at = at if at > 0 else MOST_CHARS
        pieces.append(text[:at].strip())
        text = text[at:].strip()
    return [*pieces, text] if text else pieces
