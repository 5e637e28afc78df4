"""What recall needs, as protocols.

Every method may raise `TransientError` (the call may succeed later). Other errors are named where they can
happen.
"""

from collections.abc import Sequence
from typing import Protocol

from whatsapp_agent.memory.passages import Catalogue, Passage, Source, Vector
from whatsapp_agent.memory.records import Message


class RecallStore(Protocol):
    """What can be recalled word by word: episodes of a conversation, knowledge of an agent."""

    def passages(
        self, owner: str, prefix: str, limit: int, *, newest_first: bool = False, consistent: bool = False
    ) -> list[Passage]:
        """Up to `limit` passages of which the key begins with `prefix`, in order of their keys (or from the
        last one backwards), without vectors; expired ones are left out. Eventually consistent by default,
        at half the price.
        """

    def get(self, owner: str, keys: Sequence[str]) -> list[Passage]:
        """The passages with these keys (up to 100), without vectors, in any order; absent ones are left out."""

    def nearest(self, owner: str, vector: Vector, model: str, limit: int) -> dict[str, float]:
        """Cosine similarity by key of the owner's passages that lie nearest, up to `limit` (at most 100).

        Only vectors that `model` made are compared; nobody else's passage is ever looked at.
        """

    def vectors(self, owner: str, prefix: str) -> dict[str, tuple[str, Vector]]:
        """Model and vector by key, of all passages of which the key begins with `prefix`. Not for replies:
        it reads everything.
        """

    def put(self, passages: Sequence[Passage], *, while_there: Message | None = None) -> None:
        """Writes passages with their vectors; one that has none is found by its words. Those with the same
        key are replaced, so doing it again changes nothing.

        Args:
            passages: All of one owner.
            while_there: A message that must still exist, so that nothing is written back after an erasure.

        Raises:
            MessagesGone: `while_there` no longer exists; nothing more is written.
        """

    def delete(self, owner: str, keys: Sequence[str]) -> None:
        """Deletes passages and their vectors; absent ones are passed over."""

    def erase(self, owner: str) -> int:
        """Deletes everything that the conversation (or the agent) owns; returns how many items there were."""


class KnowledgeCatalogue(Protocol):
    """Which documents an agent knows."""

    def catalogue(self, owner: str) -> Catalogue:
        """The catalogue's version; an empty one where the agent never knew anything. Eventually consistent."""

    def sources(self, owner: str) -> list[Source]:
        """The agent's documents, by name. Strongly consistent."""

    def put_source(self, source: Source) -> None:
        """Enters a document, or replaces its entry."""

    def delete_source(self, owner: str, name: str) -> None:
        """Removes a document's entry."""

    def publish(self, owner: str, chunks: int) -> None:
        """Gives the catalogue a new version, so that every process reads the knowledge again."""


class Embedder(Protocol):
    """Makes vectors of texts.

    Attributes:
        model: Name of the model; vectors of different models cannot be compared.
    """

    @property
    def model(self) -> str:
        """See the class."""

    def embed(self, texts: Sequence[str], *, seconds: float) -> list[Vector]:
        """One vector per text, in order, all of the deployment's length.

        Raises:
            ModelUnavailable: Overloaded, failing, or slower than `seconds`.
            ModelRefused: Key wrong, quota used up, model unknown, or vectors of another length.
        """
