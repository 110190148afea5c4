"""What commands write besides their text: documents into files, and notes."""

from __future__ import annotations

import json
import os
import stat
import sys
from contextlib import AbstractContextManager, nullcontext
from typing import TextIO

from model.errors import AttendError

STDOUT = "-"


def open_document(path: str | None) -> AbstractContextManager[TextIO | None]:
    """The file for a document, opened before the run so that a bad path wastes no run; None without a path.

    An existing file keeps what it holds until `write_document`, since the model or the run may fail before.
    """
    if path is None or path == STDOUT:
        return nullcontext(None if path is None else sys.stdout)
    try:
        return open(path, "w", encoding="utf-8", opener=_open_whole)
    except OSError as error:
        raise AttendError(f"{path} can't be written ({error.strerror}): choose another file for --json.") from error


def write_document(file: TextIO, document: object) -> None:
    """Write a document as JSON, in place of what the file holds."""
    if file is not sys.stdout and stat.S_ISREG(os.fstat(file.fileno()).st_mode):  # a pipe holds nothing
        file.truncate(0)
    print(json.dumps(document, ensure_ascii=False), file=file, flush=True)


def _open_whole(path: str, flags: int) -> int:
    return os.open(path, flags & ~os.O_TRUNC, 0o666)


def note(sentence: str) -> None:
    print(f"Note: {sentence}", file=sys.stderr)
