"""`python -m tools.local.simulated_provider`: serves until it is told to stop."""

import argparse
import json
import signal
import sys
import threading
from types import FrameType

from tools.local.simulated_provider.server import (
    DEFAULT_API_KEY,
    DEFAULT_NUMBERS,
    ProviderServer,
    SimulatedProvider,
)
from tools.local.simulated_provider.state import State
from tools.local.simulated_provider.webhooks import Target


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="simulated_provider", description="A WhatsApp provider on a laptop.")
    parser.add_argument(
        "--port", type=int, default=0, help="0 takes a free one; the first line printed names it"
    )
    parser.add_argument("--provider", choices=sorted(DEFAULT_NUMBERS), default="whasp")
    parser.add_argument("--webhook-url", default="", help="can also be set later: POST /_control/webhook")
    parser.add_argument("--webhook-host", default="", help="Host header of the webhooks")
    parser.add_argument(
        "--secret", default="", help="signs the webhooks: whsec_… (whasp) or the app secret (Meta)"
    )
    parser.add_argument("--api-key", default=DEFAULT_API_KEY, help="what the agent must show")
    parser.add_argument(
        "--number", default="", help="business number (Meta: phone number id) of inbound messages"
    )
    parser.add_argument("--attempts", type=int, default=5, help="deliveries of a webhook until it is given up")
    parser.add_argument(
        "--wait-seconds", type=float, default=0.5, help="before the second delivery; then doubling"
    )
    parser.add_argument("--first-id", type=int, default=1, help="start of the id counter")
    return parser.parse_args()


def main() -> int:
    options = _arguments()
    provider = SimulatedProvider(
        provider=options.provider,
        api_key=options.api_key,
        target=Target(options.webhook_url, options.webhook_host, options.secret),
        numbers={options.provider: options.number} if options.number else None,
        state=State(next_id=options.first_id),
        attempts=options.attempts,
        wait_seconds=options.wait_seconds,
    )
    try:
        server = ProviderServer(provider, options.port)
    except OSError as error:
        sys.stderr.write(f"simulated_provider: port {options.port} cannot be used: {error.strerror}\n")
        return 1

    def stop(_number: int, _frame: FrameType | None) -> None:
        # From another thread: shutdown waits for serve_forever, which runs in this one.
        threading.Thread(target=server.shutdown, daemon=True).start()

    for name in (signal.SIGINT, signal.SIGTERM):
        signal.signal(name, stop)
    sys.stdout.write(json.dumps({"port": server.port}) + "\n")
    sys.stdout.flush()
    with server:
        server.serve_forever()
    return 0


if __name__ == "__main__":
    sys.exit(main())
