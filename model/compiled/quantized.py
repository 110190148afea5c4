"""Weights in 8 bits: a quarter of the memory, and several times the speed where reading them is what takes the time.

Every output of a matrix has a scale of its own; what it is multiplied by is rounded to 8 bits as it comes ("dynamic"
quantisation). The kernels are PyTorch's. Embeddings, norms and attention stay as they are.
"""

from __future__ import annotations

import warnings

import torch
from torch import nn
from torch.ao.quantization import quantize_dynamic
from torch.ao.quantization.qconfig import per_channel_dynamic_qconfig

from model.compiled.prepare import prepare_for_decoding
from model.errors import AttendError
from model.interface import LanguageModel
from model.transformer.decoder import Transformer

_ENGINE = "fbgemm"  # of PyTorch's, the one whose time hardly grows from one row to several


def quantize(model: LanguageModel) -> Transformer:
    """Our transformer on a CPU, its matrices in 8 bits from now on, in place.

    Raises `AttendError` for any other model, and where PyTorch has no such kernels.
    """
    if not isinstance(model, Transformer):
        raise AttendError(
            "This model runs through transformers, but int8 works only for models that run as Attend's own "
            "transformer: choose another --dtype."
        )
    if model.embedding.weight.device.type != "cpu":
        raise AttendError("int8 works only on a CPU: choose another --dtype, or --device cpu.")
    if _ENGINE not in torch.backends.quantized.supported_engines:
        raise AttendError("This build of PyTorch does not support int8: choose another --dtype.")
    torch.backends.quantized.engine = _ENGINE
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # PyTorch points to torchao, whose kernels for a CPU need a compiler
        quantize_dynamic(model, {nn.Linear: per_channel_dynamic_qconfig}, dtype=torch.qint8, inplace=True)
    return prepare_for_decoding(model)
