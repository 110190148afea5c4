"""Checks a checkpoint folder before anything in it is loaded: the kinds and sizes of its files, and its tokenizer."""

from __future__ import annotations

import os
import stat
from contextlib import suppress
from pathlib import Path

from model.errors import AttendError
from model.sandbox.process import OutOfBounds, Refused, Sandbox

_MOST_BYTES = 500_000_000  # of a file that is read as a whole
_WEIGHTS = (".safetensors", ".gguf", ".bin", ".pt", ".pth", ".ckpt", ".h5", ".msgpack", ".onnx")  # these may be larger
_TOKENIZERS = ("tokenizer.json", "tokenizer.model", "spiece.model", "source.spm", "target.spm")
_SECONDS = 60.0  # for loading a tokenizer and encoding some texts; the largest take one or two


def check_folder(folder: Path) -> None:
    """`AttendError` for a file that is not regular or too large, and for a tokenizer that crashes or hangs."""
    for path in _entries(folder):
        status = path.stat() if path.exists() else None  # a broken link
        if status is None or stat.S_ISDIR(status.st_mode):
            continue
        if not stat.S_ISREG(status.st_mode):
            raise AttendError(f"{path} is not a regular file, so it is never read: remove it from the folder.")
        if status.st_size > _MOST_BYTES and not path.name.endswith(_WEIGHTS):
            raise AttendError(
                f"{path} has {status.st_size:,} bytes, but apart from the weights no file of a checkpoint may have "
                f"more than {_MOST_BYTES:,}: copy the folder again, or remove the file."
            )
    _try_out(folder)


def _entries(folder: Path) -> list[Path]:
    try:
        with os.scandir(folder) as entries:
            return [Path(entry.path) for entry in entries]
    except OSError as error:
        raise AttendError(f"{folder} can't be read ({error.strerror}): choose another folder.") from error


def _try_out(folder: Path) -> None:
    for path in (folder / name for name in _TOKENIZERS):
        if not path.is_file():
            continue
        try:
            with suppress(Refused):  # whoever loads the file next reports it
                Sandbox("tokenizer", seconds=_SECONDS).answer(str(path.absolute()))  # each opens one file
        except OutOfBounds as error:
            raise AttendError(
                f"{path} crashed or took too long when it was tried out: copy the checkpoint folder again, or choose "
                "another model."
            ) from error
