"""One text cut in several ways: the pieces, their ids, and what the ids say when they are joined again.

It knows ways of cutting, by rules and by tokenizers; which tokenizers there are is in `lesson/tokenizers.py`.
"""

from __future__ import annotations

import sys
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass
from itertools import groupby

from model.text import TextTokenizer, check_whole


@dataclass(frozen=True, slots=True)
class Cut:
    """A text in pieces."""

    pieces: tuple[str, ...]  # as people read them
    ids: tuple[int, ...]
    vocabulary_size: int  # how many ids there are
    joined: str  # what the ids say


def words_of(text: str) -> list[str]:
    """Words and, each by itself, all signs between them: letters, marks, digits and low lines make a word; white space
    only parts."""
    runs = ((kind, "".join(run)) for kind, run in groupby(text, _in_word))
    return [piece for in_word, run in runs for piece in ([run] if in_word else run) if not piece.isspace()]


def _in_word(character: str) -> bool:
    return character == "_" or unicodedata.category(character)[0] in "LMN"


def by_words(text: str) -> Cut:
    """Ids in the order in which words first appear, so they hold for this text alone."""
    check_whole(text)
    pieces = words_of(text)
    id_of = {piece: number for number, piece in enumerate(dict.fromkeys(pieces))}
    return Cut(tuple(pieces), tuple(id_of[piece] for piece in pieces), len(id_of), " ".join(pieces))


def by_characters(text: str) -> Cut:
    """Unicode's code points are pieces and ids at once."""
    check_whole(text)
    return Cut(tuple(text), tuple(map(ord, text)), sys.maxunicode + 1, text)


def by_bytes(text: str) -> Cut:
    """Bytes of UTF-8, written as two hexadecimal digits."""
    check_whole(text)
    encoded = text.encode()
    return Cut(tuple(f"{byte:02X}" for byte in encoded), tuple(encoded), 256, text)


def by_tokenizer(tokenizer: TextTokenizer, text: str) -> Cut:
    """As a model is given a text, without the control tokens around it; `AttendError` where it cannot be told it."""
    ids = tokenizer.encode(text, begins=True)
    pieces = tuple(tokenizer.label(piece) for piece in ids)
    return Cut(pieces, tuple(ids), tokenizer.vocabulary_size, tokenizer.decode(ids, begins=True))


_UNSEEN: dict[str, Callable[[str], str]] = {  # what is lost → a text that never had it
    "white space": lambda text: "".join(text.split()),
    "capitals": str.lower,
    "accents": lambda text: "".join(
        one for one in unicodedata.normalize("NFD", text) if not unicodedata.combining(one)
    ),
}


def lost(text: str, joined: str) -> tuple[str, ...]:
    """What did not come back: white space, capitals, accents; where others did not either, capitals and accents only if
    none came back. Nothing of an exact text."""

    def differs(*unseen: str) -> bool:
        was, now = text, joined
        for kind in unseen:
            was, now = _UNSEEN[kind](was), _UNSEEN[kind](now)
        return was != now

    if differs(*_UNSEEN):
        none_left = (kind for kind in ("capitals", "accents") if joined and _UNSEEN[kind](joined) == joined)
        return (*(kind for kind in none_left if _UNSEEN[kind](text) != text), "some characters")
    return tuple(kind for kind in _UNSEEN if differs(*(other for other in _UNSEEN if other != kind)))
