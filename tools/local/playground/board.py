"""What a page shows, as values under names; pages ask for what has changed since they last asked."""

import threading
from typing import Any


class Board:
    """Values by channel and key, each with the number of its last change. Safe from any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._version = 0
        self._cleared = 0
        self._values: dict[tuple[str, str], tuple[int, Any]] = {}

    def put(self, channel: str, key: str, value: Any) -> None:
        """Shows a value (JSON); None takes it away. What has not changed is not sent again."""
        with self._lock:
            before = self._values.get((channel, key), (0, None))[1]
            if before != value:
                self._version += 1
                self._values[channel, key] = (self._version, value)

    def get(self, channel: str, key: str) -> Any:
        """The value that is shown; None where there is none."""
        with self._lock:
            return self._values.get((channel, key), (0, None))[1]

    def values(self, channel: str) -> dict[str, Any]:
        """Everything that a channel shows, by key."""
        with self._lock:
            return {
                key: value
                for (name, key), (_, value) in self._values.items()
                if name == channel and value is not None
            }

    def clear(self, *, but: tuple[str, ...] = ()) -> None:
        """Takes everything away, except the channels in `but`; pages begin anew."""
        with self._lock:
            self._version += 1
            self._cleared = self._version
            self._values = {
                place: (self._version, value) for place, (_, value) in self._values.items() if place[0] in but
            }

    def since(self, version: int) -> tuple[int, dict[str, Any] | None]:
        """What changed after `version`: the newest version, and `{"reset": …, "changes": {channel: {key:
        value}}}`, or None where nothing did. `reset` says that what was shown before is gone.
        """
        with self._lock:
            if self._version == version:
                return version, None
            reset = version < self._cleared or version == 0
            changes: dict[str, dict[str, Any]] = {}
            for (channel, key), (changed, value) in self._values.items():
                if changed > version and not (reset and value is None):
                    changes.setdefault(channel, {})[key] = value
            return self._version, {"reset": reset, "changes": changes}
