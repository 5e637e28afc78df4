"""Looks up, beside the other reads of a turn, what could help to answer it."""

from collections.abc import Mapping
from concurrent.futures import Executor, Future
from concurrent.futures import TimeoutError as FutureTimeout
from dataclasses import dataclass
from time import monotonic

from whatsapp_agent.errors import AgentError
from whatsapp_agent.memory import recall
from whatsapp_agent.memory.episodes import place_of
from whatsapp_agent.memory.passages import EPISODES, Candidates, Found, Passage, Recalled, Vector
from whatsapp_agent.memory.profile import AgentProfile
from whatsapp_agent.memory.window import unanswered
from whatsapp_agent.ports.recall import Embedder, RecallStore
from whatsapp_agent.telemetry import Telemetry
from whatsapp_agent.turns.context import Context
from whatsapp_agent.turns.knowledge import Knowledge, Known

MOST_EPISODES = 200
"""Exchanges of a person that are ranked by their words, the newest; older ones are found by their vectors.
Bounds what a reply reads: some 100 kB, 15 units."""

NEAREST = 40
"""Passages of each kind that the vector search gives."""

MOST_BEFORE = 2
"""Messages before the question that give it context: what was said last, and what was answered."""

MOST_CHARS = 2000
"""Of what the person says, the end: that is what they ask, and a wall of text has no one meaning."""

EMBEDDING_SECONDS = 2.5
RECALL_SECONDS = 4.0
"""How long a reply waits for all of it, counted from its beginning; then it does without."""


@dataclass(frozen=True, slots=True)
class Result:
    """What was found, and the knowledge of the process that it was found in."""

    found: Found
    known: Known


class Recaller:
    """Finds passages. Whatever fails is counted, and the reply does without it.

    Args:
        embedder: None: passages are found by their words only.
        episodes: Whether this deployment keeps any.
    """

    def __init__(
        self,
        store: RecallStore,
        knowledge: Knowledge,
        embedder: Embedder | None,
        executor: Executor,
        telemetry: Telemetry,
        *,
        episodes: bool,
    ) -> None:
        self._store = store
        self._knowledge = knowledge
        self._embedder = embedder
        self._executor = executor
        self.telemetry = telemetry
        self._episodes = episodes

    def begin(self, conversation: str, profile: AgentProfile, said: str) -> "Lookup":
        """Begins to look up what the person says; nobody waits for it here.

        Where what they say is not known yet (a voice message), it begins when it is asked for its result.
        """
        return Lookup(self, conversation, profile, self.start(conversation, profile, said))

    def search(self, conversation: str, profile: AgentProfile, question: str) -> Recalled:
        """Looks up a question and waits for it."""
        return self.begin(conversation, profile, question).chosen(question)

    def start(self, conversation: str, profile: AgentProfile, said: str) -> Future[Result] | None:
        """The lookup under way; None where there is nothing to look up, or nowhere."""
        if not said.strip() or profile.recall.count == 0:
            return None
        agent = profile.agent_id
        said = said[-MOST_CHARS:]
        known_to_be_empty = not self._knowledge.stale(agent) and not self._knowledge.of(agent, "").passages
        if known_to_be_empty and not self._episodes:
            return None
        return self._executor.submit(self._find, conversation, agent, said)

    @property
    def _model(self) -> str:
        return self._embedder.model if self._embedder else ""

    def _find(self, conversation: str, agent: str, said: str) -> "Result":
        submit = self._executor.submit
        reading = submit(self._newest_episodes, conversation) if self._episodes else None
        known = self._knowledge.of(agent, self._model)
        embedding = submit(self._vector, said) if known.passages else None
        newest = reading.result() if reading else {}
        if newest and embedding is None:
            embedding = submit(self._vector, said)
        vector = embedding.result() if embedding else ()
        nearest = submit(self._near, agent, vector) if known.passages else None
        near_episodes = self._near(conversation, vector) if newest else {}
        near_knowledge = nearest.result() if nearest else {}
        missing = [] if known.complete else [key for key in near_knowledge if key not in known.passages]
        chunks = {**known.passages, **self._get(agent, missing)} if missing else known.passages
        older = [key for key in near_episodes if key not in newest] if len(newest) >= MOST_EPISODES else []
        episodes = {**newest, **self._get(conversation, older)}
        return Result(Found(Candidates(chunks, near_knowledge), Candidates(episodes, near_episodes)), known)

    def _newest_episodes(self, conversation: str) -> dict[str, Passage]:
        found = self._store.passages(conversation, EPISODES, MOST_EPISODES, newest_first=True)
        others = sum(passage.model not in ("", self._model) for passage in found)
        if self._embedder:
            self.telemetry.count("VectorsOfAnotherModel", others)
        return {passage.key: passage for passage in found}

    def _vector(self, said: str) -> Vector:
        if self._embedder is None:
            return ()
        try:
            (vector,) = self._embedder.embed([said], seconds=EMBEDDING_SECONDS)
        except AgentError as error:
            self.telemetry.count("EmbeddingFailed", reason=type(error).__name__)
            return ()
        return vector

    def _near(self, owner: str, vector: Vector) -> dict[str, float]:
        if not vector:
            return {}
        try:
            return self._store.nearest(owner, vector, self._model, NEAREST)
        except AgentError as error:
            self.telemetry.count("RecallFailed", reason=type(error).__name__)
            return {}

    def _get(self, owner: str, keys: list[str]) -> Mapping[str, Passage]:
        try:
            return {passage.key: passage for passage in self._store.get(owner, keys)} if keys else {}
        except AgentError as error:
            self.telemetry.count("RecallFailed", reason=type(error).__name__)
            return {}


