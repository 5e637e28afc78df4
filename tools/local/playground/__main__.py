"""`python -m tools.local.playground --state <folder> --port <port>`: serves the page of a running stack."""

import argparse
import json
import socket
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "layers" / "core"))

import uvicorn

from tools.local.playground.connection import connection_to
from tools.local.playground.server import application
from tools.local.playground.stage import Stage
from tools.local.ports import LOOPBACK
from tools.local.state import SHARED, require_running


def main() -> None:
    parser = argparse.ArgumentParser(description="The playground page.")
    parser.add_argument("--state", type=Path, default=SHARED, help="folder of the running stack")
    parser.add_argument("--port", type=int, default=0, help="0 takes a free one")
    options = parser.parse_args()
    stage = Stage(connection_to(require_running(options.state), options.state))
    with socket.socket() as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((LOOPBACK, options.port))
        listener.listen(128)
        port = listener.getsockname()[1]
        config = uvicorn.Config(
            application(stage, port), log_level="warning", access_log=False, timeout_graceful_shutdown=1
        )
        print(json.dumps({"port": port}), flush=True)
        with stage.watching():
            uvicorn.Server(config).run(sockets=[listener])


if __name__ == "__main__":
    main()
