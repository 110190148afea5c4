"""A model whose network runs in a replica, while its tokenizer and formats are in the page's process.

`ReplicaDecoder` generates texts. Everything else that a page does with a model is a single pass over a finished text,
such as computing the attention of an opened token again. Its arguments are tokens, and its results are sent as bytes.
"""

from __future__ import annotations

import io
import pickle
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NoReturn, Self

from torch import Tensor

from model.errors import AttendError
from model.inspection.intervention import Intervention
from model.interface import Forward, Inspection, Want
from model.loaded import LoadedModel
from serve.evaluation import Properties
from serve.remote import Handle, result_of
from serve.text_cache import TextCache, read_again


@dataclass(frozen=True, slots=True, weakref_slot=True, eq=False)  # compared by identity, as any network is
class RemoteNetwork:
    """A `LanguageModel` whose passes a replica computes."""

    handle: Handle
    name: str  # the model's
    vocabulary_size: int
    context_length: int
    decoder_start: tuple[int, ...]
    joinable: bool
    layer_count: int
    source_length: int
    interventions: tuple[Intervention, ...] = ()  # under which every pass is computed

    def prefill(self, prompt: Sequence[int], *, want: Want = Want()) -> Forward[TextCache]:
        return replace(self._evaluate("prefill", tuple(prompt), want=want), cache=TextCache(tuple(prompt)))

    def logits(self, prompt: Sequence[int], tokens: Sequence[int]) -> Tensor:
        return self._evaluate("logits", tuple(prompt), tuple(tokens))

    def inspect(self, tokens: Sequence[int], *, source: Sequence[int] = ()) -> Inspection:
        return self._evaluate("inspect", tuple(tokens), source=tuple(source))

    def step(self, tokens: Sequence[int], cache: TextCache, *, want: Want = Want()) -> Forward[TextCache]:
        return read_again(self, tokens, cache, want=want)

    def with_decoder_start(self, start: Sequence[int]) -> Self:
        return replace(self, decoder_start=tuple(start))

    def with_interventions(self, interventions: Sequence[Intervention]) -> Self:
        """See `model.inspection.inspector.Inspectable`; parts that the model lacks are refused with the first pass."""
        return replace(self, interventions=tuple(interventions))

    def inspector(self) -> NoReturn:
        raise AttendError("This model runs in another process, where it can't be opened: choose one that runs here.")

    def _evaluate(self, method: str, *arguments: Any, **options: Any) -> Any:
        return result_of(
            self.handle.evaluate, self.name, self.decoder_start, self.interventions, method, arguments, options
        )


def remote_model(handle: Handle, name: str) -> LoadedModel:
    """Fetch a model from a replica, with a `RemoteNetwork` in place of its network."""

    class Unpickler(pickle.Unpickler):
        def persistent_load(self, pid: Properties) -> RemoteNetwork:
            return RemoteNetwork(handle, name, *pid)

    return Unpickler(io.BytesIO(result_of(handle.describe, name))).load()
