"""`make faults`: every crash point of every scenario, every failure, every condition; prints what came of it.

Ends with 1 where a message was lost, stored twice or answered twice, where anything else did not hold, or where
a condition can be taken away unnoticed.
"""

import argparse
import os
import sys
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor

from tests.faults.everything import Report, conditions, crashes, states


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.faults", description=__doc__)
    parser.add_argument("--seed", type=int, default=1, help="of what is chosen at random")
    parser.add_argument("--processes", type=int, default=min(4, os.cpu_count() or 1))
    parser.add_argument("--only", choices=("crashes", "conditions", "states"), help="one part only")
    given = parser.parse_args(arguments)
    began = time.monotonic()
    parts: dict[str, Callable[[], Report]] = {
        "crashes": lambda: crashes(given.seed, given.processes),
        "conditions": conditions,
        "states": states,
    }
    wanted = [part for name, part in parts.items() if given.only in (None, name)]
    good = True
    # Side by side: each waits for processes of its own.
    with ThreadPoolExecutor(len(wanted)) as pool:
        for running in [pool.submit(part) for part in wanted]:
            report = running.result()
            print("\n".join(report.lines), flush=True)  # noqa: T201 - the table
            good &= report.good
    seconds = time.monotonic() - began
    print(f"\n{'ok' if good else 'FAILED'} after {seconds:.0f} s")  # noqa: T201 - the verdict
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
