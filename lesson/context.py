"""A word in its context: an encoder's vectors in several sentences, layer by layer, and a decoder's last one.

A cosine alone means little, since in many layers the vectors of any two words are alike (Ethayarajh, 2019, "How
Contextual are Contextualized Word Representations?"). So other words of the same sentences are the control.

Shapes: S sentences, W model width, M other words.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional

from lesson.sentences import token_span
from lesson.vectors import plane
from model.encoder import Encoder, Reading, cosines
from model.errors import AttendError
from model.interface import Want
from model.loaded import LoadedModel


@dataclass(frozen=True, slots=True)
class WordInContext:
    """A word in the context of the text before it."""

    vector: Tensor  # (W,), the last layer's output at the word's last token
    following: list[tuple[int, float]]  # the most probable next tokens and their probabilities


@dataclass(frozen=True, slots=True)
class LayerSimilarities:
    """One word after one layer, in sentences of two meanings."""

    cosines: Tensor  # (S, S), between the word's vectors
    same: float  # their mean over pairs of sentences with one meaning
    different: float  # over pairs with two meanings
    control: float  # the mean cosine of the word with the other words of the other sentences
    points: Tensor  # (S, 2), on the plane of the first two principal components
    shares: tuple[float, float]  # the explained variance ratio of each component


def similarities_by_layer(
    encoder: Encoder, word: str, meanings: tuple[Sequence[str], Sequence[str]]
) -> list[LayerSimilarities]:
    """Compare the word in sentences of two meanings, after the embeddings and after each layer.

    Args:
        meanings: at least two sentences with each meaning.

    Raises `AttendError` if a sentence does not contain the word or is longer than the encoder's context, or if none of
    them contains another word.
    """
    readings = [encoder.read(sentence) for sentences in meanings for sentence in sentences]
    second = torch.tensor([meaning == 1 for meaning, sentences in enumerate(meanings) for _ in sentences])  # (S,)
    return [_similarities(readings, word, second, layer) for layer in range(encoder.layer_count + 1)]


def _similarities(readings: Sequence[Reading], word: str, second: Tensor, layer: int) -> LayerSimilarities:
    vectors = [reading.vector(word, layer) for reading in readings]
    similarities = cosines(vectors)  # (S, S)
    alike = second[:, None] == second[None]  # (S, S)
    pairs = ~torch.eye(len(vectors), dtype=torch.bool)  # a sentence is not paired with itself
    seen = plane(vectors)
    return LayerSimilarities(
        similarities,
        similarities[alike & pairs].mean().item(),
        similarities[~alike].mean().item(),
        _control(readings, word, vectors, layer),
        seen.points(vectors),
        seen.shares,
    )


def _control(readings: Sequence[Reading], word: str, vectors: Sequence[Tensor], layer: int) -> float:
    others = [(number, vector) for number, reading in enumerate(readings) for vector in _others(reading, word, layer)]
    if not others:
        raise AttendError(f'The sentences have no word but "{word}": add others, to compare it with.')
    owners = torch.tensor([number for number, _ in others])  # (M,)
    similarities = functional.cosine_similarity(
        torch.stack(list(vectors))[:, None], torch.stack([vector for _, vector in others])[None], dim=-1
    )  # (S, M)
    return similarities[owners[None] != torch.arange(len(vectors))[:, None]].mean().item()


def _others(reading: Reading, word: str, layer: int) -> list[Tensor]:
    """The vectors of a sentence's other tokens, but for its punctuation and what the tokenizer added, (W,) each."""
    own = reading.pieces_of(word)
    return [
        reading.hidden[layer, index]
        for index, piece in enumerate(reading.pieces)
        if index not in own and not piece.special and any(map(str.isalpha, piece.label))
    ]


def word_in_context(loaded: LoadedModel, text: str, word: str, most: int) -> WordInContext:
    """The last layer's vector of a word, and the `most` most probable next tokens after it, of a decoder-only model.

    Raises `AttendError` for a word that does not occur.
    """
    tokens = loaded.prompt(text)
    end = token_span(loaded, tokens, word).stop
    with loaded.lock:
        forward = loaded.model.prefill(tokens[:end], want=Want(hidden=True))
    assert forward.hidden is not None
    top = forward.logits[0].float().softmax(dim=-1).topk(most)
    following = list(zip(top.indices.tolist(), top.values.tolist(), strict=True))
    return WordInContext(forward.hidden[0, -1].float(), following)
