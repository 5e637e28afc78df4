"""TCP ports on the loopback interface."""

import socket

from tools.local.errors import LocalError

LOOPBACK = "127.0.0.1"


def free_port() -> int:
    """A port that nobody listens on at this moment."""
    with socket.socket() as probe:
        probe.bind((LOOPBACK, 0))
        port: int = probe.getsockname()[1]
        return port


def choose_port(wanted: int, option: str) -> int:
    """`wanted`, or a free one where that is 0.

    Raises:
        LocalError: The wanted port is in use.
    """
    if wanted == 0:
        return free_port()
    with socket.socket() as probe:
        # As every server here does, so that a port whose last connections linger counts as free.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((LOOPBACK, wanted))
        except (OSError, OverflowError) as error:
            raise LocalError(
                f"port {wanted} is in use or not allowed: choose another with {option}, or leave it out"
            ) from error
    return wanted
