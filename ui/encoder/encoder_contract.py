"""Values sent to the page of an encoder."""

from __future__ import annotations

from typing import TypedDict

from ui.runs.runs_contract import TokenKind


class ReadingValue(TypedDict):
    """A text as an encoder reads it."""

    labels: list[str]  # of the tokens
    kinds: list[TokenKind]
    layers: int
    heads: int
    rows: list[str]  # `attention_row` of every token, over all tokens


class WordsValue(TypedDict):
    """One word in several sentences, and how alike its vectors are."""

    word: str
    layer: str  # its name
    sentences: list[tuple[str, str, str]]  # each before, at and behind the word
    pieces: list[list[str]]  # the tokens of the word in each sentence
    vectors: list[list[float]]
    cosines: list[list[float]]  # of each to each


class InspectionValue(TypedDict):
    """An encoder, and what it makes of the examples."""

    about: str  # why it cannot generate, and what there is instead
    layers: list[tuple[str, int]]  # their names and numbers; the last is chosen
    reading: ReadingValue
    words: WordsValue
