"""Writes what a compaction concluded: summary, facts and their history, all or nothing."""

from collections.abc import Iterator, Sequence

from whatsapp_agent.clock import Clock, to_epoch
from whatsapp_agent.errors import MessagesGone, SummaryMoved
from whatsapp_agent.memory.records import CompactionCommit, FactUpdate
from whatsapp_agent.store import actions
from whatsapp_agent.store.conditions import ALIVE, EXISTS, FREE
from whatsapp_agent.store.database import MAX_ACTIONS, Database
from whatsapp_agent.store.errors import ConditionRefused
from whatsapp_agent.store.fact_items import fact_item, fact_key, past_item
from whatsapp_agent.store.items import message_key, summary_changes, summary_key
from whatsapp_agent.store.lifetimes import fact_expiry, retention_expiry
from whatsapp_agent.store.summaries import without_expired_summary
from whatsapp_agent.store.wire import Item

_GUARDS = 2
"""Actions of each transaction that guard it: one on the summary, one on the newest message."""

# The summary's version is the single flight of compaction: of two runs that read version n, one writes n + 1.
#
#   version absent, n = 0 ──NEVER_COMPACTED──▶ 1 ──AT_VERSION──▶ 2 ──AT_VERSION──▶ …
#
# An item without a version holds the conversation's state only.
NEVER_COMPACTED = f"attribute_not_exists(#version) AND {ALIVE}"
AT_VERSION = f"#version = :expected AND {ALIVE}"

# An erasure deletes the messages first, so a run that is still asking the model cannot write afterwards. A
# person who goes on writing after it gets the same places again: the event tells the messages apart.
SAME_MESSAGE = f"{EXISTS} AND #event_id = :event"

# Facts: a change holds for the version that it was judged against.
FACT_UNCHANGED = "#version = :expected"


class CompactionWriter:
    """Commits compactions. One transaction where 100 actions hold it, else slices, oldest updates first.

    Each slice checks the summary's version and the newest message as the last one does, and the last one
    writes the summary: a run that stops between slices has written facts that are true, and is repeated.
    """

    def __init__(
        self,
        database: Database,
        *,
        messages: str,
        summaries: str,
        facts: str,
        now: Clock,
        retention_days: int,
    ) -> None:
        self._db = database
        self._messages = messages
        self._summaries = summaries
        self._facts = facts
        self._now = now
        self._retention_days = retention_days

    def write(self, commit: CompactionCommit) -> None:
        """See `ports.ConversationStore.commit_compaction`."""
        slices = list(sliced(commit.updates, MAX_ACTIONS - _GUARDS))
        for updates in slices[:-1]:
            self._transact(commit, self._check_summary(commit), updates)
        self._transact(commit, self._update_summary(commit), slices[-1])

    def _transact(
        self, commit: CompactionCommit, on_summary: actions.Action, updates: Sequence[FactUpdate]
    ) -> None:
        wanted = [on_summary, self._check_newest(commit)]
        for update in updates:
            wanted += self._fact_actions(commit.summary.conversation, update)
        key = summary_key(commit.summary.conversation)
        try:
            without_expired_summary(
                self._db, self._summaries, key, self._now(), lambda: self._db.transact(wanted)
            )
        except ConditionRefused as refused:
            if refused.refusals[0]:
                raise SummaryMoved("the summary has another version than was read") from refused
            if refused.refusals[1]:
                raise MessagesGone("the compacted messages no longer exist") from refused
            raise SummaryMoved("a fact has another version than was read") from refused

    def _check_summary(self, commit: CompactionCommit) -> actions.Action:
        key = summary_key(commit.summary.conversation)
        return actions.check(self._summaries, key, _version_condition(commit), self._values(commit))

    def _update_summary(self, commit: CompactionCommit) -> actions.Action:
        expires_at = retention_expiry(self._now(), self._retention_days)
        return actions.update(
            self._summaries,
            summary_key(commit.summary.conversation),
            summary_changes(commit.summary, expires_at),
            _version_condition(commit),
            self._values(commit),
        )

    def _check_newest(self, commit: CompactionCommit) -> actions.Action:
        return actions.check(
            self._messages,
            message_key(commit.summary.conversation, commit.newest_seq),
            SAME_MESSAGE if commit.newest_event_id else EXISTS,
            self._values(commit),
        )

    def _fact_actions(self, conversation: str, update: FactUpdate) -> Iterator[actions.Action]:
        now = self._now()
        values = {"now": to_epoch(now), "expected": update.expected_version}
        condition = FACT_UNCHANGED if update.expected_version else FREE
        if update.new is None:
            key = fact_key(conversation, update.key, update.item)
            yield actions.delete(self._facts, key, condition, values)
        else:
            item = fact_item(update.new, fact_expiry(update.new, now, self._retention_days))
            yield actions.put(self._facts, item, condition, values)
        if update.past is not None:
            kept = past_item(update.past, retention_expiry(now, self._retention_days))
            yield actions.put(self._facts, kept)

    def _values(self, commit: CompactionCommit) -> Item:
        return {
            "now": to_epoch(self._now()),
            "expected": commit.expected_version,
            "event": commit.newest_event_id,
        }


def _version_condition(commit: CompactionCommit) -> str:
    return AT_VERSION if commit.expected_version else NEVER_COMPACTED


def sliced(updates: Sequence[FactUpdate], room: int) -> Iterator[list[FactUpdate]]:
    """The updates in order, in slices of at most `room` actions; at least one slice, which may be empty.

    A transaction refuses two actions on one item, so a second update of a fact begins a new slice.
    """
    current: list[FactUpdate] = []
    used, facts = 0, set[tuple[str, str]]()
    for update in updates:
        cost = 1 if update.past is None else 2
        if used + cost > room or (update.key, update.item) in facts:
            yield current
            current, used, facts = [], 0, set()
        current.append(update)
        used += cost
        facts.add((update.key, update.item))
    yield current
