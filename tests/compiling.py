"""Compiles what the models run, once for all processes of the tests and the programs that they start; they read it from
the disk.

`python -m tests.compiling` does so beside them.
"""

from __future__ import annotations

from pathlib import Path

import torch
from filelock import FileLock

from decoding.recorder import record_text
from model import catalog
from model.arguments import DEFAULT
from model.device import DeviceConfig

DTYPES = ("float32", "int8", "bfloat16")  # the first is what nearly every test needs
_LOCKS = Path(__file__).with_name("__pycache__")  # of this checkout: each has compiled functions of its own


def compile_for(*dtypes: str) -> None:
    """Compile for these precisions one after the other, or wait for the process that does, and read the result."""
    record_text([0], torch.zeros(1, 2), 1)
    _LOCKS.mkdir(exist_ok=True)
    for dtype in dtypes:
        with FileLock(_LOCKS / f"{dtype}.lock"):
            catalog.load(DEFAULT, device_config=DeviceConfig("cpu", dtype))


if __name__ == "__main__":
    compile_for(*DTYPES)
