"""`make bench`: measures, and writes docs/benchmarks (page, figures, charts) and README's cost table.

    python -m tools.bench [--only SECTION …]

Exits with 1 where a promise does not hold; what was measured is written all the same.
"""

import argparse
import importlib.util
import json
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "layers" / "core"))

from tools.bench import readme  # noqa: E402 - the path comes first

OUT = ROOT / "docs" / "benchmarks"
SECTIONS = ("database", "prompt", "cold_start", "batch", "throughput", "recall_summary", "money")
NOT_KEPT = ("series", "shared_series")
"""For the charts only: thousands of numbers."""

_VARIES = ("ratio", "second", "percent", "share_of_cpu", "cpu")
_TOLERANCE = 0.005

Figures = dict[str, Any]


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the sections that are wanted; the others keep the figures that they have."""
    wanted = _arguments(arguments).only or list(SECTIONS)
    before: Figures = json.loads(readme.RESULTS.read_text("utf-8")) if readme.RESULTS.exists() else {}
    results, broken = dict(before), list[str]()
    OUT.mkdir(parents=True, exist_ok=True)
    for name in [section for section in SECTIONS if section in wanted]:
        module = _section(name)
        if module is None:
            continue
        began = time.monotonic()
        say(f"{name} …")
        try:
            measured = module.measure(**{need: results[need] for need in getattr(module, "NEEDS", ())})
        except AssertionError as error:
            broken.append(f"{name}: {error}")
            continue
        _draw(name, measured)
        results[name] = {key: value for key, value in measured.items() if key not in NOT_KEPT}
        try:
            getattr(module, "check", lambda _: None)(results[name])
        except AssertionError as error:
            broken.append(f"{name}: {error}")
        say(f"{name}: {time.monotonic() - began:.0f} s")
    _write({name: results[name] for name in SECTIONS if name in results})
    for line in changed(before, {name: results[name] for name in before}):
        say(line)
    for line in broken:
        say(f"DOES NOT HOLD  {line}")
    return 1 if broken else 0


def changed(before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[str]:
    """How the counts differ from those of the run before; times, which never are the same, are passed over."""
    old, new = dict(_leaves(before)), dict(_leaves(after))
    for name in sorted(old.keys() | new.keys()):
        one, other = old.get(name), new.get(name)
        if not _same(one, other) and not any(word in name for word in _VARIES):
            yield f"changed  {name}: {one} → {other}"


def _same(one: Any, other: Any) -> bool:
    if isinstance(one, int | float) and isinstance(other, int | float):
        return abs(one - other) <= _TOLERANCE * abs(one)
    return bool(one == other)


def _leaves(value: Any, name: str = "") -> Iterator[tuple[str, Any]]:
    pairs = (
        value.items() if isinstance(value, Mapping) else enumerate(value) if isinstance(value, list) else None
    )
    if pairs is None:
        yield name, value
        return
    for key, each in pairs:
        yield from _leaves(each, f"{name}.{key}" if name else str(key))


def _section(name: str) -> ModuleType | None:
    if importlib.util.find_spec(f"tools.bench.{name}") is None:
        say(f"{name}: is not there, left out")
        return None
    return import_module(f"tools.bench.{name}")


def _draw(name: str, figures: Figures) -> None:
    charts = import_module("tools.bench.charts")
    if hasattr(charts, name):
        getattr(charts, name)(figures, OUT)


def _write(results: Figures) -> None:
    readme.RESULTS.write_text(json.dumps(results, indent=1, ensure_ascii=False) + "\n", "utf-8")
    parts = [_HEAD]
    for name in results:
        module = _section(name)
        if module is not None:
            parts.append(module.page(results[name]).strip() + "\n")
    (OUT / "results.md").write_text("\n".join(parts), "utf-8")
    if "money" in results:
        readme.write(results["money"])


_HEAD = """\
# Benchmarks

`make bench` writes this page, its charts and `results.json`, offline, on one machine. Counts, bytes, units and
characters are the same in every run; times are only given as ratios within one run.
"""


def _arguments(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tools.bench", description=__doc__.split("\n", 1)[0])
    parser.add_argument("--only", nargs="+", choices=SECTIONS, metavar="SECTION", help=", ".join(SECTIONS))
    return parser.parse_args(arguments)


def say(text: str) -> None:
    print(text, flush=True)


if __name__ == "__main__":
    sys.exit(main())
