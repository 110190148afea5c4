"""Gives a transformer its compiled step; results change by rounding only."""

from __future__ import annotations

from typing import TypeVar

import torch

from model import jit
from model.compiled.decoder import CompiledDecoder
from model.transformer.decoder import Transformer

ModelT = TypeVar("ModelT", bound=Transformer)


def prepare_for_decoding(model: ModelT) -> ModelT:
    """Attach the compiled step to a model in float32 on a CPU, in place, and return it; any other stays as it is.

    A model drops it when it is moved, cast or given other weights: prepare it again then.
    """
    like = model.embedding.weight
    if jit.AVAILABLE and like.device.type == "cpu" and like.dtype == torch.float32:
        model.compiled = CompiledDecoder(model)
    return model
