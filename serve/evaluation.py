"""What a replica does for a page besides decoding: it describes its model, and computes single passes over texts."""

from __future__ import annotations

import io
import pickle
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from model.interface import Forward, LanguageModel
from model.loaded import FairLock, LoadedModel

# Vocabulary size, context length, decoder start, joinable and layer count, see `LanguageModel`.
Facts = tuple[int, int, tuple[int, ...], bool, int]


def evaluate(
    loaded: LoadedModel,
    decoder_start: tuple[int, ...],
    method: str,
    arguments: Sequence[Any],
    options: Mapping[str, Any],
) -> Any:
    """What a method of the network returns, a `Forward` without its cache.

    Args:
        decoder_start: that of the languages which a visitor chose.
    """
    network: Any = loaded.model
    if decoder_start != tuple(network.decoder_start):
        network = network.with_decoder_start(decoder_start)
    with loaded.lock:
        result = getattr(network, method)(*arguments, **options)
    return replace(result, cache=None) if isinstance(result, Forward) else result


def describe(loaded: LoadedModel) -> bytes:
    """All of a model but its network, of which the facts are sent; `serve.remote_model` reads it."""

    class Pickler(pickle.Pickler):
        def persistent_id(self, obj: Any) -> Facts | None:
            return _facts(loaded.model) if obj is loaded.model else None

        def reducer_override(self, obj: Any) -> Any:
            return (FairLock, ()) if isinstance(obj, FairLock) else NotImplemented

    written = io.BytesIO()
    Pickler(written).dump(loaded)
    return written.getvalue()


def _facts(network: LanguageModel[Any]) -> Facts:
    return (
        network.vocabulary_size,
        network.context_length,
        tuple(network.decoder_start),
        network.joinable,
        network.layer_count,
    )
