"""Tokenizes an edited text: generated tokens are kept as far as the text still begins with them, the rest is new.

One pass of the model over the whole text explains the typed tokens. Knows nothing of sessions or of the screen.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import takewhile

from decoding.parameters.parameter import quoted
from model.errors import AttendError
from model.limits import check_characters, check_length
from model.loaded import LoadedModel
from model.text.tokenizer import TextTokenizer
from ui.runs.attention_rows import explain
from ui.runs.prompts import is_translator
from ui.runs.run import TokenRecord

_WAY_OUT = "shorten it, or press Score this text, which reads it in parts"
_CANDIDATES = 10  # recorded for typed tokens


def cut(tokens: Sequence[TokenRecord], text: str, loaded: LoadedModel) -> tuple[list[TokenRecord], tuple[int, int]]:
    """The tokens of an edited text, generated ones kept where possible, and the shape of their attention.

    `AttendError` for a text that is too long or has no tokens, and for a model that translates.
    """
    if is_translator(loaded):  # a saved text may come back while one is in use
        raise AttendError(f"{loaded.name} translates and can't continue texts: choose another model for Write.")
    kept = _kept(tokens, text, loaded)
    rest = text[len(text_of(kept, loaded.tokenizer)) :]
    check_characters(rest, loaded.model.context_length)
    ids = (*(token.id for token in kept), *loaded.tokenizer.encode(rest)) if kept else loaded.prompt(text)
    if not ids:  # invisible characters, which some tokenizers drop
        raise AttendError(f"The text {quoted(text)} has no tokens in this model: enter another text.")
    # the last token is explained without being read
    check_length(max(1, len(ids) - 1), loaded.model.context_length, _WAY_OUT)
    known = tokens[: shared(tokens, ids)]
    anew, shape = explain(ids, loaded.model, loaded.lock, candidates=_CANDIDATES, known=known, slot=loaded.scoring)
    for index, token in enumerate(kept[len(known) :], start=len(known)):
        anew[index] = replace(token, row=anew[index].row)
    return anew, shape


def shared(tokens: Sequence[TokenRecord], ids: Sequence[int]) -> int:
    """How many explained tokens a text begins with: whatever follows a token changes nothing about it."""
    complete = takewhile(lambda token: token.choice is not None and token.row is not None, tokens[1:])
    same = takewhile(lambda pair: pair[0].id == pair[1], zip([*tokens[:1], *complete], ids, strict=False))
    return sum(1 for _ in same)


def _kept(tokens: Sequence[TokenRecord], text: str, loaded: LoadedModel) -> list[TokenRecord]:
    """The tokens that an edited text still begins with, up to the last generated one.

    Typed tokens after it are tokenized again, since neighbouring words may share tokens; so is all from a control
    token on, which has no text.
    """
    stream, decoded, kept = loaded.tokenizer.detokenizer(begins=True), "", 0
    start = len(loaded.prefix_tokens)
    for index, token in enumerate(tokens[start:], start=start):
        decoded += stream.push(token.id)
        if loaded.tokenizer.is_special(token.id) or not text.startswith(decoded):
            break
        if not token.is_given and stream.is_complete:
            kept = index + 1
    return list(tokens[:kept])


def text_of(tokens: Sequence[TokenRecord], tokenizer: TextTokenizer) -> str:
    """The text of tokens from the beginning of a text."""
    return tokenizer.decode((token.id for token in tokens), begins=True)
