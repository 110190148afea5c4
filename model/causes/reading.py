"""Texts as a model reads them: their ids, their words, the tokens that people name. Runs no model."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from model.causes.records import Named
from model.errors import AttendError
from model.limits import check_length

if TYPE_CHECKING:
    from model.inspection.words import Span
    from model.loaded import LoadedModel
    from model.text.tokenizer import TextTokenizer

Text = str | Sequence[int]  # or its ids, control tokens included, which are taken as they are


class Tokenized(NamedTuple):
    """The ids of a text."""

    ids: tuple[int, ...]  # the decoder's
    source: tuple[int, ...]  # an encoder's


def read(loaded: LoadedModel, text: Text, source: Text = "", *, max_tokens: int = 2**20) -> Tokenized:
    """The ids of a text, and of an encoder's source; `AttendError` for what the model can't read."""
    start = tuple(loaded.model.decoder_start)
    if start and not source:
        raise AttendError(f"{loaded.name} is a translator: give the source text as well.")
    if source and not start:
        raise AttendError(f"{loaded.name} has no encoder: leave the source out.")
    encoded = tuple(source) if not isinstance(source, str) else loaded.prompt(source) if source else ()
    if not isinstance(text, str):
        ids = tuple(text)
    elif start:
        ids = (*start, *loaded.tokenizer.encode(text, begins=True))
    else:
        ids = loaded.prompt(text)
    for part in (ids, encoded) if start else (ids,):
        if not part or (text == "" and not start):
            raise AttendError("The text is empty: enter at least one character.")
        if not all(isinstance(one, int) and not isinstance(one, bool) for one in part):
            raise AttendError("The ids of a text must be whole numbers: give the text itself, or its ids.")
        if outside := [one for one in part if not 0 <= one < loaded.model.vocabulary_size]:
            raise AttendError(
                f"There is no token {outside[0]}: the model has tokens 0 to {loaded.model.vocabulary_size - 1}."
            )
        if len(part) > max_tokens:
            raise AttendError(
                f"The text has {len(part):,} tokens, but at most {max_tokens:,} are explained: shorten it."
            )
    check_length(len(ids), loaded.model.context_length)
    check_length(max(1, len(encoded)), loaded.prompt_length)
    return Tokenized(ids, encoded)


def token_id(loaded: LoadedModel, token: str | int) -> int:
    """The id of a token given as its text or its id; `AttendError` unless that is exactly one token."""
    if isinstance(token, str):
        ids = loaded.tokenizer.encode(token)
        if len(ids) != 1:
            raise AttendError(
                f"{token[:40]!r} is {len(ids)} tokens to this model ({split(loaded, ids)}), but a choice is one: give "
                "the text of one, with the space before it, or its id."
            )
        return ids[0]
    if not 0 <= token < loaded.model.vocabulary_size:
        raise AttendError(f"There is no token {token}: the model has tokens 0 to {loaded.model.vocabulary_size - 1}.")
    return token


def words(tokenizer: TextTokenizer, ids: Sequence[int]) -> list[Span]:
    """The words of a text: a token begins one if a space comes first, or where letters and other signs meet."""
    starts = [0]
    labels = [tokenizer.label(token) for token in ids]
    for index in range(1, len(ids)):
        before, here = labels[index - 1], labels[index]
        is_apart = tokenizer.is_special(ids[index]) or tokenizer.is_special(ids[index - 1])
        if is_apart or not before or not here or here[0].isspace() or before[-1].isalnum() != here[0].isalnum():
            starts.append(index)
    return [*zip(starts, [*starts[1:], len(ids)], strict=True)]


def left_out_words(tokenizer: TextTokenizer, ids: Sequence[int]) -> list[Span]:
    """The words that a text can be read without. Control tokens, such as one that begins a message, are none of them,
    and neither is a word that is the whole text."""
    return [
        (start, end)
        for start, end in words(tokenizer, ids)
        if not tokenizer.is_special(ids[start]) and end - start < len(ids)
    ]


def separators(tokenizer: TextTokenizer, ids: Sequence[int]) -> frozenset[int]:
    """The tokens of a text that are punctuation or line breaks alone."""
    labels = {token: tokenizer.label(token) for token in set(ids)}
    return frozenset(
        token
        for token, label in labels.items()
        if not tokenizer.is_special(token) and (signs := label.strip(" ")) and all(map(_separates, signs))
    )


def named(loaded: LoadedModel, ids: Sequence[int]) -> tuple[Named, ...]:
    return tuple(Named(token, loaded.tokenizer.label(token)) for token in ids)


def split(loaded: LoadedModel, ids: Sequence[int]) -> str:
    """A text cut into its tokens, for a sentence."""
    return "|".join(map(loaded.tokenizer.label, ids[:40])) + ("…" if len(ids) > 40 else "")


def _separates(sign: str) -> bool:
    return sign in "\r\n" or unicodedata.category(sign)[0] == "P"
