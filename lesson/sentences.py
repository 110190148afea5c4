"""Sentences to look at: whom a word of a real model looks at, and what a sentence makes of one word.

Shapes: L layers, H heads, T tokens, W width.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from torch import Tensor

from model.errors import AttendError
from model.interface import Want
from model.loaded import LoadedModel


@dataclass(frozen=True, slots=True)
class Look:
    """Whom one word looks at."""

    tokens: tuple[int, ...]  # all that the model read
    word: range  # the places of the word's own tokens
    weights: Tensor  # (L, H, T), the mean over the word's tokens; a decoder's of the word's own passes


@dataclass(frozen=True, slots=True)
class Meaning:
    """What a text that ends with a word makes of it."""

    vector: Tensor  # (W,), the last layer's at the word's last token
    following: list[tuple[int, float]]  # the most probable tokens to follow, with their probabilities


def look(loaded: LoadedModel, text: str, word: str, most: int) -> Look:
    """Read a text and say whom its word looks at: an encoder's word at all of the text, a decoder's at what is before.

    `AttendError` for a word that is not there and for a text of more than `most` tokens, since every layer's whole map
    is computed.
    """
    tokens = loaded.prompt(text)
    if len(tokens) > most:
        raise AttendError(f"The sentence has {len(tokens)} tokens, but at most {most} are drawn: shorten it.")
    places = places_of(loaded, tokens, word)
    start = loaded.model.decoder_start
    with loaded.lock:
        if start:
            attention = loaded.model.inspect(start, source=tokens).attention.encoder
        else:
            attention = loaded.model.inspect(tokens).attention.decoder
    if attention is None:
        raise AttendError(f"{loaded.name} does not tell where its encoder looks: choose another model.")
    return Look(tokens, places, attention[0, :, :, places.start : places.stop].float().mean(dim=2))  # (L, H, T)


def places_of(loaded: LoadedModel, tokens: Sequence[int], word: str) -> range:
    """The places of the tokens that spell a word, where it stands first; `AttendError` where it does not."""
    said = [loaded.text_of(tokens[:end]) for end in range(len(tokens) + 1)]
    found = re.search(rf"(?<!\w){re.escape(word)}(?!\w)", said[-1], re.IGNORECASE)
    if not word.strip() or found is None:
        raise AttendError(f"“{word[:40]}” is not a word of “{said[-1].strip()[:80]}”: choose one that is.")
    within = [
        place
        for place in range(len(tokens))
        if len(said[place]) < found.end() and len(said[place + 1]) > found.start() and said[place] != said[place + 1]
    ]
    return range(within[0], within[-1] + 1)


def meaning(loaded: LoadedModel, text: str, word: str, most: int) -> Meaning:
    """What the text up to the word's last token makes of it.

    `AttendError` for a word that is not there, and for an encoder with a decoder, whose words are read but never said.
    """
    if loaded.model.decoder_start:
        raise AttendError(f"{loaded.name} reads with an encoder: choose a model that continues texts.")
    tokens = loaded.prompt(text)
    end = places_of(loaded, tokens, word).stop
    with loaded.lock:
        forward = loaded.model.prefill(tokens[:end], want=Want(hidden=True))
    assert forward.hidden is not None
    top = forward.logits[0].float().softmax(dim=-1).topk(most)
    following = list(zip(top.indices.tolist(), top.values.tolist(), strict=True))
    return Meaning(forward.hidden[0, -1].float(), following)
