"""The messages between the page and a replica, as bytes: whole Steps, each with its attention.

Pickle would wrap each tensor in an archive of 600 bytes, which can be as many as the values themselves. Here a tensor
is sent as its raw values, type and shape. Both ends are Attend's own processes; never load bytes from elsewhere.
"""

from __future__ import annotations

import io
import pickle
from typing import Any

import torch


class _Pickler(pickle.Pickler):
    def reducer_override(self, value: Any) -> Any:
        if type(value) is not torch.Tensor:
            return NotImplemented
        values = value.detach().cpu().contiguous()
        return _tensor, (values.view(-1).view(torch.uint8).numpy().tobytes(), value.dtype, tuple(value.shape))


def _tensor(values: bytes, dtype: torch.dtype, shape: tuple[int, ...]) -> torch.Tensor:
    return torch.frombuffer(bytearray(values), dtype=dtype).view(shape) if values else torch.empty(shape, dtype=dtype)


def dumps(value: object) -> bytes:
    """Serialize records of any depth; tensors come back on the CPU."""
    buffer = io.BytesIO()
    _Pickler(buffer, protocol=pickle.HIGHEST_PROTOCOL).dump(value)
    return buffer.getvalue()


def loads(values: bytes) -> Any:
    """The value that `dumps` has serialized."""
    return pickle.loads(values)
