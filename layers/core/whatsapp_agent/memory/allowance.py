"""What one person may use within an hour, and what they have used: pure arithmetic.

The account rides on the conversation's own messages: each one holds what was used up to and with it. So it is
read with the messages that every turn reads, written with the message that every turn writes, and guarded by
the same condition on its place. It costs no call and no unit of its own.

The window is an hour that begins with the first message in it. Beyond a limit, messages are remembered and
not answered; the first of them gets one notice.
"""

from dataclasses import dataclass, replace
from datetime import datetime, timedelta

WINDOW = timedelta(hours=1)

BURST = timedelta(minutes=1)
"""A human does not take part in more than some exchanges in this time; two bots that answer each other do."""


@dataclass(frozen=True, slots=True)
class Limits:
    """What one person may use within an hour; 0 sets no limit.

    Attributes:
        turns: Replies of the agent.
        characters: Of what the person wrote or sent as text, voice or document.
        media: Voice messages, pictures and documents: each is a paid call.
        burst: Replies of the agent within one minute.
    """

    turns: int = 60
    characters: int = 60_000
    media: int = 30
    burst: int = 10


@dataclass(frozen=True, slots=True)
class Spent:
    """What was used since `since`, the beginning of the window; all zero where nothing is known.

    Attributes:
        noticed: Whether the person was told in this window.
        minute, replies: When the minute began in which replies are counted for `burst`, by the times at which
            the person sent their messages; and how many there were.
        over: Which limit the message that carries this account went beyond; empty for none.
    """

    since: datetime | None = None
    turns: int = 0
    characters: int = 0
    media: int = 0
    noticed: bool = False
    over: str = ""
    minute: datetime | None = None
    replies: int = 0


def within(spent: Spent, now: datetime) -> Spent:
    """The account of the window that `now` lies in: a new one where the old one has passed."""
    # A window that begins in the future (a clock that was set back) would never pass.
    if spent.since is None or not timedelta(0) <= now - spent.since < WINDOW:
        return Spent(since=now, minute=spent.minute, replies=spent.replies)
    return spent


def heard(
    spent: Spent, limits: Limits, now: datetime, *, sent_at: datetime, characters: int, media: int
) -> Spent:
    """The account after one more message, and whether it went beyond a limit.

    Args:
        spent: The account of the message before.
        limits: What may be used.
        now: When the message is taken.
        characters: Length of its text.
        media: Whether it brings a medium that would have to be read: 0 or 1.
        sent_at: When the person sent it; a message that waited in a queue belongs to the minute of its sending.
    """
    spent = within(spent, now)
    # A minute that lies far ahead (a clock that was wrong) would never pass.
    if spent.minute is None or not -WINDOW < sent_at - spent.minute < BURST:
        spent = replace(spent, minute=sent_at, replies=0)
    spent = replace(spent, characters=spent.characters + characters, media=spent.media + media)
    over = _over(spent, limits)
    return replace(spent, over=over, noticed=spent.noticed or bool(over))


def replied(spent: Spent, now: datetime) -> Spent:
    """The account after one more reply."""
    spent = within(spent, now)
    return replace(spent, turns=spent.turns + 1, replies=spent.replies + 1, over="")


def _over(spent: Spent, limits: Limits) -> str:
    used = (
        ("turns", spent.turns + 1, limits.turns),
        ("characters", spent.characters, limits.characters),
        ("media", spent.media, limits.media),
        ("burst", spent.replies + 1, limits.burst),
    )
    return next((name for name, amount, most in used if 0 < most < amount), "")
