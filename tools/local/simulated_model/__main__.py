"""`python -m tools.local.simulated_model --port 0`: prints `{"port": …}` and serves until it is stopped."""

import argparse
import json
import signal
import sys
from types import FrameType

from tools.local.simulated_model.server import SimulatedModel


def main() -> int:
    """Serves; the exit code is 1 where the port is taken."""
    parser = argparse.ArgumentParser(prog="simulated_model", description=__doc__)
    parser.add_argument("--port", type=int, default=0, help="0 (the default) takes any free port")
    parser.add_argument("--host", default="127.0.0.1", help="address to listen on")
    options = parser.parse_args()
    try:
        model = SimulatedModel(options.port, options.host)
    except OSError as error:
        print(f"port {options.port} cannot be used: {error.strerror}", file=sys.stderr)
        return 1
    signal.signal(signal.SIGTERM, _stop)
    print(json.dumps({"port": model.port}), flush=True)
    try:
        model.wait()
    except KeyboardInterrupt:
        model.close()
    return 0


def _stop(_signal: int, _frame: FrameType | None) -> None:
    raise KeyboardInterrupt


if __name__ == "__main__":
    sys.exit(main())
