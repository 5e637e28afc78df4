"""Which messages the model sees, and when and up to where the older ones are compacted.

Pure arithmetic over the pending messages: those after the summary's `through_seq`, oldest first.
"""

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, replace
from statistics import median

from whatsapp_agent.memory.records import Message

CUT_MARK = " […] "
"""Stands where the middle of a message was left out."""

_DEFAULT_CHARS_PER_TOKEN = 3.0
_CHARS_PER_TOKEN = (1.0, 6.0)
_CALIBRATION_REPLIES = 5
# Less room than this is not worth the beginning and end of a message.
_SMALLEST_PIECE = 200


@dataclass(frozen=True, slots=True)
class Budget:
    """How much of the conversation goes into a prompt: characters of text, and messages."""

    chars: int
    messages: int

    @property
    def full(self) -> int:
        """Characters from which on compaction is due; also the most that one message may take."""
        return max(1, self.chars * 3 // 4)


def budget_for(
    context_chars: int, context_messages: int, context_tokens: int, messages: Sequence[Message]
) -> Budget:
    """The budget from the settings.

    Args:
        context_chars: Characters to spend on the conversation while `context_tokens` is 0.
        context_messages: Messages to show at most.
        context_tokens: Tokens to spend on the conversation; 0 where characters count.
        messages: Their replies tell how many characters of this conversation make a token: the median of the
            newest five that know it, between 1 and 6; 3 where none does.
    """
    chars = context_chars
    if context_tokens > 0:
        chars = int(context_tokens * _chars_per_token(messages))
    return Budget(max(1, chars), max(1, context_messages))


def tokens_at_most(window: Sequence[Message], messages: Sequence[Message]) -> int:
    """An estimate of the tokens of `window`, by what the replies among `messages` took. Where none tells, the
    highest that it can be: one token for each character.
    """
    return round(_text_chars(window) / _chars_per_token(messages, unknown=_CHARS_PER_TOKEN[0]))


def filled(window: Sequence[Message], budget: Budget) -> Budget:
    """The budget that `window` fills exactly."""
    return replace(budget, chars=max(1, _text_chars(window)))


def _chars_per_token(messages: Sequence[Message], *, unknown: float = _DEFAULT_CHARS_PER_TOKEN) -> float:
    known = [m for m in messages if m.prompt_chars > 0 and m.usage.input_tokens > 0]
    ratios = [m.prompt_chars / m.usage.input_tokens for m in known[-_CALIBRATION_REPLIES:]]
    lowest, highest = _CHARS_PER_TOKEN
    return min(highest, max(lowest, median(ratios) if ratios else unknown))


def unanswered(messages: Sequence[Message]) -> list[Message]:
    """What the person has said since the last reply of the agent or the owner."""
    start = len(messages)
    while start > 0 and messages[start - 1].role == "user":
        start -= 1
    return list(messages[start:])


def choose(pending: Sequence[Message], budget: Budget) -> list[Message]:
    """The window: an unbroken run of the newest pending messages that fits the budget, oldest first.

    A message longer than three quarters of the budget is cut to that, the same way in every turn, so that
    some talk around it stays visible. The newest message always goes in. Unanswered messages that do not
    fit are cut to the room that is left, rather than answered unseen.
    """
    new_from = len(pending) - len(unanswered(pending))
    window: list[Message] = []
    room = budget.chars
    for index in range(len(pending) - 1, -1, -1):
        if len(window) == budget.messages:
            break
        message = cut(pending[index], budget.full)
        if len(message.text) > room:
            if index < new_from or room < _SMALLEST_PIECE:
                break
            message = cut(message, room)
        window.append(message)
        room -= len(message.text)
    return window[::-1]


def cut(message: Message, limit: int) -> Message:
    """The message with at most `limit` characters: its beginning and its end around `CUT_MARK`."""
    text = message.text
    if len(text) <= limit:
        return message
    kept = limit - len(CUT_MARK)
    if kept < 2:
        return replace(message, text=text[:limit])
    head = _boundary(text, kept - kept // 2, -1)
    tail = _boundary(text, len(text) - kept // 2, +1)
    return replace(message, text=text[:head] + CUT_MARK + text[tail:])


def _boundary(text: str, index: int, step: int) -> int:
    # Moves away from the middle of a character that is drawn from several code points. It need not be exact:
    # a flag or an emoji cut here is a blemish in what the model reads, not in what a person gets.
    for _ in range(20):
        if not 0 < index < len(text) or not (_joins(text[index]) or text[index - 1] == "\u200d"):
            break
        index += step
    return max(0, min(index, len(text)))


def _joins(char: str) -> bool:
    return unicodedata.category(char)[0] == "M" or char == "\u200d" or "\U0001f3fb" <= char <= "\U0001f3ff"


def compaction_due(pending: Sequence[Message], compact_at: int, budget: Budget) -> bool:
    """Whether there are `compact_at` pending messages, or text for more than three quarters of the budget."""
    # What no prompt shows any more must be in the summary by then, whatever the settings say.
    return len(pending) >= min(compact_at, budget.messages) or _text_chars(pending) > budget.full


def compactable(pending: Sequence[Message], keep: int, budget: Budget | None = None) -> list[Message]:
    """The older pending messages, which a compaction may replace by a summary, oldest first.

    All but the newest `keep`, and fewer still where those would not fit three quarters of `budget`: then only
    what fills half of it is kept, so that the next message does not make compaction due again. The cut is
    moved back to where an exchange begins, so that a question stays with its answer, and the last exchange
    is always kept (unless `keep` is 0). Only a run of more than `keep` messages of one side, which has no
    such place, is cut inside.
    """
    if budget is not None:
        keep = min(keep, budget.messages // 2)
    target = max(0, len(pending) - max(0, keep))
    starts = [i for i in range(1, len(pending)) if _begins_exchange(pending, i)]
    cut = max((i for i in starts if i <= target), default=0)
    if target == len(pending) and pending and pending[-1].role != "user":
        cut = target
    if cut == 0 and target > 0:
        cut = max((i for i in range(1, target + 1) if _run_length(pending, i) > keep), default=0)
    if budget is not None and _text_chars(pending[cut:]) > budget.full:
        roomy = (i for i in starts if i > cut and _text_chars(pending[i:]) <= budget.chars // 2)
        cut = min(roomy, default=max(cut, starts[-1] if starts else 0))
    return list(pending[:cut])


def _begins_exchange(messages: Sequence[Message], index: int) -> bool:
    return messages[index].role == "user" and messages[index - 1].role != "user"


def _run_length(messages: Sequence[Message], index: int) -> int:
    """Length of the run of messages of one side that goes on across `index`; 0 where the side changes there."""
    ours = [message.role != "user" for message in messages]
    if index == len(ours) or ours[index - 1] != ours[index]:
        return 0
    start, end = index, index
    while start > 0 and ours[start - 1] == ours[index]:
        start -= 1
    while end < len(ours) and ours[end] == ours[index]:
        end += 1
    return end - start


def _text_chars(messages: Sequence[Message]) -> int:
    return sum(len(message.text) for message in messages)
