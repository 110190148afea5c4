"""What a replica does besides decoding: it describes its model and computes single passes over texts."""

from __future__ import annotations

import io
import pickle
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from model.inspection.inspector import under
from model.inspection.intervention import Intervention
from model.interface import Forward
from model.loaded import FairLock, LoadedModel

# Vocabulary size, context length, decoder start, joinable and layer count, see `LanguageModel`; then the source length.
Properties = tuple[int, int, tuple[int, ...], bool, int, int]


def evaluate(
    loaded: LoadedModel,
    decoder_start: tuple[int, ...],
    interventions: tuple[Intervention, ...],
    method: str,
    arguments: Sequence[Any],
    options: Mapping[str, Any],
) -> Any:
    """The result of a method of the network; a `Forward` comes without its cache.

    Args:
        decoder_start: the tokens that begin a translation in the languages that the visitor chose.
        interventions: what is changed inside the network.
    """
    network: Any = loaded.model
    if decoder_start != tuple(network.decoder_start):
        network = network.with_decoder_start(decoder_start)
    network = under(network, interventions)
    with loaded.lock:
        result = getattr(network, method)(*arguments, **options)
    return replace(result, cache=None) if isinstance(result, Forward) else result


def describe(loaded: LoadedModel) -> bytes:
    """A pickled model, with the properties of its network in place of the network; see `serve.remote_model`."""

    class Pickler(pickle.Pickler):
        def persistent_id(self, obj: Any) -> Properties | None:
            return _properties(loaded) if obj is loaded.model else None

        def reducer_override(self, obj: Any) -> Any:
            return (FairLock, (obj.slots,)) if isinstance(obj, FairLock) else NotImplemented

    buffer = io.BytesIO()
    Pickler(buffer).dump(loaded)
    return buffer.getvalue()


def _properties(loaded: LoadedModel) -> Properties:
    network = loaded.model
    return (
        network.vocabulary_size,
        network.context_length,
        tuple(network.decoder_start),
        network.joinable,
        network.layer_count,
        loaded.prompt_length,
    )
