"""What commands write besides their text: documents into files, and notes."""

from __future__ import annotations

import sys
from contextlib import AbstractContextManager, nullcontext
from typing import TextIO

from model.errors import AttendError

STDOUT = "-"


def open_document(path: str | None) -> AbstractContextManager[TextIO | None]:
    """The file for a document, opened before the run so that a bad path wastes no run; None without a path."""
    if path is None or path == STDOUT:
        return nullcontext(None if path is None else sys.stdout)
    try:
        return open(path, "w", encoding="utf-8")
    except OSError as error:
        raise AttendError(f"{path} can't be written ({error.strerror}): choose another file for --json.") from error


def note(sentence: str) -> None:
    print(f"Note: {sentence}", file=sys.stderr)
