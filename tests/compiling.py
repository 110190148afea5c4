"""Compiles what the models run, once for all processes of the tests and the programs that they start; they read it from
the disk.

`python -m tests.compiling` does so beside them.
"""

from __future__ import annotations

import tempfile
from contextlib import suppress
from pathlib import Path

import torch
from filelock import FileLock, Timeout

from decoding.recorder import record_text
from model import catalog
from model.arguments import DEFAULT
from model.device import DeviceConfig

DTYPES = ("float32", "int8", "bfloat16")
_LOCK = "attend-tests-{}.lock"


def compile_all() -> None:
    """First what no other process is compiling, then whatever they have not finished."""
    for timeout in (0, -1):
        for dtype in DTYPES:
            with suppress(Timeout), FileLock(Path(tempfile.gettempdir(), _LOCK.format(dtype)), timeout):
                catalog.load(DEFAULT, device_config=DeviceConfig("cpu", dtype))
    record_text([0], torch.zeros(1, 2), 1)


if __name__ == "__main__":
    compile_all()
