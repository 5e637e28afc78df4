"""Reads every agent of a folder while the agents' layer is built; a mistake is one line and exit code 1."""

import sys
from pathlib import Path

from whatsapp_agent.agents import load_agents
from whatsapp_agent.errors import ConfigurationError


def main(folder: str) -> int:
    """Checks the agents in `folder`; returns the exit code."""
    try:
        load_agents(Path(folder))
    except ConfigurationError as error:
        sys.stderr.write(
            f"layers/{error}\n" if str(error).startswith("agents/") else f"layers/agents: {error}\n"
        )
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
