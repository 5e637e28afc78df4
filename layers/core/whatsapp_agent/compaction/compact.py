"""One compaction: read, ask the model once, commit in one transaction, then delete the raw messages."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime

from whatsapp_agent.clock import Clock
from whatsapp_agent.compaction.episodes import EpisodeKeeper
from whatsapp_agent.errors import ConflictError, ModelAnswerUnusable
from whatsapp_agent.memory import condense, prompt, window
from whatsapp_agent.memory import facts as facts_memory
from whatsapp_agent.memory.exchange import CompactionAnswer
from whatsapp_agent.memory.profile import AgentProfile
from whatsapp_agent.memory.records import (
    CompactionCommit,
    CompactionJob,
    Fact,
    Message,
    Summary,
    split_conversation,
)
from whatsapp_agent.ports.model import Model
from whatsapp_agent.ports.privacy import Archive
from whatsapp_agent.ports.recall import RecallStore
from whatsapp_agent.ports.store import ConversationStore, FactStore
from whatsapp_agent.prices import MILLION, ModelPrice
from whatsapp_agent.telemetry import Telemetry

MOST_MESSAGES = 500
"""Messages that one compaction reads; what is beyond them waits for the next."""


@dataclass(frozen=True, slots=True)
class CompactionSettings:
    """How many of the newest messages stay raw, and the budget that they must fit."""

    keep_messages: int
    context_chars: int
    context_messages: int
    context_tokens: int = 0


class Compactor:
    """Compacts conversations. A job that comes late, or twice, does nothing but finish the deletion."""

    def __init__(
        self,
        *,
        conversations: ConversationStore,
        facts: FactStore,
        model: Model,
        profiles: Mapping[str, AgentProfile],
        settings: CompactionSettings,
        telemetry: Telemetry,
        now: Clock,
        recall: RecallStore,
        archive: Archive | None = None,
        price: ModelPrice | None = None,
        episodes: EpisodeKeeper | None = None,
    ) -> None:
        self._conversations = conversations
        self._facts = facts
        self._model = model
        self._profiles = profiles
        self._settings = settings
        self._telemetry = telemetry
        self._now = now
        self._recall = recall
        self._archive = archive
        self._price = price
        self._episodes = episodes

    def compact(self, job: CompactionJob, *, seconds: float) -> bool:
        """Compacts the conversation of `job`; returns whether a new summary was written.

        Args:
            job: What is to be compacted, and where its summary stood when that was found due.
            seconds: How long the model may take.

        Raises:
            TransientError: Nothing was lost; the job is to be handed out again.
            ModelRefused, ContextTooLong: Nothing was lost; trying again will not help.
        """
        if job.erased_at is not None:
            self._finish_erasure(job.conversation, job.erased_at)
            return False
        summary = self._conversations.summary(job.conversation)
        profile = self._profiles.get(split_conversation(job.conversation)[0])
        if summary.through_seq != job.through_seq or profile is None:
            self._telemetry.count("CompactionSkipped")
            self._conversations.delete_messages(job.conversation, summary.through_seq)
            return False
        pending = self._conversations.messages_after(job.conversation, summary.through_seq, MOST_MESSAGES)
        old = window.compactable(pending, self._settings.keep_messages, self._budget(pending))
        if not old:
            self._telemetry.count("CompactionSkipped")
            return False
        facts = self._facts.facts(job.conversation)
        with self._telemetry.step("memory_model"):
            answer = self._ask(profile, facts, summary, old, seconds)
        commit = self._commit(profile, facts, summary, old, answer)
        if self._archive is not None:
            # Before the commit: from then on the messages may be deleted. What an erasure finds gone when this
            # run comes to commit, the job that it queued behind this one removes from the archive.
            self._archive.keep(job.conversation, old)
        try:
            if self._episodes is not None:
                self._episodes.keep(old)
            self._conversations.commit_compaction(commit)
        except ConflictError as error:
            self._telemetry.info("compaction_overtaken", error=type(error).__name__)
            self._telemetry.count("CompactionSkipped")
            return False
        self._conversations.delete_messages(job.conversation, commit.newest_seq)
        self._telemetry.count("Compaction")
        return True

    def _finish_erasure(self, conversation: str, erased_at: datetime) -> None:
        """Removes what compactions wrote outside of their transaction, the last one in flight included."""
        removed = self._recall.erase(conversation)
        if self._archive is not None:
            removed += self._archive.erase(conversation, erased_at)
        self._telemetry.count("ErasureFinished")
        self._telemetry.info("erasure_finished", items=removed)

    def _budget(self, pending: list[Message]) -> window.Budget:
        settings = self._settings
        return window.budget_for(
            settings.context_chars, settings.context_messages, settings.context_tokens, pending
        )

    def _ask(
        self,
        profile: AgentProfile,
        facts: list[Fact],
        summary: Summary,
        messages: list[Message],
        seconds: float,
    ) -> CompactionAnswer:
        read = condense.transcript(messages)
        asked = prompt.compaction_prompt(profile, facts, summary, read, self._now())
        answer = self._model.compact(asked, profile.fact_keys, seconds=seconds)
        self._telemetry.count("CompactionInputTokens", answer.usage.input_tokens)
        self._telemetry.count("CompactionCachedTokens", answer.usage.cached_tokens)
        self._telemetry.count("CompactionOutputTokens", answer.usage.output_tokens)
        if self._price is not None:
            self._telemetry.count("CompactionMicrodollars", MILLION * self._price.dollars(answer.usage))
        if not answer.summary.strip():
            raise ModelAnswerUnusable("the memory model wrote an empty summary: the old one is kept")
        return answer

    def _commit(
        self,
        profile: AgentProfile,
        facts: list[Fact],
        summary: Summary,
        messages: list[Message],
        answer: CompactionAnswer,
    ) -> CompactionCommit:
        now = self._now()
        verdict = facts_memory.judge(answer.changes, facts, profile, summary.conversation, messages, now)
        for reason, count in verdict.refused.items():
            self._telemetry.count("FactRefused", count, reason=reason)
        newest_seq = messages[-1].seq
        return CompactionCommit(
            summary=replace(
                summary,
                text=condense.summary_text(answer.summary, messages),
                through_seq=newest_seq,
                version=summary.version + 1,
                updated_at=now,
            ),
            expected_version=summary.version,
            newest_seq=newest_seq,
            newest_event_id=messages[-1].event_id,
            updates=verdict.updates,
        )
