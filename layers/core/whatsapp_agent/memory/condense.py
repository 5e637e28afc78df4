"""What goes into a compaction and what comes out of it, within bounds, however much a person pastes."""

import re
from collections.abc import Sequence

from whatsapp_agent.memory.records import Message
from whatsapp_agent.memory.refusals import secrets_said, without_secrets
from whatsapp_agent.memory.window import cut

MOST_TRANSCRIPT = 60_000
"""Characters of messages that the memory model reads in one go: 15,000 to 20,000 tokens of Latin script."""

MOST_SUMMARY = 4_000
"""Characters of a summary. 200 words, which the model is asked for, are about 1,400."""

_SENTENCE_END = re.compile(r"[.!?…。！？؟।]+[\"'”’»)\]]*(?=\s|$)|[。！？]+")


def transcript(messages: Sequence[Message], most: int = MOST_TRANSCRIPT) -> list[Message]:
    """The messages with no more than `most` characters in all (and at least two of each).

    The longest ones are cut in their middle, all to one length, the greatest that fits; what is shorter stays
    as it is.
    """
    lengths = sorted(len(message.text) for message in messages)
    room = most
    limit = lengths[-1] if lengths else 0
    for place, length in enumerate(lengths):
        share = room // (len(lengths) - place)
        if length > share:
            limit = max(2, share)
            break
        room -= length
    return [cut(message, limit) for message in messages]


def summary_text(text: str, messages: Sequence[Message], most: int = MOST_SUMMARY) -> str:
    """A summary as it is kept: without the secrets that the messages or the summary itself give away, and no
    longer than `most` characters, cut after a whole sentence.
    """
    said = secrets_said([*(message.text for message in messages), text])
    text = without_secrets(text, said).strip()
    if len(text) <= most:
        return text
    ends = [match.end() for match in _SENTENCE_END.finditer(text, 0, most)]
    if ends and ends[-1] > most // 2:
        return text[: ends[-1]].strip()
    head, space, _ = text[: most - 1].rpartition(" ")
    return f"{head if space else text[: most - 1]}…"
