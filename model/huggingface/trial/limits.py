"""Reads a stranger's checkpoint, except for its weights, first in a process with limits on time and memory.

What a config, a tokenizer or a header makes a library compute can't be foreseen: converting a vocabulary takes time
that grows with the square of its longest token, and a config may ask for a billion labels. So that process does
everything that loading does before it reads weights, in every format, and then encodes some texts (`reading.py`). It
also compares our own transformer with transformers (`comparison.py`), since it has imported both. Only then does this
process do the same, which takes about as long.
"""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

from model.errors import AttendError
from model.sandbox.process import NotStarted, OutOfBounds, Refused, Sandbox

SECONDS = 60.0  # the time limit of a trial


def try_out(path: Path, name: str, ends: float, engine: str = "auto") -> None:
    """Raise `AttendError` for a folder in Hugging Face's layout or a GGUF file that can't be read within the limits.

    Args:
        name: what messages call the model.
        ends: by the monotonic clock, when the trial must be over.
        engine: what will run it; see `model.huggingface.folder.load_model`.
    """
    try:
        with closing(Sandbox(f"{__package__}.reading", seconds=SECONDS)) as process:
            refusal = process.answer({"path": str(path.absolute()), "name": name, "engine": engine}, ends=ends)
    except Refused as error:
        raise AttendError(f"{name} can't be read ({error}): choose another model.") from error
    except NotStarted as error:
        raise AttendError(f"{name} was not tried out, since {error}.") from error
    except OutOfBounds as error:
        raise AttendError(
            f"{name} crashed or took too long when it was tried out without its weights: copy it again, or choose "
            "another model."
        ) from error
    if refusal is not None:
        raise AttendError(refusal if name in refusal else f"{name} can't be read: {refusal}")
