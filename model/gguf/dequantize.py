"""Reads tensors of a GGUF file as float32, one at a time, with the `gguf` package."""

from __future__ import annotations

import numpy as np
from gguf.constants import GGML_QUANT_SIZES
from gguf.quants import dequantize
from numpy.typing import NDArray

from model.errors import AttendError
from model.gguf.header import GgufHeader


def read_tensor(header: GgufHeader, name: str) -> NDArray[np.float32]:
    """The tensor in its shape; `AttendError` if the file is no longer what its header said."""
    tensor = header.tensors[name]
    try:
        stored = np.fromfile(header.path, np.uint8, tensor.size, offset=tensor.start)
    except OSError as error:
        raise AttendError(f"{header.path} can't be read ({error.strerror}): choose another file.") from error
    if stored.size < tensor.size:
        raise AttendError(f"{header.path} became shorter while it was read: download it again.")
    rows = stored.reshape(-1, tensor.row_bytes)
    return dequantize(rows, tensor.quantization).reshape(tensor.shape)


def check_quantizations(header: GgufHeader, name: str) -> None:
    """Refuse a file with a tensor that can't be dequantized, before any of them is.

    Args:
        name: what the message calls the model.
    """
    for quantization in {tensor.quantization for tensor in header.tensors.values()}:
        _, block_bytes = GGML_QUANT_SIZES[quantization]
        try:
            dequantize(np.zeros((1, block_bytes), np.uint8), quantization)
        except NotImplementedError as error:
            raise AttendError(
                f"{name} stores weights as {quantization.name}, which can't be dequantized: choose another "
                "quantization of the model, such as Q4_K_M or Q8_0."
            ) from error
