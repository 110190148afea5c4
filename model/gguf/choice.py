"""Which of several GGUF files is meant: chosen by its name or, as in llama.cpp and Ollama, by its quantization.

Imports nothing slow: names are resolved before anything is loaded.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from model.errors import AttendError

_SUFFIX = ".gguf"
_PART = re.compile(r"-\d{5}-of-\d{5}\.gguf", re.IGNORECASE)
_MAX_NAMED = 12  # files in a message


def is_gguf(name: str) -> bool:
    """Whether a file is GGUF by its name."""
    return name.lower().endswith(_SUFFIX)


def without_suffix(name: str) -> str:
    """What people call the model in a file."""
    return name[: -len(_SUFFIX)] if is_gguf(name) else name


def choose(files: Iterable[str], wanted: str, where: str, way_out: str) -> str:
    """The one file that is meant; vision projectors and parts of split models don't count.

    Args:
        files: the names of GGUF files.
        wanted: the name of one, a quantization such as Q4_K_M, or "" for the only one.
        where: what holds them, in messages.
        way_out: how to name one of several, as the end of a sentence.

    Raises `AttendError` if no file fits, or more than one.
    """
    all_files = sorted(files)
    whole = [name for name in all_files if not _PART.search(name) and "mmproj" not in name.lower()]
    if not whole and any(map(_PART.search, all_files)):
        raise AttendError(
            f"{where} holds only models that were split into several files ({all_files[0]}): join them with "
            "llama-gguf-split --merge, or choose one in a single file."
        )
    if not whole and all_files:
        raise AttendError(f"{where} holds only a vision projector ({all_files[0]}): choose a language model.")
    matches = [name for name in whole if not wanted or _fits(name, wanted)]
    if len(matches) == 1:
        return matches[0]
    listed = ", ".join((matches or whole)[:_MAX_NAMED]) + (", …" if len(matches or whole) > _MAX_NAMED else "")
    if matches:
        raise AttendError(f"{where} holds several GGUF files ({listed}): {way_out}.")
    raise AttendError(f"{where} has no GGUF file {wanted}" + (f", only {listed}: {way_out}." if whole else "."))


def _fits(name: str, wanted: str) -> bool:
    """Whether a file has this name, or this quantization at the end of it, such as …-Q4_K_M.gguf or ….q4_k_m.gguf."""
    quantization = re.search(r"(?:^|[-.])([^-.]+)$", without_suffix(name))
    return name == wanted or (quantization is not None and quantization[1].lower() == wanted.lower())
