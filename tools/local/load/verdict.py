"""Whether what is there is what was promised: pure, so that it can be shown to see what is wrong."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TypeVar

from tools.local.load.looking import Left, Message, Part, Turn
from tools.local.load.plan import Said, Script
from tools.local.load.posting import Delivered

_Item = TypeVar("_Item", Turn, Message)


@dataclass(frozen=True, slots=True)
class Figures:
    """The figures of a round that went well."""

    remembered: int
    replies: int


@dataclass(frozen=True, slots=True)
class _Seen:
    """What concerns one person."""

    said: tuple[Said, ...]
    delivered: Mapping[str, Delivered]
    turns: Mapping[str, Turn]
    messages: tuple[Message, ...]
    parts: tuple[Part, ...]
    through: int


def violations(
    scripts: Sequence[Script],
    delivered: Mapping[str, Delivered],
    left: Left,
    conversation_of: Callable[[str], str],
) -> list[str]:
    """Every broken promise, each in one line that names the person and the message."""
    owners = {said.event_id: script.person for script in scripts for said in script.said}
    turns, messages, parts = _by_conversation(left.turns), _by_conversation(left.messages), _by_person(left)
    through = dict(left.through)
    found = [f"{count} dead letter(s) in the queue {queue}" for queue, count in left.dead_letters if count]
    found += _strayed(left, owners, conversation_of)
    for script in scripts:
        conversation = conversation_of(script.person)
        seen = _Seen(
            said=script.said,
            delivered=delivered,
            turns={turn.event_id: turn for turn in turns.get(conversation, ())},
            messages=tuple(sorted(messages.get(conversation, ()), key=lambda one: one.seq)),
            parts=tuple(parts.get(script.person, ())),
            through=through.get(conversation, 0),
        )
        found += [f"{script.person}: {what}" for what in _wrong_with(seen)]
    return found


def figures(scripts: Sequence[Script], left: Left, conversation_of: Callable[[str], str]) -> Figures:
    """How many of the people's messages are remembered, and how many replies were sent to them."""
    conversations = {conversation_of(script.person) for script in scripts}
    turns = [turn for turn in left.turns if turn.conversation in conversations]
    return Figures(
        remembered=len({(turn.conversation, turn.seq) for turn in turns if turn.seq}),
        replies=sum(turn.state == "sent" for turn in turns),
    )


def _wrong_with(seen: _Seen) -> Iterator[str]:
    yield from _not_remembered(seen)
    yield from _doubled(seen)
    yield from _places(seen)
    yield from _out_of_order(seen)
    yield from _unanswered(seen)
    yield from _parts(seen)


def _not_remembered(seen: _Seen) -> Iterator[str]:
    at = {message.seq: message for message in seen.messages}
    for said in seen.said:
        delivered, turn = seen.delivered.get(said.event_id), seen.turns.get(said.event_id)
        if delivered is None or delivered.taken is None:
            posts = delivered.posts if delivered else 0
            yield f"{_name(said)} was never taken by the webhook ({posts} attempts)"
        elif turn is None or not turn.seq:
            yield f"{_name(said)} is LOST: it was taken and has no place in the ledger"
        elif turn.seq > seen.through and turn.seq not in at:
            yield f"{_name(said)} is LOST: nothing stands at its place {turn.seq}"
        elif turn.seq in at and (at[turn.seq].text, at[turn.seq].event_id) != (said.text, said.event_id):
            yield f"{_name(said)} is LOST: something else stands at its place {turn.seq}"


def _doubled(seen: _Seen) -> Iterator[str]:
    heard = [message for message in seen.messages if message.role == "user"]
    names = {said.event_id: _name(said) for said in seen.said}
    for event_id, times in Counter(message.event_id for message in heard).items():
        if event_id not in names:
            yield f"something that nobody said is remembered ({event_id})"
        elif times > 1:
            yield f"{names[event_id]} is DOUBLED: remembered {times} times"
    answered = Counter(message.event_id for message in seen.messages if message.role == "assistant")
    for event_id, times in answered.items():
        if times > 1:
            yield f"{names.get(event_id, event_id)} is DOUBLED: {times} replies to it are remembered"


