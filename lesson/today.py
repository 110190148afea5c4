"""From the block of 2017 to today's models: parameters by part, norms and activations, and the cost of a cache.

Shapes: W model width, N numbers of a curve.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import torch
from torch import Tensor, nn
from torch.nn import functional

from model.errors import AttendError
from model.interface import Forward
from model.loaded import LoadedModel
from model.transformer.config import TransformerConfig

Part = Literal["embeddings", "attention", "feed-forward", "norms", "output", "other"]

# What the names of parameters contain, in our own code and in transformers' families; the first that fits counts, so
# that `attention_norm` is a norm.
_NAMES: Mapping[Part, tuple[str, ...]] = {
    "norms": ("norm", "ln_", ".ln"),
    "attention": ("attn", "attention", "cross"),
    "feed-forward": ("mlp", "feed_forward", "ffn", ".fc", "intermediate", "dense"),
    "output": ("lm_head", "unembedding", "embed_out"),
    "embeddings": ("embed", "wte", "wpe", "shared"),
}


def part_of(name: str) -> Part:
    """The part of a model that a parameter belongs to, by its name."""
    lower = name.lower()
    for part, words in _NAMES.items():
        if any(word in lower for word in words):
            return part
    return "other"


def count_parameters(loaded: LoadedModel) -> Mapping[Part, int]:
    """How many numbers each part of a model has learned; a matrix that two parts share counts once, as an embedding.

    Raises `AttendError` for a model that doesn't list its parameters.
    """
    listed = getattr(loaded.model, "named_parameters", None)
    if listed is None:
        raise AttendError(f"{loaded.name} does not list its parameters: choose another model.")
    counts: dict[Part, int] = {}
    for name, parameter in listed():
        part = part_of(name)
        counts[part] = counts.get(part, 0) + parameter.numel()
    return counts


@dataclass(frozen=True, slots=True)
class Norms:
    """A vector before and after the two norms; (W,) each."""

    layer: Tensor  # LayerNorm (Ba, Kiros and Hinton, 2016): mean 0, standard deviation 1
    rms: Tensor  # RMSNorm (Zhang and Sennrich, 2019): root mean square 1, the mean stays where it is


def normalize(vector: Sequence[float]) -> Norms:
    """Apply the norms of our blocks, without their learned scale."""
    values = torch.tensor(vector)
    width = len(vector)
    with torch.no_grad():
        return Norms(nn.LayerNorm(width)(values), nn.RMSNorm(width, eps=1e-5)(values))


def activation_curves(points: Sequence[float]) -> Mapping[str, Tensor]:
    """ReLU, GELU and SiLU at these points, (N,) each; SwiGLU multiplies SiLU of one projection by another."""
    values = torch.tensor(points)
    return {"ReLU": functional.relu(values), "GELU": functional.gelu(values), "SiLU": functional.silu(values)}


def cache_bytes(config: TransformerConfig, tokens: int) -> int:
    """The bytes of a text's key/value cache in float32: a key and a value for each layer, key head and token."""
    numbers = 2 * config.layers * config.key_value_heads * config.head_width * tokens
    return numbers * torch.finfo(torch.float32).bits // 8


@dataclass(frozen=True, slots=True)
class CacheTiming:
    """One more token after a text of this length, in seconds: the quickest of a few tries."""

    tokens: int
    with_cache: float  # only the new token passes through the model
    without: float  # the whole text does, again


def time_cache(loaded: LoadedModel, lengths: Sequence[int], *, tries: int = 5) -> list[CacheTiming]:
    """Measures a decoder-only model, now and on this machine, on texts of one repeated token.

    Args:
        lengths: the lengths of the texts in tokens; `AttendError` for one beyond the model's context.
        tries: how often each pass is timed, after one that isn't. Between two passes, others can use the model.
    """
    model: Any = loaded.model
    timings = []
    for length in lengths:
        text = [0] * length  # any token will do
        with loaded.lock:
            cache = model.prefill(text).cache
        step = quickest(loaded, lambda cache=cache: model.step([0], cache), tries)
        whole = quickest(loaded, lambda text=text: model.prefill([*text, 0]), tries)
        timings.append(CacheTiming(length, step, whole))
    return timings


def quickest(loaded: LoadedModel, forward: Callable[[], Forward[Any]], tries: int) -> float:
    """The seconds of the quickest of a few passes, after one that isn't timed, and without waiting for the model."""
    seconds = []
    for _ in range(tries + 1):
        with loaded.lock:
            start = time.perf_counter()
            forward().logits[0, 0].item()  # this waits for a GPU
            seconds.append(time.perf_counter() - start)
    return min(seconds[1:])
