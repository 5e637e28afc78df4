"""Where the session's stack keeps its files, and what it is started with."""

import os

from tools.local.state import SHARED

STATE = SHARED / "e2e"


def clean_env() -> dict[str, str]:
    """This environment without what would change what is tested: a key lets the real model answer."""
    return {
        name: value
        for name, value in os.environ.items()
        if not name.startswith("OPENAI_") and name != "LOCAL_BUILD"
    }
