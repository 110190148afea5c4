"""What a person should know about a tokenizer: which parts of a text it doesn't keep, and what it can't read."""

from __future__ import annotations

import string

from model.errors import AttendError
from model.text.tokenizer import TextTokenizer

_INEXACT = (
    "This model's tokenizer doesn't keep every space and capital letter, so a text may not come back exactly as it was "
    "written."
)
_KEPT = {
    "spaces at the beginning of a text": "  a",
    "spaces at the end": "a  ",
    "several spaces in a row": "a   a",
    "line breaks": "a\r\n\na",
    "tabs": "a\ta",
}
_READ = (*string.punctuation, *string.ascii_letters, *string.digits, *"éßяωعहあ你가🙂")
_MAX_NAMED = 12


def tokenizer_notes(tokenizer: TextTokenizer, unknown: int | None, *, exact: bool = True) -> tuple[str, ...]:
    """Sentences about a tokenizer, found by trying it.

    Args:
        unknown: the token for text that the vocabulary lacks.
        exact: False if its tokens are known not to be the exact text.
    """
    kept = _lost(tokenizer, unknown) if exact else _INEXACT
    return tuple(sentence for sentence in (kept, _unreadable(tokenizer, unknown)) if sentence)


def _lost(tokenizer: TextTokenizer, unknown: int | None) -> str:
    if unknown in (_ids(tokenizer, "a") or [unknown]):
        return ""  # such texts have nothing to show
    lost = [what for what, text in _KEPT.items() if tokenizer.decode(_ids(tokenizer, text) or [], begins=True) != text]
    if not lost:
        return ""
    listed = " and ".join(filter(None, (", ".join(lost[:-1]), lost[-1])))
    return f"This model's tokenizer doesn't keep {listed}, so a text may not come back exactly as it was written."


def _unreadable(tokenizer: TextTokenizer, unknown: int | None) -> str:
    read = {character: _ids(tokenizer, character) for character in _READ}
    if unknown is None:
        characters = [character for character, ids in read.items() if ids == []]
        fate = "are left out of what it reads"
    else:
        characters = [character for character, ids in read.items() if ids and unknown in ids]
        fate = f"reach it as {tokenizer.label(unknown)}"
    if not characters:
        return ""
    listed = " ".join(characters[:_MAX_NAMED])
    return f"This model can't read every character: those that its vocabulary lacks, such as {listed}, {fate}."


def _ids(tokenizer: TextTokenizer, text: str) -> list[int] | None:
    """The ids of a text; None if the tokenizer refuses it."""
    try:
        return tokenizer.encode(text, begins=True)
    except AttendError:
        return None
