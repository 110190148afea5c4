"""A machine that leases its GPU for one call at a time: a ZeroGPU Space.

A leased call runs in a fork of this process; its arguments and its results are pickled. Outside a lease, CUDA is only
emulated: a model can be moved there, but not run. So the embedded models stay on the CPU, where all their runs share
passes and need no lease. A larger model is moved to `cuda` once, when it is loaded, and each of its runs leases the GPU
for no longer than the run can take, since short leases start sooner.

This follows version 0.51 of `spaces`, whose GPUs exist on Spaces only.
"""

from __future__ import annotations

import math
import os
import threading
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from typing import Any, cast
from weakref import WeakValueDictionary

from torch import Tensor

from decoding.call import Decode, DecodeCall, Passes
from model import catalog, names
from model.arguments import ModelArguments
from model.device import INT8
from model.errors import AttendError
from model.interface import Attention, Forward, Inspection, LanguageModel, Want
from model.loaded import LoadedModel
from model.progress import Progress, silent
from model.text.languages import unmarked
from ui.runs.models.model_cache import AnyModel
from ui.server.machine import Machine

_START_SECONDS = 10.0  # until the fork has started and its weights are on the GPU
_SECONDS_PER_TOKEN = 0.1  # several times what a model of 1.5 billion parameters takes
_PASS_SECONDS = 15  # of a lease for a single pass


class ZeroGpu(Machine):
    """Which models lease the GPU, and for how long."""

    def __init__(self, arguments: ModelArguments, spaces: Any, run_seconds: float) -> None:
        """
        Args:
            spaces: the module of that name, which must have been imported before torch.
            run_seconds: the time limit of a run.
        """
        super().__init__(arguments)
        self._spaces, self._run_seconds = spaces, run_seconds
        self._main_process = os.getpid()
        self._models = WeakValueDictionary[str, Any]()  # those on the GPU, by name
        self._leased_pass = spaces.GPU(duration=_PASS_SECONDS)(self._pass)

    def needs_gpu_lease(self, name: str) -> bool:
        """Whether a model of this name runs on the GPU.

        The embedded models don't, and no model does in 8 bits or if the command line names a device.
        """
        plain, dtype = names.without_precision(unmarked(name)[0])
        small = plain in names.embedded() or (dtype or self._arguments.dtype) == INT8
        return self._arguments.device == "auto" and not small

    @property
    def in_lease(self) -> bool:
        """Whether this process is the fork of a leased call."""
        return os.getpid() != self._main_process

    def load_first(self) -> LoadedModel:
        loaded = catalog.load_arguments(self._arguments_for(self._arguments.name))
        return cast(LoadedModel, self._leased(loaded)) if self.needs_gpu_lease(loaded.name) else loaded

    def load_another(self, name: str, progress: Progress) -> AnyModel:
        if not self.needs_gpu_lease(name):
            return catalog.load_another(self._arguments_for(name), name, progress)
        if not self.in_lease and threading.current_thread() is not threading.main_thread():
            self._spaces.zero.torch.enter_mode()  # emulates CUDA in this thread, as spaces does in the main one
        return self._leased(catalog.load_another(self._arguments_for(name), name, progress))

    def _arguments_for(self, name: str) -> ModelArguments:
        if self._arguments.device != "auto":
            return self._arguments
        return replace(self._arguments, device="cuda" if self.needs_gpu_lease(name) else "cpu")

    def _leased(self, loaded: AnyModel) -> AnyModel:
        if not isinstance(loaded, LoadedModel):
            return loaded
        self._models[loaded.name] = loaded.model
        return replace(loaded, model=LeasedModel(loaded.name, loaded.model, self))

    def with_gpu_lease(self, decode: Decode) -> Decode:
        def with_errors(call: DecodeCall) -> Any:
            try:
                yield from decode(call)
            except AttendError as error:  # spaces would only send the name of its class
                yield error

        leased = self._spaces.GPU(duration=self.duration)(with_errors)

        def leased_if_needed(call: DecodeCall) -> Passes:
            if not self.needs_gpu_lease(call.model):
                yield from decode(call)
                return
            with closing(leased(call)) as passes:
                for item in passes:
                    if isinstance(item, AttendError):
                        raise item
                    yield item

        return leased_if_needed

    def duration(self, call: DecodeCall) -> int:
        """Seconds for which a call may keep the GPU."""
        tokens = max(settings.max_new_tokens for settings in call.settings)
        return math.ceil(_START_SECONDS + min(self._run_seconds, tokens * _SECONDS_PER_TOKEN))

    def run_pass(self, name: str, method: str, *arguments: Any, **named: Any) -> Any:
        """Call a method of a model on the GPU that takes a single pass, and return its result on the CPU."""
        return (self._pass if self.in_lease else self._leased_pass)(name, method, arguments, named)

    def _pass(self, name: str, method: str, arguments: Sequence[Any], named: Mapping[str, Any]) -> Any:
        result = getattr(self.model(name), method)(*arguments, **named)
        return result.cpu() if isinstance(result, Tensor) else _on_cpu(result)

    def model(self, name: str) -> LanguageModel[Any]:
        """A model on the GPU, in a leased call. A fork that started before the model was loaded loads it itself."""
        if not self.in_lease:
            raise AttendError(f"{name} runs on a shared GPU, which can't do this: choose one of Attend's own models.")
        model = self._models.get(name)
        if model is None:
            model = cast(LoadedModel, catalog.load_another(self._arguments_for(name), name, silent)).model
        return model


class LeasedModel:
    """A model on the leased GPU. Runs call it within their lease; to inspect a text, it leases the GPU itself.

    It has no `with_decoder_start`, since no translator in the catalogue, which is all a Space offers, lets visitors
    choose languages.
    """

    def __init__(self, name: str, model: LanguageModel[Any], zero_gpu: ZeroGpu) -> None:
        self._name, self._zero_gpu = name, zero_gpu
        self._model = model  # never read, but it keeps the model in memory, which `ZeroGpu` itself doesn't
        self.vocabulary_size, self.context_length = model.vocabulary_size, model.context_length
        self.source_length: int = getattr(model, "source_length", model.context_length)
        self.decoder_start, self.joinable, self.layer_count = model.decoder_start, model.joinable, model.layer_count

    def prefill(self, prompt: Sequence[int], *, want: Want = Want()) -> Forward[Any]:
        return self._zero_gpu.model(self._name).prefill(prompt, want=want)

    def step(self, tokens: Sequence[int], cache: Any, *, want: Want = Want()) -> Forward[Any]:
        return self._zero_gpu.model(self._name).step(tokens, cache, want=want)

    def logits(self, prompt: Sequence[int], tokens: Sequence[int]) -> Tensor:
        return self._zero_gpu.run_pass(self._name, "logits", prompt, tokens)

    def inspect(self, tokens: Sequence[int], *, source: Sequence[int] = ()) -> Inspection:
        return self._zero_gpu.run_pass(self._name, "inspect", tokens, source=source)


def _on_cpu(inspection: Inspection) -> Inspection:
    weights = inspection.attention
    cross, encoder = (None if part is None else part.cpu() for part in (weights.cross, weights.encoder))
    return Inspection(inspection.logits.cpu(), Attention(weights.decoder.cpu(), cross, encoder))
