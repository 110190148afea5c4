"""A machine whose GPU is lent to one call at a time: a ZeroGPU Space.

A borrowed call runs in a fork of this process; its arguments, and what it yields or returns, are pickled. Outside of
one, CUDA is only imitated: a model can be put there, but not run. So the embedded models stay on the CPU, where all
their runs share passes and nothing is borrowed. A larger model is put on `cuda` once, as it is loaded, and whatever
runs it borrows the GPU, for no longer than it can take: short loans begin sooner.

Held to what `spaces` 0.51 does; its GPUs exist on Spaces alone.
"""

from __future__ import annotations

import math
import os
import threading
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from functools import wraps
from typing import Any, cast
from weakref import WeakValueDictionary

from torch import Tensor

from decoding.settings import DecodingSettings
from model import catalog, names
from model.arguments import ModelArguments
from model.device import INT8
from model.errors import AttendError
from model.interface import Attention, Forward, Inspection, LanguageModel, Want
from model.loaded import LoadedModel
from model.progress import Progress, silent
from model.text.languages import unmarked
from ui.runs.models.cache import AnyModel
from ui.runs.models.registry import DecodeT
from ui.server.machine import Machine

_STARTING = 10.0  # seconds in which a fork begins and its weights reach the GPU
_A_TOKEN = 0.1  # seconds, several times what a model of 1.5 billion weights takes there
_A_PASS = 15  # seconds of a loan for one pass


class ZeroGpu(Machine):
    """What borrows the GPU, and for how long."""

    def __init__(self, arguments: ModelArguments, spaces: Any, run_seconds: float) -> None:
        """
        Args:
            spaces: the module of that name, which must have been imported before torch.
            run_seconds: that one run may take.
        """
        super().__init__(arguments)
        self._spaces, self._run_seconds = spaces, run_seconds
        self._here = os.getpid()
        self._models = WeakValueDictionary[str, Any]()  # those on the GPU, by name
        self._pass_on_loan = spaces.GPU(duration=_A_PASS)(self._pass)

    def borrows(self, name: str) -> bool:
        """Whether a model of this name runs on the GPU: those that come with Attend don't, and none does in 8 bits or
        where the command line names another device."""
        plain, dtype = names.without_precision(unmarked(name)[0])
        small = plain in names.embedded() or (dtype or self._arguments.dtype) == INT8
        return self._arguments.device == "auto" and not small

    @property
    def on_loan(self) -> bool:
        """Whether this is a borrowed call."""
        return os.getpid() != self._here

    def load_first(self) -> LoadedModel:
        loaded = catalog.load_arguments(self._placed(self._arguments.name))
        return cast(LoadedModel, self._lent(loaded)) if self.borrows(loaded.name) else loaded

    def load_another(self, name: str, progress: Progress) -> AnyModel:
        if not self.borrows(name):
            return catalog.load_another(self._placed(name), name, progress)
        if not self.on_loan and threading.current_thread() is not threading.main_thread():
            self._spaces.zero.torch.enter_mode()  # imitates CUDA in this thread, as spaces does in the main one
        return self._lent(catalog.load_another(self._placed(name), name, progress))

    def _placed(self, name: str) -> ModelArguments:
        device = self._arguments.device
        return replace(self._arguments, device=device if device != "auto" else "cuda" if self.borrows(name) else "cpu")

    def _lent(self, loaded: AnyModel) -> AnyModel:
        if not isinstance(loaded, LoadedModel):
            return loaded
        self._models[loaded.name] = loaded.model
        return replace(loaded, model=LentModel(loaded.name, loaded.model, self))

    def borrowing(self, decode: DecodeT) -> DecodeT:
        def on_loan(*arguments: Any) -> Any:
            try:
                yield from decode(*arguments)
            except AttendError as error:  # spaces would send its class alone
                yield error

        lent = self._spaces.GPU(duration=self.seconds)(on_loan)

        @wraps(decode)
        def chosen(name: str, *rest: Any) -> Any:
            if not self.borrows(name):
                yield from decode(name, *rest)
                return
            with closing(lent(name, *rest)) as passes:
                for made in passes:
                    if isinstance(made, AttendError):
                        raise made
                    yield made

        return cast(DecodeT, chosen)

    def seconds(
        self, name: str, prompt: Sequence[int], settings: DecodingSettings | Mapping[int, DecodingSettings], *_: Any
    ) -> int:
        """How long a run, or several cards that share passes, may keep the GPU."""
        cards = settings.values() if isinstance(settings, Mapping) else (settings,)
        tokens = max(card.max_new_tokens for card in cards)
        return math.ceil(_STARTING + min(self._run_seconds, tokens * _A_TOKEN))

    def run_pass(self, name: str, method: str, *arguments: Any, **named: Any) -> Any:
        """Call a method of a model on the GPU that takes one pass; its result comes back to the CPU."""
        return (self._pass if self.on_loan else self._pass_on_loan)(name, method, arguments, named)

    def _pass(self, name: str, method: str, arguments: Sequence[Any], named: Mapping[str, Any]) -> Any:
        result = getattr(self.model(name), method)(*arguments, **named)
        return result.cpu() if isinstance(result, Tensor) else _on_cpu(result)

    def model(self, name: str) -> LanguageModel[Any]:
        """A model on the GPU, in a borrowed call; a fork that began before it was loaded loads it itself."""
        if not self.on_loan:
            raise AttendError(f"{name} runs on a borrowed GPU, which can't do this: choose one of Attend's own models.")
        model = self._models.get(name)
        return (
            cast(LoadedModel, catalog.load_another(self._placed(name), name, silent)).model if model is None else model
        )


class LentModel:
    """A model on the GPU that is lent. A run reads and steps it in a borrowed call; to look into a text, it borrows the
    GPU itself. Translators with a choice of languages are not among the catalogue's, which alone a Space offers."""

    def __init__(self, name: str, model: LanguageModel[Any], lender: ZeroGpu) -> None:
        self._name, self._model, self._lender = name, model, lender

    @property
    def vocabulary_size(self) -> int:
        return self._model.vocabulary_size

    @property
    def context_length(self) -> int:
        return self._model.context_length

    @property
    def decoder_start(self) -> tuple[int, ...]:
        return self._model.decoder_start

    @property
    def joinable(self) -> bool:
        return self._model.joinable

    @property
    def layer_count(self) -> int:
        return self._model.layer_count

    def prefill(self, prompt: Sequence[int], *, want: Want = Want()) -> Forward[Any]:
        return self._lender.model(self._name).prefill(prompt, want=want)

    def step(self, tokens: Sequence[int], cache: Any, *, want: Want = Want()) -> Forward[Any]:
        return self._lender.model(self._name).step(tokens, cache, want=want)

    def logits(self, prompt: Sequence[int], tokens: Sequence[int]) -> Tensor:
        return self._lender.run_pass(self._name, "logits", prompt, tokens)

    def inspect(self, tokens: Sequence[int], *, source: Sequence[int] = ()) -> Inspection:
        return self._lender.run_pass(self._name, "inspect", tokens, source=source)


def _on_cpu(inspection: Inspection) -> Inspection:
    weights = inspection.attention
    cross, encoder = (None if part is None else part.cpu() for part in (weights.cross, weights.encoder))
    return Inspection(inspection.logits.cpu(), Attention(weights.decoder.cpu(), cross, encoder))
