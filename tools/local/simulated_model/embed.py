"""Deterministic embeddings: texts that share words, or pieces of words, lie close together."""

import base64
import hashlib
import math
import struct

from tools.local.simulated_model.language import plain, words

_WORD_WEIGHT = 1.0
_PIECE_WEIGHT = 0.35


def dimensions_of(model: str) -> int:
    """How long a model's vectors are where the request does not say."""
    return 3072 if model.endswith("-large") else 1536


def embed(text: str, dimensions: int) -> list[float]:
    """A vector of length 1: every word and every three letters in a row fall on a place with a sign."""
    vector = [0.0] * dimensions
    for word in map(plain, words(text) or text.split()):
        _add(vector, f"w:{word}", _WORD_WEIGHT)
        padded = f"^{word}$"
        for start in range(len(padded) - 2):
            _add(vector, f"p:{padded[start : start + 3]}", _PIECE_WEIGHT)
    length = math.sqrt(sum(value * value for value in vector))
    if not length:
        # Nothing but blanks or marks: still a vector of length 1, as the real service gives.
        vector[0] = length = 1.0
    return [value / length for value in vector]


def as_base64(vector: list[float]) -> str:
    """The vector as little-endian 32-bit floats, the form that the client asks for by default."""
    return base64.b64encode(struct.pack(f"<{len(vector)}f", *vector)).decode("ascii")


def _add(vector: list[float], feature: str, weight: float) -> None:
    digest = hashlib.blake2b(feature.encode("utf-8", "replace"), digest_size=8).digest()
    place = int.from_bytes(digest[:4], "little") % len(vector)
    vector[place] += weight if digest[4] & 1 else -weight
