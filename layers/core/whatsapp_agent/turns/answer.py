"""Asks the model once for everything that the person said since the last reply, and writes the reply down."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from whatsapp_agent.clock import Clock
from whatsapp_agent.errors import ContextTooLong, TurnMoved
from whatsapp_agent.ledger import Turn
from whatsapp_agent.memory import facts as facts_memory
from whatsapp_agent.memory import allowance, outgoing, prompt, window
from whatsapp_agent.memory.records import AgentProfile, Message, ModelReply, Prompt, Usage
from whatsapp_agent.ports import Ledger, Model
from whatsapp_agent.telemetry import Telemetry
from whatsapp_agent.turns.claim import NOT_ANSWERED
from whatsapp_agent.turns.context import Context
from whatsapp_agent.turns.deadline import Deadline

MOST_COVERED = 90
"""Turns that one reply marks as answered beside its own: a transaction holds 100 actions."""


@dataclass(frozen=True, slots=True)
class ContextLimits:
    """How much of a conversation the model sees: characters, messages, and tokens (0: not bounded)."""

    chars: int
    messages: int
    tokens: int = 0


class Answerer:
    """Turns a context into a committed reply."""

    def __init__(
        self, model: Model, ledger: Ledger, limits: ContextLimits, telemetry: Telemetry, now: Clock
    ) -> None:
        self._model = model
        self._ledger = ledger
        self._limits = limits
        self._telemetry = telemetry
        self._now = now

    def answer(
        self,
        context: Context,
        turn: Turn,
        profile: AgentProfile,
        deadline: Deadline,
        *,
        before_commit: Callable[[], None] = lambda: None,
    ) -> Turn:
        """Asks the model and commits its answer under `turn`; the other waiting turns become covered.

        Raises:
            ModelUnavailable, ModelAnswerUnusable: Nothing was written; try again later.
            ModelRefused, ContextTooLong: Nothing was written; trying again will not help.
            SeqTaken, TurnMoved: Somebody else moved the conversation on; nothing was written.
        """
        asked, answer = self._ask(context, profile, deadline)
        self._count(answer)
        before_commit()
        return self.commit(context, turn, answer.text, usage=answer.usage, prompt_chars=asked.chars)

    def commit(
        self, context: Context, turn: Turn, text: str, *, usage: Usage | None = None, prompt_chars: int = 0
    ) -> Turn:
        """Writes a reply down without asking the model (or after it was asked).

        Raises:
            SeqTaken, TurnMoved: Somebody else moved the conversation on; nothing was written.
        """
        now = self._now()
        reply = Message(
            conversation=context.conversation,
            seq=context.last_seq + 1,
            role="assistant",
            text=text,
            kind="text",
            sent_at=now,
            received_at=now,
            event_id=turn.event_id,
            number=turn.number,
            prompt_chars=prompt_chars,
            usage=usage or Usage(),
            spent=allowance.replied(context.spent, now),
        )
        replied = replace(
            turn,
            state="replied",
            reply_seq=reply.seq,
            parts=outgoing.split(outgoing.to_whatsapp(text)),
            usage=usage or Usage(),
        )
        waiting = [
            message.event_id
            for message in window.unanswered(context.messages)
            if message.event_id != turn.event_id
            and message.kind not in NOT_ANSWERED
            and not message.spent.over
        ][-MOST_COVERED:]
        try:
            self._ledger.commit(reply, replied, waiting)
        except TurnMoved:
            self._ledger.commit(reply, replied, self._still_open(context.conversation, waiting))
        return replied

    def _still_open(self, conversation: str, event_ids: Sequence[str]) -> list[str]:
        turns = self._ledger.turns_of(conversation, event_ids)
        return [turn.event_id for turn in turns if turn.state in ("claimed", "failed")]

    def _ask(self, context: Context, profile: AgentProfile, deadline: Deadline) -> tuple[Prompt, ModelReply]:
        asked = self._prompt(context, profile, share=1)
        try:
            return asked, self._model.reply(asked, seconds=deadline.for_model())
        except ContextTooLong:
            self._telemetry.count("ContextShrunk")
            asked = self._prompt(context, profile, share=2)
            return asked, self._model.reply(asked, seconds=deadline.for_model())

    def _prompt(self, context: Context, profile: AgentProfile, share: int) -> Prompt:
        limits = self._limits
        budget = window.budget_for(
            limits.chars // share, limits.messages // share, limits.tokens // share, context.messages
        )
        now = self._now()
        return prompt.reply_prompt(
            profile,
            facts_memory.for_prompt(context.facts, profile, now),
            context.summary,
            window.choose(context.messages, budget),
            now,
        )

    def _count(self, answer: ModelReply) -> None:
        self._telemetry.count("ReplyInputTokens", answer.usage.input_tokens)
        self._telemetry.count("ReplyCachedTokens", answer.usage.cached_tokens)
        self._telemetry.count("ReplyOutputTokens", answer.usage.output_tokens)
        if answer.refused:
            self._telemetry.count("ModelRefusal")
