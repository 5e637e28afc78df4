"""Ledger, conversations and facts in memory. They pass the contract suite of the real adapters."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from tests.fakes.store_directory import FakeDirectory
from tests.fakes.store_tables import FakeTables, Kept
from whatsapp_agent.clock import from_epoch
from whatsapp_agent.errors import FactMoved, MessagesGone, SeqTaken, SummaryMoved, TurnMoved
from whatsapp_agent.ledger import Turn, TurnState
from whatsapp_agent.memory.records import CompactionCommit, Fact, FactUpdate, Message, PastFact, Summary
from whatsapp_agent.store.items import bounded
from whatsapp_agent.store.lifetimes import retention_expiry, turn_expiry

__all__ = ["FakeConversationStore", "FakeDirectory", "FakeFactStore", "FakeLedger", "FakeTables"]

MAX_COVERED = 98


class FakeLedger:
    def __init__(self, tables: FakeTables) -> None:
        self.tables = tables

    def claim(self, turn: Turn, message: Message | None) -> Turn | None:
        with self.tables.call("claim"):
            if (stored := self._stored(turn.conversation, turn.event_id)) is not None:
                return stored
            if message is not None:
                self._put_message(message)
            expires_at = turn_expiry(turn)
            self._keep(replace(turn, expires_at=from_epoch(expires_at)))
            return None

    def commit(self, reply: Message, turn: Turn, covered: Sequence[str]) -> None:
        with self.tables.call("commit"):
            others = [event_id for event_id in dict.fromkeys(covered) if event_id != turn.event_id]
            if len(others) > MAX_COVERED:
                raise ValueError(f"a reply covers at most {MAX_COVERED} further turns, not {len(others)}")
            waiting = [self._stored(turn.conversation, event_id) for event_id in (turn.event_id, *others)]
            if any(stored is None or stored.state not in ("claimed", "failed") for stored in waiting):
                raise TurnMoved("a turn no longer waits for a reply, or is gone")
            self._put_message(reply)
            lead, *rest = (stored for stored in waiting if stored is not None)
            self._keep(
                replace(
                    turn,
                    seq=lead.seq,
                    created_at=lead.created_at,
                    expires_at=lead.expires_at,
                    apologised=lead.apologised or turn.apologised,
                )
            )
            for stored in rest:
                self._keep(replace(stored, state="covered", lead=turn.event_id))

    def mark_sent(self, turn: Turn, provider_id: str) -> Turn:
        with self.tables.call("mark_sent"):
            sent, ids = turn.sent + 1, (*turn.provider_ids, provider_id)
            state: TurnState = "sent" if sent >= len(turn.parts) else "replied"
            marked = replace(turn, sent=sent, state=state, provider_ids=ids)
            stored = self._stored(turn.conversation, turn.event_id)
            if stored is None or (stored.state, stored.sent) != ("replied", turn.sent):
                if stored is not None and (stored.sent, stored.provider_ids) == (sent, ids):
                    return marked
                raise TurnMoved("the turn is not at the part that was sent")
            self._keep(replace(stored, sent=sent, state=state, provider_ids=ids))
            return marked

    def close(self, turn: Turn, state: TurnState, reason: str) -> Turn:
        with self.tables.call("close"):
            stored = self._stored(turn.conversation, turn.event_id)
            if stored is None or stored.state != turn.state:
                raise TurnMoved("the turn is no longer in the state that was read")
            self._keep(replace(stored, state=state, reason=reason))
            return replace(turn, state=state, reason=reason)

    def apologise(self, turn: Turn) -> Turn | None:
        with self.tables.call("apologise"):
            stored = self._stored(turn.conversation, turn.event_id)
            if stored is None:
                raise TurnMoved("the turn is gone")
            if stored.apologised:
                return None
            self._keep(replace(stored, apologised=True))
            return replace(turn, apologised=True)

    def turn(self, conversation: str, event_id: str) -> Turn | None:
        with self.tables.call("turn"):
            return self._stored(conversation, event_id)

    def turns_of(self, conversation: str, event_ids: Sequence[str]) -> list[Turn]:
        with self.tables.call("turns_of"):
            found = [self._stored(conversation, event_id) for event_id in dict.fromkeys(event_ids)]
            return [turn for turn in found if turn is not None]

    def find_by_provider_id(self, conversation: str, provider_id: str) -> Turn | None:
        with self.tables.call("find_by_provider_id"):
            turns = self.tables.all_alive(self.tables.turns[conversation])
            found = [turn for turn in turns if provider_id and provider_id in turn.provider_ids]
            return max(found, key=lambda turn: (turn.created_at, turn.seq), default=None)

    def turns(self, conversation: str) -> list[Turn]:
        with self.tables.call("turns"):
            turns = self.tables.all_alive(self.tables.turns[conversation])
            return sorted(turns, key=lambda turn: (turn.created_at, turn.seq))

    def _stored(self, conversation: str, event_id: str) -> Turn | None:
        return self.tables.alive(self.tables.turns[conversation].get(event_id))

    def _keep(self, turn: Turn) -> None:
        self.tables.turns[turn.conversation][turn.event_id] = Kept(turn, turn_expiry(turn))

    def _put_message(self, message: Message) -> None:
        messages = self.tables.messages[message.conversation]
        if self.tables.alive(messages.get(message.seq)) is not None:
            raise SeqTaken("another message stands at the place of the new one: read again")
        expires_at = retention_expiry(self.tables.now(), self.tables.retention_days)
        messages[message.seq] = Kept(replace(message, text=bounded(message.text)), expires_at)


class FakeConversationStore:
    def __init__(self, tables: FakeTables) -> None:
        self.tables = tables

    def newest_messages(self, conversation: str, limit: int) -> list[Message]:
        with self.tables.call("newest_messages"):
            return self._messages(conversation)[-limit:] if limit > 0 else []

    def messages_after(self, conversation: str, after_seq: int, limit: int) -> list[Message]:
        with self.tables.call("messages_after"):
            later = [message for message in self._messages(conversation) if message.seq > after_seq]
            return later[: max(limit, 0)]

    def summary(self, conversation: str) -> Summary:
        with self.tables.call("summary"):
            return self.tables.alive(self.tables.summaries.get(conversation)) or Summary(conversation)

    def set_state(
        self, conversation: str, *, opted_out_at: datetime | None, paused_until: datetime | None
    ) -> None:
        with self.tables.call("set_state"):
            stored = self.tables.alive(self.tables.summaries.get(conversation))
            if stored is None and opted_out_at is None and paused_until is None:
                return
            summary = replace(
                stored or Summary(conversation), opted_out_at=opted_out_at, paused_until=paused_until
            )
            self._keep_summary(summary)

    def revise(self, message: Message, *, text: str, kind: str) -> bool:
        with self.tables.call("revise"):
            kept = self.tables.messages[message.conversation].get(message.seq)
            stored = self.tables.alive(kept)
            if kept is None or stored is None or stored.event_id != message.event_id:
                return False
            revised = replace(stored, text=bounded(text), kind=kind)
            self.tables.messages[message.conversation][message.seq] = Kept(revised, kept.expires_at)
            return True

    def commit_compaction(self, commit: CompactionCommit) -> None:
        with self.tables.call("commit_compaction"):
            conversation = commit.summary.conversation
            stored = self.tables.alive(self.tables.summaries.get(conversation)) or Summary(conversation)
            if stored.version != commit.expected_version:
                raise SummaryMoved("the summary has another version than was read")
            newest = self.tables.alive(self.tables.messages[conversation].get(commit.newest_seq))
            if newest is None or commit.newest_event_id not in ("", newest.event_id):
                raise MessagesGone("the compacted messages no longer exist")
            if not self.tables.write_facts(conversation, commit.updates):
                raise SummaryMoved("a fact has another version than was read")
            self._keep_summary(
                replace(
                    commit.summary,
                    text=bounded(commit.summary.text),
                    opted_out_at=stored.opted_out_at,
                    paused_until=stored.paused_until,
                    active_at=stored.active_at,
                )
            )

    def delete_messages(self, conversation: str, through_seq: int) -> int:
        with self.tables.call("delete_messages"):
            messages = self.tables.messages[conversation]
            doomed = [seq for seq in messages if seq <= through_seq]
            for seq in doomed:
                del messages[seq]
            return len(doomed)

    def erase(self, conversation: str) -> int:
        with self.tables.call("erase"):
            turns = self.tables.turns.pop(conversation, {})
            messages = self.tables.messages.pop(conversation, {})
            summary = self.tables.summaries.pop(conversation, None)
            return len(turns) + len(messages) + (summary is not None)

    def _messages(self, conversation: str) -> list[Message]:
        alive = self.tables.all_alive(self.tables.messages[conversation])
        return sorted(alive, key=lambda message: message.seq)

    def _keep_summary(self, summary: Summary) -> None:
        expires_at = retention_expiry(self.tables.now(), self.tables.retention_days)
        self.tables.summaries[summary.conversation] = Kept(summary, expires_at)


class FakeFactStore:
    def __init__(self, tables: FakeTables) -> None:
        self.tables = tables

    def facts(self, conversation: str) -> list[Fact]:
        with self.tables.call("facts"):
            alive = self.tables.all_alive(self.tables.facts[conversation])
            return sorted(alive, key=lambda fact: (fact.key, fact.item))

    def history(self, conversation: str, key: str = "") -> list[PastFact]:
        with self.tables.call("history"):
            kept = self.tables.history[conversation]
            alive = [past for each in kept.values() if (past := self.tables.alive(each)) is not None]
            over = [past for past in alive if past.reason != "expired" or past.replaced_at <= self.tables.now()]
            found = [past for past in over if key in ("", past.fact.key)]
            return sorted(
                found, key=lambda past: (past.replaced_at, past.fact.key, past.fact.item, past.fact.version)
            )

    def write(
        self, conversation: str, updates: Sequence[FactUpdate], *, while_there: Message | None = None
    ) -> None:
        with self.tables.call("write_facts"):
            if while_there is not None:
                place = self.tables.messages[while_there.conversation].get(while_there.seq)
                there = self.tables.alive(place)
                if there is None or there.event_id != while_there.event_id:
                    raise MessagesGone("the message that the change comes from no longer exists")
            if not self.tables.write_facts(conversation, updates):
                raise FactMoved("a fact has another version than was read")

    def forget_history(self, conversation: str, key: str, item: str) -> int:
        with self.tables.call("forget_history"):
            history = self.tables.history[conversation]
            doomed = [past for past in history if past[:2] == (key, item)]
            for past in doomed:
                del history[past]
            return len(doomed)

    def erase(self, conversation: str) -> int:
        with self.tables.call("erase_facts"):
            facts = self.tables.facts.pop(conversation, {})
            return len(facts) + len(self.tables.history.pop(conversation, {}))
