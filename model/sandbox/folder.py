"""Checks a checkpoint folder before anything in it is read: what its files are, and what its tokenizer does."""

from __future__ import annotations

import os
import stat
from contextlib import suppress
from pathlib import Path

from model.errors import AttendError
from model.sandbox.process import OutOfBounds, Refused, Sandbox

_MOST_BYTES = 500_000_000  # of a file that is read whole
_WEIGHTS = (".safetensors", ".gguf", ".bin", ".pt", ".pth", ".ckpt", ".h5", ".msgpack", ".onnx")  # those are not
_TOKENIZERS = ("tokenizer.json", "tokenizer.model", "spiece.model", "source.spm", "target.spm")
_SECONDS = 60.0  # that a tokenizer may take for some short texts; the largest take one or two, most of it to be read


def check_folder(folder: Path) -> None:
    """`AttendError` for what is no regular file or too large, and for a tokenizer that crashes or hangs."""
    for path in _entries(folder):
        status = path.stat() if path.exists() else None  # a link may lead nowhere
        if status is None or stat.S_ISDIR(status.st_mode):
            continue
        if not stat.S_ISREG(status.st_mode):
            raise AttendError(f"{path} is not a regular file, so it is never read: remove it from the folder.")
        if status.st_size > _MOST_BYTES and not path.name.endswith(_WEIGHTS):
            raise AttendError(
                f"{path} has {status.st_size:,} bytes, but besides the weights no file of a checkpoint may have more "
                f"than {_MOST_BYTES:,}: copy the folder again, or remove it."
            )
    _try_out(folder)


def _entries(folder: Path) -> list[Path]:
    try:
        with os.scandir(folder) as entries:
            return [Path(entry.path) for entry in entries]
    except OSError as error:
        raise AttendError(f"{folder} can't be read ({error.strerror}): choose another folder.") from error


def _try_out(folder: Path) -> None:
    sandbox = Sandbox("tokenizer", seconds=_SECONDS)
    for path in (folder / name for name in _TOKENIZERS):
        if not path.is_file():
            continue
        try:
            with suppress(Refused):  # in a sentence of whoever reads the file next
                sandbox.answer(str(path.absolute()))
        except OutOfBounds as error:
            raise AttendError(
                f"{path} crashed or took too long when it was tried out: copy the checkpoint folder again, or choose "
                "another model."
            ) from error
