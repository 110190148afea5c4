"""What travels between the page and a replica, as bytes: whole Steps, each with its attention.

Pickle alone would send a tensor as an archive of its own, 600 bytes around as many of weights. Here a tensor is its raw
values, its type and its shape. Both ends are Attend's own processes; bytes from anywhere else must never come here.
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
    """Records of any depth; the tensors in them come back on the CPU, as they are recorded."""
    written = io.BytesIO()
    _Pickler(written, protocol=pickle.HIGHEST_PROTOCOL).dump(value)
    return written.getvalue()


def loads(values: bytes) -> Any:
    """What `dumps` was given."""
    return pickle.loads(values)
