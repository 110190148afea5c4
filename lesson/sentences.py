"""Words in sentences: what a word attends to.

Shapes: L layers, H heads, T tokens, W width.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from torch import Tensor

from model.errors import AttendError
from model.loaded import LoadedModel


@dataclass(frozen=True, slots=True)
class WordAttention:
    """The attention weights of one word."""

    tokens: tuple[int, ...]  # the whole sentence
    word: range  # the positions of the word's tokens
    weights: Tensor  # (L, H, T), averaged over the word's tokens as queries


@dataclass(frozen=True, slots=True)
class HeadTargets:
    """How many heads attend most to what; each head counts once, in the first matching group."""

    itself: int  # the word's own tokens
    first: int  # the first token of the text
    previous: int  # the token before the word
    elsewhere: int


@dataclass(frozen=True, slots=True)
class TokenShare:
    """How much of a word's attention one token gets, beside what it would get by chance."""

    favourites: int  # heads that give it more than any other token
    mean: float  # its share, averaged over all heads
    best: tuple[int, int]  # the layer and the head that give it the most, counted from 1
    best_share: float
    visible: int  # tokens that the word can attend to

    @property
    def even(self) -> float:
        """Its share if every token got the same."""
        return 1 / self.visible


def at_most(most: int, tokens: Sequence[int], what: str = "sentence") -> tuple[int, ...]:
    """The tokens as a tuple; `AttendError` for more than `most`, since a picture shows every pair of them."""
    if len(tokens) > most:
        raise AttendError(f"The {what} has {len(tokens)} tokens, but at most {most} can be shown: shorten it.")
    return tuple(tokens)


def attention_of_word(loaded: LoadedModel, text: str, word: str, most: int) -> WordAttention:
    """The attention of a word to a text: to all of it in an encoder, to the tokens before it in a decoder.

    Computes every layer's full attention map, so `most` limits the tokens of the text. Raises `AttendError` for a
    longer text, and for a word that does not occur in it.
    """
    tokens = at_most(most, loaded.prompt(text))
    span = token_span(loaded, tokens, word)
    start = loaded.model.decoder_start
    with loaded.lock:
        if start:
            attention = loaded.model.inspect(start, source=tokens).attention.encoder
        else:
            attention = loaded.model.inspect(tokens).attention.decoder
    if attention is None:
        raise AttendError(f"{loaded.name} does not provide its encoder's attention: choose another model.")
    return WordAttention(tokens, span, attention[0, :, :, span.start : span.stop].float().mean(dim=2))  # (L, H, T)


def token_share(attention: WordAttention, position: int) -> TokenShare:
    """The share of the token at a position. Tokens that come after the word don't count as visible to a decoder."""
    shares = attention.weights[:, :, position]  # (L, H)
    favourites = int((attention.weights.argmax(dim=-1) == position).sum())
    layer, head = divmod(int(shares.argmax()), shares.shape[1])
    visible = int((attention.weights.amax(dim=(0, 1)) > 0).sum())
    return TokenShare(favourites, float(shares.mean()), (layer + 1, head + 1), float(shares.max()), visible)


def head_targets(attention: WordAttention) -> HeadTargets:
    """Groups the heads by the token that they attend to most; of two equal ones the earlier counts."""
    most = attention.weights.argmax(dim=-1).flatten().tolist()  # L H positions
    groups = (("itself", set(attention.word)), ("first", {0}), ("previous", {attention.word.start - 1}))
    named = [next((name for name, places in groups if at in places), "elsewhere") for at in most]
    return HeadTargets(**{name: named.count(name) for name in HeadTargets.__slots__})


def token_span(loaded: LoadedModel, tokens: Sequence[int], word: str) -> range:
    """The token positions of a word's first occurrence; raises `AttendError` if there is none."""
    texts = [loaded.text_of(tokens[:end]) for end in range(len(tokens) + 1)]
    match = re.search(rf"(?<!\w){re.escape(word)}(?!\w)", texts[-1], re.IGNORECASE)
    if not word.strip() or match is None:
        raise AttendError(f"“{word[:40]}” is not a word of “{texts[-1].strip()[:80]}”: choose one of its words.")
    positions = [
        index
        for index in range(len(tokens))
        if len(texts[index]) < match.end()
        and len(texts[index + 1]) > match.start()
        and texts[index] != texts[index + 1]
    ]
    return range(positions[0], positions[-1] + 1)
