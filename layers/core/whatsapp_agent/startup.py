"""Lets a function start without being looked through for garbage."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def undisturbed() -> Iterator[None]:
    """Collects no garbage within the block; what is there at its end counts as lasting, and is never looked at
    again.

    Loading a function makes thousands of classes that stay as long as the process. Python looks through all of
    them again and again meanwhile, and once more each time that it looks through everything later on: an eighth
    of a cold start, and a pause in a warm function, for nothing.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        if was_enabled:
            gc.enable()