class Lookup:
    """One turn's lookup."""

    def __init__(
        self, recaller: Recaller, conversation: str, profile: AgentProfile, future: Future[Result] | None
    ) -> None:
        self._recaller = recaller
        self._conversation = conversation
        self._profile = profile
        self._future = future
        self._until = monotonic() + RECALL_SECONDS

    def for_context(self, context: Context) -> Recalled:
        """What goes into the prompt of this turn: see `chosen`."""
        new = unanswered(context.messages)
        earlier = context.messages[: len(context.messages) - len(new)][-MOST_BEFORE:]
        return self.chosen(
            "\n".join(message.text for message in new),
            "\n".join(message.text for message in earlier),
            through_seq=context.summary.through_seq,
        )

    def chosen(self, question: str, before: str = "", *, through_seq: int = -1) -> Recalled:
        """What of it goes into the prompt; nothing where it failed or took too long.

        Args:
            question: What the person has said since the last reply.
            before: What was said just before.
            through_seq: Episodes of later messages are left out: the prompt shows those messages. -1: none.
        """
        recaller, profile = self._recaller, self._profile
        future = self._future
        if future is None:
            future = self._future = recaller.start(self._conversation, profile, question)
            self._until = monotonic() + RECALL_SECONDS
        if future is None:
            return Recalled()
        try:
            result = future.result(timeout=max(0.0, self._until - monotonic()))
        except FutureTimeout:
            recaller.telemetry.count("RecallTimedOut")
            return Recalled()
        except Exception as error:  # noqa: BLE001 - recall is a help, never a condition of an answer
            recaller.telemetry.count("RecallFailed", reason=type(error).__name__)
            return Recalled()
        known = result.known
        same = result.found.knowledge.passages is known.passages
        chosen = recall.choose(
            result.found,
            profile.recall,
            question[-MOST_CHARS:],
            before[-MOST_CHARS:],
            knowledge_index=known.index if same else None,
            after_place=place_of(through_seq + 1) if through_seq >= 0 else -1,
        )
        recaller.telemetry.count("RecalledKnowledge", len(chosen.knowledge))
        recaller.telemetry.count("RecalledEpisodes", len(chosen.episodes))
        return chosen
