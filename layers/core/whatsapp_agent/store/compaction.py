"""Writes what a compaction concluded: summary, facts and their history, all or nothing."""

from collections.abc import Sequence

from whatsapp_agent.clock import Clock, to_epoch
from whatsapp_agent.errors import MessagesGone, SummaryMoved
from whatsapp_agent.memory.records import CompactionCommit, FactUpdate
from whatsapp_agent.store import actions
from whatsapp_agent.store.conditions import ALIVE, EXISTS, SAME_MESSAGE
from whatsapp_agent.store.database import MAX_ACTIONS, Database
from whatsapp_agent.store.errors import ConditionRefused
from whatsapp_agent.store.fact_writes import FactWrites, sliced
from whatsapp_agent.store.items import message_key, summary_changes, summary_key
from whatsapp_agent.store.lifetimes import retention_expiry
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
        writes = FactWrites(self._facts, self._now(), self._retention_days)
        for update in updates:
            wanted += writes.changes(commit.summary.conversation, update)
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

    def _values(self, commit: CompactionCommit) -> Item:
        return {
            "now": to_epoch(self._now()),
            "expected": commit.expected_version,
            "event": commit.newest_event_id,
        }


def _version_condition(commit: CompactionCommit) -> str:
    return AT_VERSION if commit.expected_version else NEVER_COMPACTED
