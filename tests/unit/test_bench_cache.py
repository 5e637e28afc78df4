"""What the benchmark takes a prompt cache to read and to write."""

from typing import Any

from tools.bench.__main__ import changed
from tools.bench.cache import Cache, serialised

LONG = "x" * 5_000


def body(*texts: str, marked: int = 0, instructions: str = LONG) -> dict[str, Any]:
    """A request of which the first `marked` items end with a mark."""
    items = []
    for place, text in enumerate(texts):
        part = {"type": "input_text", "text": text}
        if place < marked:
            part["prompt_cache_breakpoint"] = {"mode": "explicit"}  # type: ignore[assignment]
        items.append({"role": "user", "content": [part]})
    return {"instructions": instructions, "input": items}


def test_a_prefix_is_read_only_up_to_a_mark_that_was_written() -> None:
    cache = Cache()
    first = cache.see(body("one", "notes", marked=1))
    second = cache.see(body("one", "two", "notes", marked=2))
    assert first.cached == 0
    assert second.cached == first.written == serialised(body("one", marked=1))[1][0]
    assert second.written == len("\nuser: two")


def test_without_marks_nothing_is_read_or_written_whatever_is_shared() -> None:
    cache = Cache()
    cache.see(body("one"))
    seen = cache.see(body("one", "two"))
    assert (seen.cached, seen.written) == (0, 0)
    assert seen.shared == len(serialised(body("one"))[0])


def test_another_beginning_shares_and_reads_nothing() -> None:
    cache = Cache()
    cache.see(body("one", marked=1))
    seen = cache.see(body("one", marked=1, instructions=f"y{LONG}"))
    assert seen.cached == 0
    assert seen.shared == len("[]\n")


def test_a_prefix_below_the_least_that_is_cached_is_not_written() -> None:
    assert Cache().see(body("one", marked=1, instructions="short")).written == 0


def test_counts_that_differ_are_told_and_times_are_not() -> None:
    before = {"a": {"calls": 9, "ratio": 1.0, "bytes": 1000}, "b": [1, 2]}
    after = {"a": {"calls": 10, "ratio": 2.0, "bytes": 1001}, "b": [1, 3]}
    assert list(changed(before, after)) == ["changed  a.calls: 9 → 10", "changed  b.1: 2 → 3"]
