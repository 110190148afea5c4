"""A whole encoder-decoder small enough to compute by hand, and what a person can change in it.

It is `model.transformer.encoder_decoder` with a width of six, filled with the numbers of a lecture that computes one
block by hand for "how are you". The embeddings, W1 and b1 are printed in the lecture. For Q, K, V and the output of
attention it only prints results, so their weights are the smallest that give these results. Everything else (the
decoder, W2 and the words that the lecture does not use) is drawn from a fixed seed.

Shapes: T tokens, W model width.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from model.transformer.attention import attend
from model.transformer.config import TransformerConfig
from model.transformer.encoder_decoder import EncoderDecoder
from model.transformer.layers import Block
from model.transformer.positions import sinusoids

Rows = tuple[tuple[float, ...], ...]

WORDS = ("<sos>", "<eos>", "hello", "am", "fine", "how", "I", "is", "are", "you", "<pad>")  # by their ids
START, PADDING = 0, len(WORDS) - 1
WIDTH = 6
HEADS = (1, 2, 3, 6)  # numbers of heads that divide the width
LONGEST = 5  # tokens in a text, so that its tables stay readable

_SCALE = math.sqrt(WIDTH)  # between the embedding matrix and the embeddings, see `TransformerConfig.embedding_scale`
_SEED = 6

_HOW_ARE_YOU = {
    5: (-0.25, 0.86, -1.38, -0.87, -0.22, 1.72),
    8: (-0.91, -0.66, 2.22, 0.52, 0.35, -0.20),
    9: (-1.05, 1.28, 0.15, 0.23, 0.06, 0.43),
}
_QUERIES = (
    (-1.56, -0.25, 0.54, 0.52, -1.31, 0.27),
    (0.59, -0.46, -0.25, -0.73, 0.47, 0.19),
    (-0.39, -0.48, 0.03, -0.16, -0.30, 0.16),
)
_KEYS = (
    (-1.18, -0.52, 0.26, -1.79, 0.32, -1.66),
    (-0.42, -0.70, -0.56, -0.01, 0.32, -0.28),
    (-0.77, -0.69, 0.09, -0.85, 0.27, -0.96),
)
_VALUES = (
    (-1.63, 0.85, -1.91, -0.47, 0.25, -1.38),
    (0.24, 0.34, 0.32, -0.79, -0.95, -1.04),
    (-0.67, 0.44, -0.80, -0.65, -0.41, -1.09),
)
_ADDED = (
    (-0.59, 1.99, -0.86, 0.38, 0.18, 3.10),
    (-0.41, 0.02, 2.79, 1.77, 0.76, 1.19),
    (-0.48, 0.99, 0.77, 1.48, 0.47, 1.81),
)
_W1 = (
    (0.31, 0.20, -0.35, -0.07, -0.13, 0.23),
    (0.15, 0.34, -0.38, -0.29, -0.30, -0.28),
    (-0.28, 0.21, 0.17, -0.27, -0.07, 0.21),
    (-0.40, 0.10, -0.20, 0.14, -0.20, 0.19),
    (-0.33, 0.00, -0.08, -0.12, -0.12, 0.29),
    (0.30, -0.31, -0.23, 0.25, -0.39, -0.31),
)
_B1 = (0.29, -0.19, 0.15, 0.38, -0.06, 0.00)


def _smallest(inputs: Tensor, result: Tensor, *, tolerance: float = 0.0) -> Rows:
    """The smallest weights (W, W) with which `inputs` (T, W) makes `result` (T, W), by the pseudo-inverse (Penrose,
    1955); three decimals. What is smaller than `tolerance` times the largest singular value counts as rounding."""
    return _rows(torch.linalg.pinv(inputs, rtol=tolerance) @ result, digits=3)


def _rows(values: Tensor, *, digits: int) -> Rows:
    return tuple(tuple(round(value, digits) + 0.0 for value in row) for row in values.tolist())  # no minus zero


def _drawn(*shape: int, generator: torch.Generator) -> Tensor:
    """Normally distributed numbers with two decimals, (…)."""
    return (torch.randn(*shape, generator=generator) * 100).round() / 100  # (…)


def _all_embeddings() -> Rows:
    """(PADDING, W): the lecture's three words, and random ones of similar size for the others."""
    drawn = _drawn(PADDING, WIDTH, generator=torch.Generator().manual_seed(_SEED))  # (PADDING, W)
    return tuple(_HOW_ARE_YOU.get(word, row) for word, row in enumerate(_rows(drawn, digits=2)))


