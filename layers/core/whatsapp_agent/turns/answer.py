"""Asks the model once for everything that the person said since the last reply, and writes the reply down."""

from collections.abc import Callable, Sequence
from dataclasses import replace

from whatsapp_agent.clock import Clock
from whatsapp_agent.errors import ContextTooLong, TurnMoved
from whatsapp_agent.ledger import Turn
from whatsapp_agent.memory import allowance, outgoing, prompt, window
from whatsapp_agent.memory.closeness import Shown
from whatsapp_agent.memory.exchange import ModelReply, Prompt
from whatsapp_agent.memory.passages import NOTHING, Recalled
from whatsapp_agent.memory.profile import AgentProfile
from whatsapp_agent.memory.records import Message, Usage
from whatsapp_agent.ports.model import Model
from whatsapp_agent.ports.recall import Embedder
from whatsapp_agent.ports.store import Ledger
from whatsapp_agent.prices import MILLION, ModelPrice
from whatsapp_agent.telemetry import Telemetry
from whatsapp_agent.turns.claim import NOT_ANSWERED
from whatsapp_agent.turns.context import Context
from whatsapp_agent.turns.deadline import Deadline
from whatsapp_agent.turns.fact_choice import FactChooser
from whatsapp_agent.turns.fitting import ContextLimits, Fitter
from whatsapp_agent.turns.recall import Lookup
from whatsapp_agent.turns.tools import ToolMaker

MOST_COVERED = 90
"""Turns that one reply marks as answered beside its own: a transaction holds 100 actions."""


class Answerer:
    """Turns a context into a committed reply."""

    def __init__(
        self,
        model: Model,
        ledger: Ledger,
        limits: ContextLimits,
        telemetry: Telemetry,
        now: Clock,
        *,
        embedder: Embedder | None = None,
        tools: ToolMaker | None = None,
        price: ModelPrice | None = None,
    ) -> None:
        self._model = model
        self._ledger = ledger
        self._limits = limits
        self._telemetry = telemetry
        self._now = now
        self._chooser = FactChooser(embedder, telemetry)
        self._fitter = Fitter(model, telemetry)
        self._tools = tools
        self._price = price

    def answer(
        self,
        context: Context,
        turn: Turn,
        profile: AgentProfile,
        deadline: Deadline,
        *,
        before_commit: Callable[[], None] = lambda: None,
        looked_up: Lookup | None = None,
    ) -> Turn:
        """Asks the model and commits its answer under `turn`; the other waiting turns become covered.

        Raises:
            ModelUnavailable, ModelAnswerUnusable: Nothing was written; try again later.
            ModelRefused, ContextTooLong: Nothing was written; trying again will not help.
            SeqTaken, TurnMoved: Somebody else moved the conversation on; nothing was written.
        """
        with self._telemetry.step("model"):
            asked, answer = self._ask(context, profile, deadline, looked_up)
        self._count(answer)
        before_commit()
        # The usage is that of all calls, and each of them was given the whole prompt.
        prompt_chars = asked.chars * answer.calls
        return self.commit(context, turn, answer.text, usage=answer.usage, prompt_chars=prompt_chars)

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
            if message.event_id != turn.event_id and message.kind not in NOT_ANSWERED and not message.spent.over
        ][-MOST_COVERED:]
        with self._telemetry.step("commit"):
            try:
                self._ledger.commit(reply, replied, waiting)
            except TurnMoved:
                self._ledger.commit(reply, replied, self._still_open(context.conversation, waiting))
        return replied

    def _still_open(self, conversation: str, event_ids: Sequence[str]) -> list[str]:
        turns = self._ledger.turns_of(conversation, event_ids)
        return [turn.event_id for turn in turns if turn.state in ("claimed", "failed")]

    def _ask(
        self, context: Context, profile: AgentProfile, deadline: Deadline, looked_up: Lookup | None
    ) -> tuple[Prompt, ModelReply]:
        tools = self._tools(context, profile) if self._tools else None
        said = "\n".join(message.text for message in window.unanswered(context.messages))
        facts = self._chooser.choose(context.facts, profile, said, self._now())
        recalled = looked_up.for_context(context) if looked_up else NOTHING
        asked = self._prompt(context, profile, facts, recalled, share=1)
        try:
            return asked, self._model.reply(asked, seconds=deadline.for_model(), tools=tools)
        except ContextTooLong:
            self._telemetry.count("ContextShrunk")
            asked = self._prompt(context, profile, facts, NOTHING, share=2)
            return asked, self._model.reply(asked, seconds=deadline.for_model(), tools=tools)

    def _prompt(
        self, context: Context, profile: AgentProfile, facts: Shown, recalled: Recalled, share: int
    ) -> Prompt:
        return prompt.reply_prompt(
            profile,
            facts.lasting,
            context.summary,
            self._fitter.fit(context.messages, self._limits.shared(share)),
            self._now(),
            close=facts.close,
            recalled=recalled,
        )

    def _count(self, answer: ModelReply) -> None:
        self._telemetry.count("ReplyInputTokens", answer.usage.input_tokens)
        self._telemetry.count("ReplyCachedTokens", answer.usage.cached_tokens)
        self._telemetry.count("ReplyOutputTokens", answer.usage.output_tokens)
        if self._price is not None:
            self._telemetry.count("ReplyMicrodollars", MILLION * self._price.dollars(answer.usage))
        if answer.refused:
            self._telemetry.count("ModelRefusal")
