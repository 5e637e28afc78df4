"""One person as the page shows them: reads what is stored, compares, and writes on the person's board."""

import threading
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from tools.local.clients import client
from tools.local.playground import aging, bubbles, prompts, shown
from tools.local.playground.board import Board
from tools.local.playground.bubbles import Bubble
from tools.local.playground.connection import Connection
from tools.local.playground.journal import Journal
from whatsapp_agent.clock import to_iso, utc_now
from whatsapp_agent.ledger import Turn
from whatsapp_agent.memory import window
from whatsapp_agent.memory.records import Fact, Message, Summary, Usage

ALL = 1_000_000
"""More messages than anybody has."""
_NEWEST = 40
_MOST_TURNS = 100
_SHOWN_TURNS = 60


class Room:
    """Everything about one person. `refresh` may be called from one thread at a time."""

    def __init__(self, connection: Connection, phone: str, name: str) -> None:
        self.phone = phone
        self.name = name
        self.conversation = connection.conversation(phone)
        self.board = Board()
        self._connection = connection
        self._journal = Journal()
        self._lock = threading.RLock()
        self._erased_at: datetime | None = None
        self._facts: list[Fact] | None = None
        self._talk_chars: dict[int, int] = {}
        self._opened = False
        self.caught_up = False
        self._typed = 0
        self._compacted_through = -1

    @property
    def busy(self) -> bool:
        """Whether something of this person is still on its way."""
        with self._lock:
            return bool(self._journal.unsettled())

    def write(self, bubble: Bubble) -> None:
        """Shows what the person has just written."""
        with self._lock:
            self._journal.written[bubble.key] = bubble
            self._show(bubble)

    def mark(self, event_id: str, state: str) -> None:
        """Moves a written bubble on, unless it is further already."""
        with self._lock:
            bubble = self._journal.written.get(event_id)
            if bubble is None or event_id in self._journal.turns:
                return
            self._journal.written[event_id] = replace(bubble, state=state)
            self._show(self._journal.written[event_id])

    def say(self, key: str, **values: Any) -> None:
        """Puts a line between the bubbles: time has passed, the number was replaced."""
        now = utc_now()
        note = {"key": key, "side": "note", "at": to_iso(now), "text": ""}
        self.board.put("bubbles", key, {**note, "order": int(now.timestamp() * 1000), **values})

    def grow_older(self, days: int) -> None:
        """Everything that was said so far becomes so many days older."""
        with self._lock:
            info = self._connection.info
            dynamodb = client("dynamodb", info.endpoint)
            aging.age(dynamodb, info.outputs, self.conversation, days, utc_now())
            for key, shown_before in self.board.values("bubbles").items():
                self.board.put("bubbles", key, bubbles.older(shown_before, days))
            for key, bubble in self._journal.written.items():
                self._journal.written[key] = replace(bubble, at=bubbles.older(bubble.as_json(), days)["at"])

    def refresh(self) -> None:
        """Reads what may have changed: the newest messages, the summary, the facts, open turns."""
        with self._lock:
            deployment = self._connection.deployment
            erased_at = deployment.directory.erased_at(self.conversation)
            if erased_at != self._erased_at and self._opened:
                self._forget()
            self._erased_at = erased_at
            summary = deployment.conversations.summary(self.conversation)
            fresh = self._read_messages()
            self._read_received()
            self._read_turns(fresh)
            self._show_memory(summary)
            self._show_messages(summary, fresh)
            self._opened = True

    def take_calls(self, calls: Sequence[prompts.Asked]) -> None:
        """Shows those of the model's calls that are about this person."""
        with self._lock:
            self.caught_up = self._opened
            erased_at = to_iso(self._erased_at) if self._erased_at else ""
            for asked in sorted(calls, key=lambda call: call.number):
                if asked.at <= erased_at or not prompts.belongs(asked, self._journal.texts):
                    continue
                before = self._journal.call_before(asked)
                turns = self._journal.take_call(asked)
                price = self._connection.price(memory=asked.purpose == "memory")
                cost = price.dollars(_usage(asked)) if price and asked.usage["input"] else None
                shared = prompts.shared_chars(asked, before)
                self.board.put("calls", str(asked.number), prompts.as_json(asked, shared, cost, turns))
                for number in self._journal.dropped:
                    self.board.put("calls", str(number), None)

    def typing(self, times: int) -> None:
        """Shows that an answer is being written; `times`: how often the provider was told so, in all."""
        with self._lock:
            waiting = any(turn.state == "claimed" for turn in self._journal.turns.values())
        if not waiting:
            self._typed = times
        self.board.put("person", "typing", times > self._typed)

    def _forget(self) -> None:
        """The person was erased: what the page kept of them goes too."""
        self._journal = Journal()
        self._facts = None
        self._talk_chars.clear()
        self._compacted_through = -1
        self.board.clear()
        self.say("erased", text="erased")

    def _read_messages(self) -> list[Message]:
        store, journal = self._connection.deployment.conversations, self._journal
        newest = store.newest_messages(self.conversation, _NEWEST if self._opened else ALL)
        gap = self._opened and newest and newest[0].seq > journal.last_seq + 1
        between = store.messages_after(self.conversation, journal.last_seq, ALL) if gap else []
        fresh = journal.keep([*between, *newest])
        for message in sorted(fresh, key=lambda message: message.seq):
            before = self._talk_chars.get(message.seq - 1, 0)
            self._talk_chars[message.seq] = before + len(message.text)
        return fresh

    def _read_received(self) -> None:
        journal = self._journal
        received = self._connection.talk.received(self.phone)
        if self._erased_at is not None:
            received = [one for one in received if str(one["at"]) > to_iso(self._erased_at)]
        for sent in received[len(journal.received) :]:
            journal.received.append(sent)

    def _read_turns(self, fresh: Sequence[Message]) -> None:
        journal, ledger = self._journal, self._connection.deployment.ledger
        if not self._opened:
            turns = ledger.turns(self.conversation)
        else:
            wanted = [*(m.event_id for m in fresh if m.role == "user"), *journal.unsettled()]
            wanted = list(dict.fromkeys(wanted))[-_MOST_TURNS:]
            turns = ledger.turns_of(self.conversation, wanted) if wanted else []
        for turn in turns:
            journal.take_turn(turn)
        self._show_talk(fresh, turns)
        price = self._connection.price()
        newest = sorted(journal.turns.values(), key=lambda turn: (turn.seq, turn.created_at))[-_SHOWN_TURNS:]
        for turn in newest:
            shown_turn = shown.turn_json(turn, journal.steps.get(turn.event_id, {}), price)
            self.board.put("turns", turn.event_id, shown_turn)

    def _show_talk(self, fresh: Sequence[Message], moved: Sequence[Turn]) -> None:
        """Bubbles: new messages, ticks of turns that moved, and what arrived on the phone."""
        journal = self._journal
        by_part = bubbles.answered_by(journal.turns.values())
        for message in fresh:
            turn = journal.turns.get(message.event_id)
            known = journal.written.get(message.event_id) if message.role == "user" else None
            if message.role == "user":
                bubble = known or bubbles.of_stored(message)
                journal.written[message.event_id] = replace(bubble, seq=message.seq)
                ticked = (
                    bubbles.ticked(replace(bubble, seq=message.seq), turn, journal.turns) if turn else bubble
                )
                self._show(replace(ticked, seq=message.seq))
            elif turn is None or message.role == "owner":
                self._show(bubbles.of_stored(message))
        covering = {turn.event_id for turn in moved}
        for turn in journal.turns.values():
            if (turn.event_id in covering or turn.lead in covering) and (
                known := journal.written.get(turn.event_id)
            ):
                self._show(bubbles.ticked(known, turn, journal.turns))
        for sent in journal.received[-_NEWEST:] if self._opened else journal.received:
            key = str(sent["id"])
            shown_before = self.board.get("bubbles", key)
            turn = by_part.get(key)
            if shown_before is None or (turn and not shown_before["seq"]):
                stored = journal.messages.get(turn.reply_seq) if turn else None
                bubble = bubbles.of_received(sent, stored)
                self._show(replace(bubble, at=shown_before["at"]) if shown_before else bubble)

    def _show_memory(self, summary: Summary) -> None:
        deployment, journal = self._connection.deployment, self._journal
        if summary.version and journal.summaries.get(summary.version) != summary:
            journal.summaries[summary.version] = summary
        seen = [shown.summary_json(journal.summaries[version]) for version in sorted(journal.summaries)]
        self.board.put("memory", "summaries", seen)
        state = {
            "phone": self.phone,
            "name": self.name,
            "opted_out_at": shown.moment(summary.opted_out_at),
            "paused_until": shown.moment(summary.paused_until),
            "last_seq": journal.last_seq,
            "through_seq": summary.through_seq,
        }
        self.board.put("person", "state", state)
        facts = deployment.facts.facts(self.conversation)
        if facts != self._facts:
            self._facts = facts
            keys = self._connection.profile.fact_keys
            self.board.put("memory", "facts", [shown.fact_json(fact, keys) for fact in facts])
            past = deployment.facts.history(self.conversation)
            self.board.put("memory", "history", [shown.past_json(one) for one in past])

    def _show_messages(self, summary: Summary, fresh: Sequence[Message]) -> None:
        """Which messages the next prompt shows, and which are compacted."""
        journal = self._journal
        pending = [journal.messages[seq] for seq in sorted(journal.messages) if seq > summary.through_seq]
        budget = self._connection.budget
        chosen = {m.seq for m in window.choose(pending[-budget.messages :], budget)}
        if summary.through_seq != self._compacted_through:
            self._compacted_through = summary.through_seq
            moved: Sequence[Message] = list(journal.messages.values())
        else:
            moved = [*pending[-2 * budget.messages :], *fresh]
        price = self._connection.price()
        for message in moved:
            compacted = message.seq <= summary.through_seq
            place = "compacted" if compacted else "window" if message.seq in chosen else "pending"
            values = shown.message_json(message, place, price)
            values["talk_chars"] = self._talk_chars.get(message.seq, 0)
            # Of a reply: how often the model was given the prompt for it; more than once where it used tools.
            values["calls"] = max(1, len(journal.asked.get(message.event_id, ())))
            self.board.put("messages", str(message.seq), values)
        self.board.put("memory", "instructions_chars", journal.instructions_chars)

    def _show(self, bubble: Bubble) -> None:
        self.board.put("bubbles", bubble.key, bubble.as_json())


def _usage(asked: prompts.Asked) -> Usage:
    return Usage(asked.usage["input"], asked.usage["cached"], asked.usage["output"])
