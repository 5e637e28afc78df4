"""Whether a deployment kept its promises: reads everything from the side, and says what is wrong."""

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from tests.faults.deployment import Deployment
from tests.faults.people import BYSTANDERS, MAYA, NOOR
from tests.faults.scenarios import Expected
from tests.faults.services import tokens
from tests.faults.troubles import KILL_AFTER, LOST_ANSWER
from whatsapp_agent.ledger import OPEN_STATES, Turn
from whatsapp_agent.memory.records import Fact, Message, PastFact, Summary
from whatsapp_agent.phrases import PHRASES
from whatsapp_agent.store.fact_items import CURRENT, HISTORY, fact_from, past_from
from whatsapp_agent.store.items import message_from, summary_from, turn_from
from whatsapp_agent.store.wire import from_wire

MARK_SENT = "dynamodb UpdateItem turns"
SEND = "provider send"
NOTICES = frozenset(text for phrases in PHRASES.values() for text in (phrases.apology, phrases.unavailable))


@dataclass
class Findings:
    """What is wrong.

    Attributes:
        lost: Messages that are neither remembered nor compacted.
        duplicated: Messages that are stored again.
        doubled: Parts of replies that the person got again.
        in_window: Of the parts that came again, those that Meta shows twice because the process died between
            the provider's yes and the write that says so. They are documented and not wrong.
        other: Everything else, in words.
    """

    lost: int = 0
    duplicated: int = 0
    doubled: int = 0
    in_window: int = 0
    other: list[str] = field(default_factory=list)

    @property
    def good(self) -> bool:
        return not (self.lost or self.duplicated or self.doubled or self.other)


@dataclass(frozen=True)
class Told:
    """One conversation as it stands in the tables."""

    messages: list[Message]
    summary: Summary
    turns: dict[str, Turn]
    facts: list[Fact]
    history: list[PastFact]


def verify(deployment: Deployment, expected: Expected, before: dict[str, list[Any]]) -> Findings:
    """Checks everything.

    Args:
        deployment: After the last of its work is done.
        expected: What must be true.
        before: The tables' items before anything happened.
    """
    findings = Findings()
    items = deployment.aws.items()
    _others(findings, before, items)
    _logs(findings, deployment)
    _paid_twice(findings, deployment)
    for conversation, event_ids in expected.remembered.items():
        told = tell(items, conversation)
        _messages(findings, told, event_ids)
        _ledger(findings, told)
        _sent(findings, deployment, told, conversation.partition("#")[2])
        _forgotten(findings, told, expected.forgotten)
        if told.summary.version != expected.compacted:
            findings.other.append(f"{told.summary.version} compactions instead of {expected.compacted}")
        _facts(findings, told)
    return findings


def state(deployment: Deployment, expected: Expected) -> dict[str, Any]:
    """What there is in the end, without times and ids: the same after every crash as without one."""
    items = deployment.aws.items()
    conversations: dict[str, Any] = {}
    for conversation in expected.remembered:
        told = tell(items, conversation)
        summary = told.summary
        turns = [told.turns[event_id] for event_id in sorted(told.turns)]
        conversations[conversation] = (
            [(each.seq, each.role, each.text, each.event_id) for each in told.messages],
            [(t.event_id, t.state, t.seq, t.reply_seq, t.parts, t.sent, t.lead) for t in turns],
            (summary.text, summary.through_seq, summary.version, summary.opted_out_at is not None),
            [(each.key, each.item, each.value, each.version, each.evidence_seq) for each in told.facts],
            sorted((past.fact.key, past.fact.value, past.fact.version, past.reason) for past in told.history),
        )
    sent = {(sent.person, sent.text) for sent in deployment.services.provider.state.sent}
    return {"conversations": conversations, "sent": sorted(sent)}


def tell(items: dict[str, list[Any]], conversation: str) -> Told:
    """Reads a conversation out of the tables' items."""

    def held(table: str) -> list[Any]:
        found = [from_wire(item) for item in items[table]]
        return [item for item in found if item["conversation"] == conversation]

    messages = sorted(map(message_from, held("messages")), key=lambda each: each.seq)
    summaries = [summary_from(item) for item in held("summaries")]
    facts = [item for item in held("facts") if item["key"].startswith(CURRENT)]
    return Told(
        messages,
        summaries[0] if summaries else Summary(conversation),
        {turn.event_id: turn for turn in map(turn_from, held("turns"))},
        sorted(map(fact_from, facts), key=lambda fact: (fact.key, fact.item)),
        [past_from(item) for item in held("facts") if item["key"].startswith(HISTORY)],
    )


def _others(findings: Findings, before: dict[str, list[Any]], after: dict[str, list[Any]]) -> None:
    for table, items in before.items():
        if _of_others(items) != _of_others(after[table]):
            findings.other.append(f"somebody else's items in {table} are not as they were")


