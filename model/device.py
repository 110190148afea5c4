"""The device and precision that a model runs with, and whether it fits there.

Knows nothing of files: callers say how many parameters a model has, and how they are stored.
"""

from __future__ import annotations

import ctypes
import os
import re
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import psutil

from model.errors import AttendError
from model.lazy import torch
from model.progress import in_words

DTYPES = ("float32", "bfloat16", "float16")
INT8 = "int8"  # loaded in float32 and then rounded, see `model.compiled.prepare`
_DEVICE = re.compile(r"auto|cpu|mps|cuda(:\d{1,3})?")
_ALLOCATION = threading.Lock()
_PATIENCE = 600.0  # seconds that a load waits for others
_M_ARENA_MAX = -8  # from glibc's malloc.h
_CONTROL_GROUP = Path("/sys/fs/cgroup")  # the limits of a container, including a Space


@dataclass(frozen=True, slots=True)
class DeviceConfig:
    """Device and precision as a user sets them; "auto" picks the best that this machine has."""

    device: str = "auto"
    dtype: str = "auto"
    spread: bool = True  # whether what does not fit there may be offloaded to slower memory or to the disk

    def __post_init__(self) -> None:
        if not _DEVICE.fullmatch(self.device):
            raise AttendError(f"There is no device {self.device[:80]!r}: choose auto, cpu, cuda, cuda:0 or mps.")
        if self.dtype not in ("auto", INT8, *DTYPES):
            raise AttendError(
                f"There is no dtype {self.dtype[:80]!r}: choose one of auto, {', '.join(DTYPES)}, {INT8}."
            )
        if self.dtype == INT8 and self.device not in ("auto", "cpu"):
            raise AttendError("int8 (8 bits) works only on a CPU: choose another precision, or cpu as the device.")

    def torch_device(self) -> torch.device:
        """The device; `AttendError` for one that this machine does not have.

        "auto" is the first GPU. On a ZeroGPU Space, which lends a GPU only for each run, it is the CPU, since a model
        loaded outside a run could not be used on the GPU. In 8 bits it is the CPU, too: Attend has no 8-bit kernels for
        GPUs.
        """
        count = torch.cuda.device_count() if torch.cuda.is_available() else 0
        if self.device == "auto":
            if self.dtype == INT8 or "SPACES_ZERO_GPU" in os.environ:
                return torch.device("cpu")
            return torch.device("cuda:0" if count else "mps" if torch.backends.mps.is_available() else "cpu")
        kind, _, index = self.device.partition(":")
        if kind == "cuda" and int(index or 0) >= count:  # checked here, since torch only counts to 127
            there = f"only {count} found" if count else "none found"
            raise AttendError(f"PyTorch can't use {self.device} on this machine ({there}): choose another device.")
        if kind == "mps" and not torch.backends.mps.is_available():
            raise AttendError("PyTorch can't use mps on this machine: choose cpu.")
        return torch.device("cuda:0" if self.device == "cuda" else self.device)

    def torch_dtype(self, stored: object) -> torch.dtype:
        """The precision to compute in.

        Args:
            stored: the name of the dtype that the weights are stored in; "auto" keeps half precision on a CUDA GPU, and
                computes in float32 everywhere else, where half precision is slow or inexact.
        """
        if self.dtype == INT8:
            return torch.float32
        if self.dtype != "auto":
            return named_dtype(self.dtype)
        return named_dtype(stored) if self.torch_device().type == "cuda" else torch.float32


def named_dtype(name: object) -> torch.dtype:
    """The dtype of this name; float32 if models are not computed in it."""
    return getattr(torch, str(name)) if name in DTYPES else torch.float32


def free_memory(device: torch.device) -> int:
    """Bytes still free on a device: a GPU's own memory, or this machine's."""
    if device.type == "cuda":
        return torch.cuda.mem_get_info(device)[0]
    free = psutil.virtual_memory().available
    if (limit := _control_group("memory.max")) is None:
        return free
    reclaimable = 0  # the page cache, which the kernel drops when memory is needed
    for line in _control_group_text("memory.stat").splitlines():
        if line.startswith("inactive_file "):
            reclaimable = int(line.split()[1])
    return min(free, max(0, limit - (_control_group("memory.current") or 0) + reclaimable))


def release_freed_memory() -> None:
    """Return freed memory to the system: after a model is loaded, glibc keeps as much as the model takes."""
    if sys.platform == "linux":
        with suppress(AttributeError):  # only glibc has this function
            ctypes.CDLL(None).malloc_trim(0)


def limit_heaps() -> None:
    """Let all threads share two heaps: with one per thread, glibc would keep what a hundred threads have freed."""
    if sys.platform == "linux":
        with suppress(AttributeError):
            ctypes.CDLL(None).mallopt(_M_ARENA_MAX, 2)


def shortage(device: torch.device, needed: int) -> str:
    """Why a device has no room for this many bytes, as the end of a sentence; "" if it has room."""
    free = free_memory(device)
    where = "memory" if device.type == "cpu" else f"memory on {device}"
    return "" if needed <= free else f"needs about {in_words(needed)} of {where}, but only {in_words(free)} is free"


def native_shortage(
    parameters: int, stored: int, device: torch.device, dtype: torch.dtype, *, largest_rounded: int = 0
) -> str:
    """`shortage` for a checkpoint that is loaded as our own transformer, at first in float32.

    Args:
        parameters: how many the model has.
        stored: bytes of its files, which stay in memory while the model is filled from them.
        largest_rounded: parameters of its largest matrix if matrices are rounded to 8 bits, else 0.
    """
    at_first = parameters * torch.float32.itemsize
    if device.type != "cpu":
        return shortage(torch.device("cpu"), at_first + stored) or shortage(device, parameters * dtype.itemsize)
    # Matrices of one kind, up to half of a model, are stacked (`model.compiled.weights`); rounding one copies it four
    # times.
    packing = max(at_first // 2, 4 * largest_rounded * torch.float32.itemsize)
    return shortage(device, at_first + max(stored, packing))


@contextmanager
def allocating() -> Iterator[None]:
    """Let only one model be allocated at a time, since each first measures the free memory.

    Only allocation happens inside, nothing else that a checkpoint can make slow: other models would have to wait.
    """
    if not _ALLOCATION.acquire(timeout=_PATIENCE):
        raise AttendError("Another model has been loading for minutes: try again later, or restart the page.")
    try:
        yield
    finally:
        _ALLOCATION.release()


def not_in_int8(name: str) -> AttendError:
    """The refusal of a model that can't be rounded to 8 bits."""
    return AttendError(
        f"{name} can't run in int8 (8 bits), which works only for models that run as Attend's own transformer: choose "
        "another precision."
    )


def total_memory() -> int:
    """Bytes of memory that this machine, or the container on it, has."""
    total, limit = psutil.virtual_memory().total, _control_group("memory.max")
    return total if limit is None else min(total, limit)


def _control_group(name: str) -> int | None:
    """A number of bytes; None if there is no limit or no control group."""
    text = _control_group_text(name).strip()
    return int(text) if text.isdecimal() else None


def _control_group_text(name: str) -> str:
    try:
        return (_CONTROL_GROUP / name).read_text()
    except OSError:
        return ""
