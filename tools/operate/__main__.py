"""`python -m tools.operate`, which `./operate` at the repository's root runs: see `--help`."""

import sys

if sys.version_info < (3, 11):  # noqa: UP036 -- this is what tells users of an older one
    sys.exit("Python 3.11 or newer is needed, this is {}.{}".format(*sys.version_info[:2]))

from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "layers" / "core"))

from tools.operate.app import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