def _of_others(items: list[Any]) -> list[Any]:
    others = [item for item in items if item.get("conversation", {}).get("S") in BYSTANDERS]
    return sorted(others, key=repr)


def _logs(findings: Findings, deployment: Deployment) -> None:
    unspeakable = (*(person.removeprefix("+") for person in (MAYA, NOOR)), "sk-secret")
    if tokens(deployment.log) or any(text in deployment.log for text in unspeakable):
        findings.other.append("a log line holds a text, a phone number or a secret")
    if "Traceback" in deployment.log and not deployment.met:
        findings.other.append("a traceback without any trouble")


def _paid_twice(findings: Findings, deployment: Deployment) -> None:
    committed: set[str] = set()
    for asked, named in deployment.services.told:
        if asked and named & committed:
            findings.other.append("the model was paid for a reply that was written down")
        if not asked:
            committed |= named


def _messages(findings: Findings, told: Told, event_ids: tuple[str, ...]) -> None:
    stored = [each.event_id for each in told.messages if each.role == "user"]
    counted = Counter(stored)
    compacted = [event_id for event_id in event_ids if not counted[event_id] and event_id.startswith("old")]
    through = told.summary.through_seq
    # Each seeded event stands at the place in its name.
    gone = [event_id for event_id in compacted if int(event_id.removeprefix("old")) > through]
    findings.lost += len(gone) + sum(
        not counted[event_id] and event_id not in compacted for event_id in event_ids
    )
    findings.duplicated += sum(count - 1 for count in counted.values() if count > 1)
    if [*dict.fromkeys(stored)] != [event_id for event_id in event_ids if counted[event_id]]:
        findings.other.append(f"remembered in the order {stored}")
    seqs = [each.seq for each in told.messages]
    if seqs != list(range(through + 1, through + 1 + len(seqs))):
        findings.other.append(f"places {seqs} after a summary through {through}")


def _ledger(findings: Findings, told: Told) -> None:
    replies = Counter(each.event_id for each in told.messages if each.role == "assistant")
    for turn in told.turns.values():
        if turn.state in OPEN_STATES:
            findings.other.append(f"turn {turn.event_id} is left {turn.state}")
        elif turn.state == "covered":
            lead = told.turns.get(turn.lead)
            if lead is None or lead.state != "sent" or lead.reply_seq < turn.seq:
                findings.other.append(f"turn {turn.event_id} is covered by nothing")
        elif turn.state == "sent":
            if replies[turn.event_id] != 1:
                findings.other.append(f"turn {turn.event_id} has {replies[turn.event_id]} stored replies")
            if not len(turn.parts) == turn.sent == len(turn.provider_ids):
                findings.other.append(f"turn {turn.event_id} sent {turn.sent} of {len(turn.parts)} parts")
        else:
            findings.other.append(f"turn {turn.event_id} ended {turn.state}")
    unanswered = {each.event_id for each in told.messages if each.role == "user"} - told.turns.keys()
    if any(not event_id.startswith("old") for event_id in unanswered):
        findings.other.append("a message without a turn")


def _sent(findings: Findings, deployment: Deployment, told: Told, person: str) -> None:
    addresses = {each.removeprefix("+") for each in (person, *(turn.address for turn in told.turns.values()))}
    texts = Counter(
        (address, sent.text)
        for sent in deployment.services.provider.state.sent
        if (address := sent.person.removeprefix("+")) in addresses
    )
    window = any(
        (trouble.point.label == SEND and trouble.kind in (KILL_AFTER, LOST_ANSWER))
        or trouble.point.label == MARK_SENT
        for trouble in deployment.met
    )
    for turn in told.turns.values():
        for part in turn.parts:
            times = texts.pop((turn.address.removeprefix("+"), part), 0)
            if not times:
                findings.other.append(f"a part of {turn.event_id} was not sent")
            elif times > 1 and window and not deployment.services.idempotent:
                findings.in_window += times - 1
            elif times > 1:
                findings.doubled += times - 1
    notices = sum(times for (_, text), times in texts.items() if text in NOTICES)
    if notices and (notices > 1 or not deployment.met):
        findings.other.append(f"{notices} notices")


def _forgotten(findings: Findings, told: Told, event_ids: frozenset[str]) -> None:
    held = {each.event_id for each in told.messages} | told.turns.keys()
    if held & event_ids:
        findings.other.append("something that was erased is back")
    if event_ids and (told.summary.text or [each.seq for each in told.messages[:1]] != [1]):
        findings.other.append("the erased conversation goes on")


def _facts(findings: Findings, told: Told) -> None:
    if any(fact.evidence_seq > told.summary.through_seq for fact in told.facts):
        findings.other.append("a fact from a message that is not compacted")
    if not told.summary.version and (told.facts or told.history):
        findings.other.append("facts without a compaction")
