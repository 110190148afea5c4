"""One text tokenized in several ways: the pieces, their ids, and the text that the ids decode to.

The ways are rules and tokenizers; which tokenizers are available is in `lesson/tokenizers.py`.
"""

from __future__ import annotations

import sys
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass
from itertools import groupby

from model.text.tokenizer import TextTokenizer, check_whole


@dataclass(frozen=True, slots=True)
class Tokenization:
    """A text in pieces."""

    pieces: tuple[str, ...]  # for display
    ids: tuple[int, ...]
    vocabulary_size: int  # how many ids there are
    joined: str  # the decoded ids


def words_of(text: str) -> list[str]:
    """Words and, each by itself, all signs between them: letters, marks, digits and low lines make a word; white space
    only parts."""
    runs = ((kind, "".join(run)) for kind, run in groupby(text, _in_word))
    return [piece for in_word, run in runs for piece in ([run] if in_word else run) if not piece.isspace()]


def _in_word(character: str) -> bool:
    return character == "_" or unicodedata.category(character)[0] in "LMN"


def by_words(text: str) -> Tokenization:
    """Ids in the order in which words first appear, so they are only valid for this text."""
    check_whole(text)
    pieces = words_of(text)
    id_of = {piece: number for number, piece in enumerate(dict.fromkeys(pieces))}
    return Tokenization(tuple(pieces), tuple(id_of[piece] for piece in pieces), len(id_of), " ".join(pieces))


def by_characters(text: str) -> Tokenization:
    """Unicode's code points are both pieces and ids."""
    check_whole(text)
    return Tokenization(tuple(text), tuple(map(ord, text)), sys.maxunicode + 1, text)


def by_bytes(text: str) -> Tokenization:
    """The bytes of UTF-8, written as two hexadecimal digits."""
    check_whole(text)
    encoded = text.encode()
    return Tokenization(tuple(f"{byte:02X}" for byte in encoded), tuple(encoded), 256, text)


def by_tokenizer(tokenizer: TextTokenizer, text: str) -> Tokenization:
    """The tokens that a model reads, without special tokens around them; `AttendError` if the text can't be encoded."""
    ids = tokenizer.encode(text, begins=True)
    pieces = tuple(tokenizer.label(piece) for piece in ids)
    return Tokenization(pieces, tuple(ids), tokenizer.vocabulary_size, tokenizer.decode(ids, begins=True))


_UNSEEN: dict[str, Callable[[str], str]] = {  # what is lost → the text without it
    "white space": lambda text: "".join(text.split()),
    "capitals": str.lower,
    "accents": lambda text: "".join(
        part for part in unicodedata.normalize("NFD", text) if not unicodedata.combining(part)
    ),
}


def lost(text: str, joined: str) -> tuple[str, ...]:
    """What decoding lost: white space, capitals, accents; where other characters are lost, too, capitals and accents
    only if none is left. Empty for an exact text."""

    def differs(*unseen: str) -> bool:
        was, now = text, joined
        for kind in unseen:
            was, now = _UNSEEN[kind](was), _UNSEEN[kind](now)
        return was != now

    if differs(*_UNSEEN):
        none_left = (kind for kind in ("capitals", "accents") if joined and _UNSEEN[kind](joined) == joined)
        return (*(kind for kind in none_left if _UNSEEN[kind](text) != text), "some characters")
    return tuple(kind for kind in _UNSEEN if differs(*(other for other in _UNSEEN if other != kind)))
