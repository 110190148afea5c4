"""A model whose network is in a replica: the page has its tokenizer and its formats, and asks the replica for the rest.

Generating goes through `ReplicaDecoder`. Everything else that a page does with a model is a single pass over a finished
text, such as the attention of a token that is opened again; its arguments are tokens, and its results travel as bytes.
"""

from __future__ import annotations

import io
import pickle
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NoReturn, Self

from torch import Tensor

from model.interface import Forward, Inspection, Want
from model.loaded import LoadedModel
from serve.evaluation import Facts
from serve.remote import Handle, result_of


@dataclass(frozen=True, slots=True)
class RemoteNetwork:
    """A `LanguageModel`, but for `step`: nothing is generated here."""

    handle: Handle
    name: str  # of the model
    vocabulary_size: int
    context_length: int
    decoder_start: tuple[int, ...]
    joinable: bool
    layer_count: int

    def prefill(self, prompt: Sequence[int], *, want: Want = Want()) -> Forward[Any]:
        """Without a cache, which stays in the replica."""
        return self._evaluate("prefill", tuple(prompt), want=want)

    def logits(self, prompt: Sequence[int], tokens: Sequence[int]) -> Tensor:
        return self._evaluate("logits", tuple(prompt), tuple(tokens))

    def inspect(self, tokens: Sequence[int], *, source: Sequence[int] = ()) -> Inspection:
        return self._evaluate("inspect", tuple(tokens), source=tuple(source))

    def step(self, tokens: Sequence[int], cache: Any, *, want: Want = Want()) -> NoReturn:
        raise TypeError("a remote model generates through ReplicaDecoder")

    def with_decoder_start(self, start: Sequence[int]) -> Self:
        return replace(self, decoder_start=tuple(start))

    def _evaluate(self, method: str, *arguments: Any, **options: Any) -> Any:
        return result_of(self.handle.evaluate, self.name, self.decoder_start, method, arguments, options)


def remote_model(handle: Handle, name: str) -> LoadedModel:
    """On the page: the model, with a `RemoteNetwork`."""

    class Unpickler(pickle.Unpickler):
        def persistent_load(self, pid: Facts) -> RemoteNetwork:
            return RemoteNetwork(handle, name, *pid)

    return Unpickler(io.BytesIO(result_of(handle.describe, name))).load()
