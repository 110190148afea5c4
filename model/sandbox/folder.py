"""Checks a checkpoint folder before anything in it is loaded: the kinds, sizes and places of its files, and its
tokenizer."""

from __future__ import annotations

import math
import os
import stat
import time
from contextlib import closing
from pathlib import Path

from model.errors import AttendError
from model.sandbox.process import NotStarted, OutOfBounds, OutOfMemory, Refused, Sandbox

_MAX_BYTES = 500_000_000  # in a file that is read as a whole
_WEIGHTS = (".safetensors", ".gguf", ".bin", ".pt", ".pth", ".ckpt", ".h5", ".msgpack", ".onnx")  # these may be larger
_PIECES = ("tokenizer.model", "spiece.model", "sentencepiece.bpe.model", "source.spm", "target.spm")
_TOKENIZERS = ("tokenizer.json", *_PIECES)
_VOCABULARIES = ("tokenizer", "vocab", "merges", "added_tokens", "special_tokens", *_PIECES)  # beginnings of names
_VOCABULARY_BYTES, _TOKEN_BYTES = 8_000_000, 1_000  # in a file; published ones have 60 to 250 per token
_TEMPLATES = "additional_chat_templates"  # the only folder in it that is read
_SECONDS = 60.0  # for loading all tokenizers and encoding some texts; the largest take one or two


def check_folder(folder: Path) -> None:
    """Raise `AttendError` for a file that is not regular, too large or elsewhere."""
    home = _home(folder)
    _check_files(folder, home)
    if (folder / _TEMPLATES).is_dir():
        _check_files(folder / _TEMPLATES, home)


def check_link(path: Path) -> None:
    """Raise `AttendError` for a file of a checkpoint folder that is a link to something outside it."""
    _check_place(path, _home(path.parent))


def _home(folder: Path) -> Path:
    """Where the files of a folder may be: in the folder and, of the Hub's cache, in the repository, which links to
    them as snapshots/REVISION/FILE → blobs/CHECKSUM."""
    home = folder.resolve()
    repository = home.parent.parent
    return repository if home.parent.name == "snapshots" and repository.name.startswith("models--") else home


def _check_place(path: Path, home: Path) -> None:
    if not path.resolve().is_relative_to(home):
        raise AttendError(
            f"{path} is a link to a file outside the checkpoint's folder, so it is never read: put a copy of the file "
            "in its place."
        )


def _check_files(folder: Path, home: Path) -> None:
    for path in _entries(folder):
        if not path.exists():  # a broken link
            continue
        status = path.stat()
        directory = stat.S_ISDIR(status.st_mode)
        if not directory and not stat.S_ISREG(status.st_mode):
            raise AttendError(f"{path} is not a regular file, so it is never read: remove it from the folder.")
        _check_place(path, home)
        if directory:
            continue
        if status.st_size > _MAX_BYTES and not path.name.endswith(_WEIGHTS):
            raise AttendError(
                f"{path} has {status.st_size:,} bytes, but apart from the weights no file of a checkpoint may have "
                f"more than {_MAX_BYTES:,}: copy the folder again, or remove the file."
            )


def _entries(folder: Path) -> list[Path]:
    try:
        with os.scandir(folder) as entries:
            return [Path(entry.path) for entry in entries]
    except OSError as error:
        raise AttendError(f"{folder} can't be read ({error.strerror}): choose another folder.") from error


def try_out_tokenizers(folder: Path, *, tokens: int | None = None, ends: float = math.inf) -> None:
    """Raise `AttendError` for a vocabulary that is too large for its model, and for a tokenizer that crashes or hangs.

    Args:
        tokens: how many tokens the model has by its config.
        ends: by the monotonic clock, when all have to have been tried out.
    """
    ends = min(ends, time.monotonic() + _SECONDS)
    for path in _entries(folder):
        size = path.stat().st_size if path.name.startswith(_VOCABULARIES) and path.is_file() else 0
        if tokens is not None and size > _VOCABULARY_BYTES + _TOKEN_BYTES * tokens:
            raise AttendError(
                f"{path} has {size:,} bytes, which is too much for the {tokens:,} tokens of its model: they belong to "
                "different checkpoints."
            )
    for path in (folder / name for name in _TOKENIZERS):
        if not path.is_file():
            continue
        try:
            with closing(Sandbox("tokenizer", seconds=_SECONDS)) as process:  # each opens one file
                process.answer(str(path.absolute()), ends=ends)
        except NotStarted as error:
            raise AttendError(f"{path} was not tried out, since {error}.") from error
        except (OutOfBounds, OutOfMemory) as error:
            raise AttendError(
                f"{path} crashed or took too long when it was tried out: copy the checkpoint folder again, or choose "
                "another model."
            ) from error
        except Refused:  # whoever loads the file next reports it
            pass