_PLACED = torch.tensor(tuple(_HOW_ARE_YOU.values())) + sinusoids(3, WIDTH)  # (T, W)


def _output() -> Rows:
    """W_O of the encoder.

    The lecture's three weighted sums are nearly equal, and so are its outputs for them: everything beyond the first
    singular value is rounding.
    """
    queries, keys, values = (torch.tensor(rows)[None, None] for rows in (_QUERIES, _KEYS, _VALUES))  # (1, 1, T, W) each
    mixed, _ = attend(queries, keys, values, attention_mask=None, causal=False, capture=0)  # (1, 1, T, W)
    return _smallest(mixed[0, 0], torch.tensor(_ADDED) - _PLACED, tolerance=0.1)


EMBEDDINGS = _all_embeddings()
QUERY_WEIGHTS, KEY_WEIGHTS, VALUE_WEIGHTS = (
    _smallest(_PLACED, torch.tensor(rows)) for rows in (_QUERIES, _KEYS, _VALUES)
)
_OUTPUT_WEIGHTS = _output()


@dataclass(frozen=True, slots=True)
class BlockSettings:
    """What is read and written, and the numbers that can be changed.

    Matrices are written as on paper, x W: one row for each input.
    """

    source: tuple[int, ...] = (5, 8, 9)  # what the encoder reads
    answer: tuple[int, ...] = (6, 3, 4)  # what the decoder should say
    heads: int = 1
    encoder_mask: bool = False  # hides later words from the encoder, too, unlike in the real model
    embeddings: Rows = EMBEDDINGS  # (PADDING, W), for every word but padding, whose embedding is zero
    query_weights: Rows = QUERY_WEIGHTS  # (W, W), in the encoder, as are the next four
    key_weights: Rows = KEY_WEIGHTS
    value_weights: Rows = VALUE_WEIGHTS
    first_weights: Rows = _W1  # in its feed-forward layer
    first_bias: tuple[float, ...] = _B1  # (W,)

    @property
    def decoder_input(self) -> tuple[int, ...]:
        """The answer, shifted right by the start token, so that the target of each position is the word after it."""
        return (START, *self.answer[:-1])


def make_model(settings: BlockSettings) -> EncoderDecoder:
    """The transformer for these settings: as in the 2017 paper, with one layer on each side and tied embeddings."""
    config = TransformerConfig(
        vocabulary_size=len(WORDS),
        context_length=LONGEST,
        width=WIDTH,
        layers=1,
        encoder_layers=1,
        heads=settings.heads,
        key_value_heads=settings.heads,
        feed_forward_width=WIDTH,
        positions="sinusoidal",
        norm="layer",
        norm_place="after",
        activation="relu",
        biases="all",
        tied_embeddings=True,
    )
    model = EncoderDecoder(config).eval()
    generator = torch.Generator().manual_seed(_SEED)
    for parameter in model.parameters():  # biases start at zero, and norms start by changing nothing
        if parameter.dim() == 2:
            _put(parameter, _drawn(*parameter.shape, generator=generator) * 0.4)
    _put(model.embedding.weight[:PADDING], torch.tensor(settings.embeddings) / _SCALE)
    _put(model.embedding.weight[PADDING], torch.zeros(WIDTH))
    encoder, _ = blocks_of(model)
    joint = (settings.query_weights, settings.key_weights, settings.value_weights)
    _put(encoder.attention.qkv_proj.weight, torch.tensor(joint).transpose(1, 2).flatten(0, 1))  # (3W, W)
    _put(encoder.attention.o_proj.weight, torch.tensor(_OUTPUT_WEIGHTS).T)
    _put(encoder.feed_forward.up_proj.weight, torch.tensor(settings.first_weights).T)
    _put(encoder.feed_forward.up_proj.bias, torch.tensor(settings.first_bias))
    return model


def blocks_of(model: EncoderDecoder) -> tuple[Block, Block]:
    """The only block of the encoder, and that of the decoder."""
    encoder, decoder = model.encoder_blocks[0], model.blocks[0]
    assert isinstance(encoder, Block) and isinstance(decoder, Block)
    return encoder, decoder


def _put(parameter: Tensor, values: Tensor) -> None:
    with torch.no_grad():
        parameter.copy_(values)
