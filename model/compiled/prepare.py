"""Give a transformer its compiled step, in the precision of its weights or in 8 bits."""

from __future__ import annotations

from typing import TypeVar

import torch

from model import jit
from model.compiled.decoder import CompiledDecoder
from model.compiled.matrix import CompactEmbedding
from model.device import not_in_int8
from model.errors import AttendError
from model.interface import LanguageModel
from model.transformer.decoder import Transformer

ModelT = TypeVar("ModelT", bound=Transformer)

_PRECISIONS = (torch.float32, torch.bfloat16)


def prepare_for_decoding(model: ModelT) -> ModelT:
    """Attach the compiled step to a model on a CPU, in place, and return the model; others stay unchanged.

    Results change by rounding only. A model drops the step when it is moved, cast or given other weights: prepare it
    again then. A model in bfloat16 computes in float32 from now on and only keeps its weights in bfloat16; like a model
    in 8 bits, it can't be prepared again.
    """
    _refuse_compact(model)
    if jit.AVAILABLE and _on_cpu(model) and model.reference.dtype in _PRECISIONS:
        model.compiled = CompiledDecoder(model)
    return model


def quantize(model: LanguageModel) -> Transformer:
    """Round the matrices of our transformer on a CPU to 8 bits, in place.

    Raises `AttendError` for a model of another kind, or if numba is missing.
    """
    check_int8()
    if not isinstance(model, Transformer):
        raise not_in_int8("This model")
    if not _on_cpu(model):
        raise ValueError("the model is on a GPU, and only one on a CPU can be rounded")
    _refuse_compact(model)
    model.compiled = CompiledDecoder(model, quantized=True)
    return model


def check_int8() -> None:
    """Raise `AttendError` if no model can run in 8 bits here."""
    if not jit.AVAILABLE:
        raise AttendError("int8 (8 bits) needs the package numba: run pip install numba, or choose another precision.")


def _refuse_compact(model: Transformer) -> None:
    if isinstance(model.embedding, CompactEmbedding):
        raise ValueError("the model's weights are packed in 16 or 8 bits already: load it again")


def _on_cpu(model: Transformer) -> bool:
    return model.reference.device.type == "cpu"