def _places(seen: _Seen) -> Iterator[str]:
    """Places follow one another without a gap, from 1 or from what is summed up."""
    places = [message.seq for message in seen.messages]
    first = places[0] if places else 1
    if first > seen.through + 1:
        yield f"the first remembered message has place {first} instead of {seen.through + 1}"
    for earlier, later in pairwise(places):
        if later != earlier + 1:
            yield f"places {earlier} and {later} follow one another"


def _out_of_order(seen: _Seen) -> Iterator[str]:
    """What was taken before something else was sent has the earlier place. Two webhooks that were under way at
    the same moment may have come in either order.
    """
    known = sorted(
        (turn.seq, said, delivered)
        for said in seen.said
        if (turn := seen.turns.get(said.event_id))
        and turn.seq
        and (delivered := seen.delivered.get(said.event_id))
        and delivered.taken is not None
    )
    for place, (_, said, delivered) in enumerate(known):
        for _, later, after in known[place + 1 :]:
            if after.taken is not None and after.taken < delivered.started:
                yield f"{_name(said)} is OUT OF ORDER: it came after {_name(later)} and stands before it"


def _unanswered(seen: _Seen) -> Iterator[str]:
    """A reply that was sent stands behind each message: its own, or the one that covers it."""
    newest_reply = max((turn.reply_seq for turn in seen.turns.values() if turn.state == "sent"), default=0)
    for said in seen.said:
        turn = seen.turns.get(said.event_id)
        if turn is None or not turn.seq:
            continue  # it is lost, and said to be
        lead = seen.turns.get(turn.lead) if turn.lead else None
        if turn.state not in {"sent", "covered"}:
            reason = f" ({turn.reason})" if turn.reason else ""
            yield f"{_name(said)} is NOT ANSWERED: its turn is {turn.state}{reason}"
        elif turn.lead and (lead is None or lead.state != "sent"):
            yield f"{_name(said)} is NOT ANSWERED: the reply that covers it was not sent"
        elif (turn.reply_seq or (lead.reply_seq if lead else newest_reply)) <= turn.seq:
            yield f"{_name(said)} is NOT ANSWERED: no reply stands behind it"


def _parts(seen: _Seen) -> Iterator[str]:
    """The provider has each part of each reply once, in the order of the replies."""
    replies = sorted((turn for turn in seen.turns.values() if turn.state == "sent"), key=lambda t: t.reply_seq)
    wanted = [text for turn in replies for text in turn.parts]
    keys = Counter(part.key for part in seen.parts)
    for key, times in keys.items():
        if times > 1:
            yield f"a reply is DOUBLED: its part {key} reached the person {times} times"
    received = [part.text for part in seen.parts]
    if received == wanted or any(times > 1 for times in keys.values()):
        return
    if Counter(received) == Counter(wanted):
        yield "replies reached the person OUT OF ORDER"
        return
    yield f"{len(received)} part(s) of replies reached the person, {len(wanted)} stand(s) in the ledger as sent"


def _strayed(left: Left, owners: Mapping[str, str], conversation_of: Callable[[str], str]) -> Iterator[str]:
    for turn in left.turns:
        owner = owners.get(turn.event_id)
        if owner is not None and turn.conversation != conversation_of(owner):
            yield f"{owner}: {turn.event_id} stands in the conversation of somebody else"


def _by_conversation(items: Iterable[_Item]) -> dict[str, list[_Item]]:
    found: defaultdict[str, list[_Item]] = defaultdict(list)
    for item in items:
        found[item.conversation].append(item)
    return found


def _by_person(left: Left) -> dict[str, list[Part]]:
    found: defaultdict[str, list[Part]] = defaultdict(list)
    for part in left.parts:
        found[part.person].append(part)
    return found


def _name(said: Said) -> str:
    return f"message {said.place} ({said.event_id})"
