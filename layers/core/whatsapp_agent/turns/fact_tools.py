"""The tools by which the model changes and looks up facts while it answers.

They judge as a compaction does, on the words of the messages that it sees. Done again, as in a turn that is
retried, they find their work done and change nothing. Every write holds only while the message that it comes
from is there: after an erasure nothing is written back.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from whatsapp_agent.clock import Clock
from whatsapp_agent.errors import FactMoved
from whatsapp_agent.memory import facts as facts_memory
from whatsapp_agent.memory.arguments import ToolSpec, WrongArguments
from whatsapp_agent.memory.fact_tools import (
    FACT_TOOLS,
    FORGET,
    OBSOLETE,
    RECALL,
    REMEMBER,
    WHY_REFUSED,
    fact_tool_spec,
    told,
)
from whatsapp_agent.memory.keywords import KeywordIndex, best
from whatsapp_agent.memory.merge import Verdict, expired
from whatsapp_agent.memory.profile import AgentProfile
from whatsapp_agent.memory.quoting import clean
from whatsapp_agent.memory.records import Fact, FactChange, FactUpdate
from whatsapp_agent.ports.store import FactStore
from whatsapp_agent.telemetry import Telemetry
from whatsapp_agent.turns.context import Context
from whatsapp_agent.turns.tools import Tool

MOST_RECALLED = 15


class FactTools:
    """Makes an agent's fact tools for a turn; a `tools.ToolFamily`."""

    def __init__(self, facts: FactStore, telemetry: Telemetry, now: Clock) -> None:
        self._facts = facts
        self._telemetry = telemetry
        self._now = now

    def __call__(self, context: Context, profile: AgentProfile) -> Sequence[Tool]:
        """The tools that the agent may use, in an order that never changes."""
        desk = _Desk(context, profile, self._facts, self._telemetry, self._now)
        runs = {
            REMEMBER: desk.remember,
            RECALL: desk.recall,
            FORGET: desk.forget,
            OBSOLETE: desk.mark_obsolete,
        }
        return [
            _FactTool(fact_tool_spec(name, profile), runs[name]) for name in FACT_TOOLS if name in profile.tools
        ]


@dataclass(frozen=True, slots=True)
class _FactTool:
    spec: ToolSpec
    run: Any


class _Desk:
    """The facts of one person during one turn: as they were read, and as the tools have changed them."""

    def __init__(
        self, context: Context, profile: AgentProfile, store: FactStore, telemetry: Telemetry, now: Clock
    ) -> None:
        self._conversation = context.conversation
        self._messages = context.messages
        self._profile = profile
        self._store = store
        self._telemetry = telemetry
        self._now = now
        self._facts = list(context.facts)
        self._said = next((message for message in reversed(context.messages) if message.role == "user"), None)

    def remember(self, arguments: Mapping[str, Any]) -> Mapping[str, Any]:
        """Sets a fact, or adds a value to a list."""
        stated = arguments["stated"]
        change = self._change("set", arguments, stated=stated, confidence=1.0 if stated else 0.6)
        updates = self._write(change)
        return {"done": "remembered"} if updates else {"done": "this was on record already"}

    def mark_obsolete(self, arguments: Mapping[str, Any]) -> Mapping[str, Any]:
        """Moves a fact to the history."""
        self._write(self._change("obsolete", arguments))
        return {"done": "it now counts as no longer true"}

    def forget(self, arguments: Mapping[str, Any]) -> Mapping[str, Any]:
        """Deletes a fact, and what the history holds of it."""
        self._write(self._change("obsolete", arguments), traces=False)
        return {"done": "forgotten"}

    def recall(self, arguments: Mapping[str, Any]) -> Mapping[str, Any]:
        """Finds facts by their words; where none matches, the newest."""
        current = [fact for fact in self._facts if not expired(fact, self._now())]
        current.sort(key=lambda fact: fact.updated_at, reverse=True)
        index = KeywordIndex({str(n): f"{fact.key} {fact.value}" for n, fact in enumerate(current)})
        found = [current[int(n)] for n in best(index.match(arguments["query"]))]
        return {"facts": told((found or current)[:MOST_RECALLED])}

    def _change(self, action: Any, arguments: Mapping[str, Any], **fields: Any) -> FactChange:
        place = self._said.seq if self._said else 0
        return FactChange(action, arguments["key"], clean(arguments["value"]), evidence_seq=place, **fields)

    def _write(self, change: FactChange, *, traces: bool = True) -> Sequence[FactUpdate]:
        """Judges and writes; once more, on what is stored now, where somebody else has changed a fact."""
        verdict = self._judged(change)
        try:
            self._store_all(verdict.updates, traces=traces)
        except FactMoved:
            self._facts = self._store.facts(self._conversation)
            verdict = self._judged(change)
            self._store_all(verdict.updates, traces=traces)
        return verdict.updates

    def _judged(self, change: FactChange) -> Verdict:
        verdict = facts_memory.judge(
            [change], self._facts, self._profile, self._conversation, self._messages, self._now()
        )
        for reason, count in verdict.refused.items():
            self._telemetry.count("FactRefused", count, reason=reason)
            raise WrongArguments(self._why(reason, change))
        return verdict

    def _why(self, reason: str, change: FactChange) -> str:
        why = WHY_REFUSED.get(reason, "this cannot be kept as a fact")
        if reason != "not_on_record":
            return why
        values = [fact.value for fact in self._facts if fact.key == change.key]
        return f"{why}; on record are {values}" if values else f"{why}, which is empty"

    def _store_all(self, updates: Sequence[FactUpdate], *, traces: bool) -> None:
        if not updates:
            return
        if not traces:
            # The history first: while the fact stands, a retry finds it and comes here again.
            for update in updates:
                self._store.forget_history(self._conversation, update.key, update.item)
            updates = [replace(update, past=None) for update in updates]
        self._store.write(self._conversation, updates, while_there=self._said)
        changed = {(update.key, update.item): update.new for update in updates}
        kept = [fact for fact in self._facts if (fact.key, fact.item) not in changed]
        self._facts = kept + [new for new in changed.values() if isinstance(new, Fact)]
