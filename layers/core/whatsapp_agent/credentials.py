"""Keys for outside services that may be changed while the process runs."""

from dataclasses import dataclass
from typing import Protocol


class Key(Protocol):
    """A key of an outside service. Safe to use from several threads."""

    def current(self) -> str:
        """The key, possibly some minutes old."""

    def renewed(self, refused: str) -> str:
        """Another key than the one that the service has just refused; empty where none is known."""


@dataclass(frozen=True, slots=True)
class FixedKey:
    """A key that never changes."""

    text: str

    def current(self) -> str:
        """See `Key.current`."""
        return self.text

    def renewed(self, refused: str) -> str:  # noqa: ARG002 - the protocol's signature
        """See `Key.renewed`: there is no other."""
        return ""


def key_of(given: str | Key) -> Key:
    """A key of a text, or the key itself."""
    return FixedKey(given) if isinstance(given, str) else given
