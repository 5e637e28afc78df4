"""What can be recalled word by word, as plain frozen records.

A passage belongs to an owner: a chunk of a document belongs to an agent (`sales`), an exchange of a talk to a
conversation (`sales#+34600111222`). Passages of one source stand in order by `place`.
"""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

Vector = tuple[float, ...]
"""An embedding. Its length is the deployment's, its meaning that of the model that made it."""

EPISODE = ""
"""The source of exchanges: they come from no document."""


@dataclass(frozen=True, slots=True)
class Passage:
    """One piece of text that can be recalled.

    Attributes:
        source: Name of the document that it comes from; empty for an exchange.
        place: Order within the source. Of an exchange: a hundred times the place (`seq`) of its first message,
            and the number of the part where it was too long for one passage.
        title: Where in the document it stands: headings from the outermost to the nearest, joined by ` › `.
        sent_at: When it was said; None for a document.
        model: The embedding model that made the stored vector; empty where there is none.
        embedding: The vector, where it was read or is to be written; usually left in the store.
        expires_at: From then on the passage is treated as gone.
    """

    owner: str
    place: int
    text: str
    source: str = EPISODE
    title: str = ""
    sent_at: datetime | None = None
    model: str = ""
    embedding: Vector = ()
    expires_at: datetime | None = None

    @property
    def key(self) -> str:
        """The passage's name among its owner's: the same for the same source and place."""
        return f"{source_key(self.source)}{self.place:012d}"

    @property
    def searchable(self) -> str:
        """What is embedded and searched: the text under its title."""
        return f"{self.title}\n{self.text}" if self.title else self.text


EPISODES = "e#"
"""How the keys of exchanges begin; in order of time."""

KNOWLEDGE = "k"
"""How the keys of chunks of documents begin."""


def source_key(source: str) -> str:
    """How the keys of a source's passages begin: of a fixed length, whatever the source is called."""
    if source == EPISODE:
        return EPISODES
    return f"{KNOWLEDGE}{hashlib.sha256(source.encode('utf-8', 'surrogatepass')).hexdigest()[:20]}#"


@dataclass(frozen=True, slots=True)
class Source:
    """A document that an agent knows.

    Attributes:
        complete: False while its chunks are being written or removed.
    """

    owner: str
    name: str
    chunks: int
    chars: int
    model: str
    added_at: datetime
    complete: bool = True


@dataclass(frozen=True, slots=True)
class Catalogue:
    """What a process must know about an agent's knowledge before it looks anything up.

    Attributes:
        version: Changes with every change of the knowledge; empty where there never was any.
        chunks: How many there are.
    """

    version: str = ""
    chunks: int = 0


@dataclass(frozen=True, slots=True)
class RecallRules:
    """What of the passages that were found goes into a prompt.

    Attributes:
        count: Most passages of each kind (knowledge, episodes); 0 turns recall off.
        similarity_floor: Least cosine similarity for a passage whose words alone do not speak for it. It
            must suit the embedding model.
        word_floor: Least share of what the question's words weigh for a passage whose vector alone does not
            speak for it.
        chars: Most characters of both kinds together, neighbours included.
        neighbours: How many passages before and after a found one may come along while there is room.
    """

    count: int = 4
    similarity_floor: float = 0.3
    word_floor: float = 0.35
    chars: int = 3000
    neighbours: int = 1


@dataclass(frozen=True, slots=True)
class Candidates:
    """What one owner's store gave for a question.

    Attributes:
        passages: By key; without vectors.
        similarities: Cosine similarity by key, for the nearest ones.
    """

    passages: Mapping[str, Passage] = field(default_factory=dict)
    similarities: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Found:
    """Everything that was found for one turn, not yet ranked."""

    knowledge: Candidates = Candidates()
    episodes: Candidates = Candidates()


@dataclass(frozen=True, slots=True)
class Recalled:
    """What goes into a prompt, in reading order."""

    knowledge: Sequence[Passage] = ()
    episodes: Sequence[Passage] = ()


NOTHING = Recalled()
