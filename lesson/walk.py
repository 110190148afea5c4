"""A pass of the small transformer, stage after stage: each a named matrix that knows which others it was made from.

The numbers come from the model's own modules (`model/layers.py`); only what those keep to themselves, such as the
scores before they are scaled, is computed here beside them. `how` names the operation, so that whoever shows a stage
can write out how a number of it came about.

Shapes: T tokens of the text at hand, K those that are looked at, H heads, D head width, W model width, V words.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor, nn
from torch.nn import functional

from lesson.block import PADDING, WORDS, BlockSettings, blocks_of, make_model
from model.encoder_decoder import EncoderDecoder
from model.layers import Block, CrossAttention, SelfAttention, attend, attention_weights

How = Literal[
    "given",  # a weight, or a position
    "look_up",  # rows of the embedding matrix, scaled
    "add",  # a + b
    "product",  # a b, and + c where there is a third, a bias
    "heads",  # the same, its columns dealt out to the heads
    "scores",  # a bᵀ, head by head
    "scale",  # a / √D
    "mask",  # a, minus infinity where a key may not be seen
    "softmax",  # of each row of a
    "mix",  # a b, head by head: weights and values
    "join",  # the heads of a, side by side
    "spread",  # mean and deviation of each row of a
    "norm",  # (a - mean) / deviation, both from b
    "relu",  # max(0, a)
    "loss",  # -log of each row's target in a
]


@dataclass(frozen=True, slots=True)
class Stage:
    """One matrix of the pass."""

    name: str  # unique in a walk: encoder.self.scores
    how: How
    of: tuple[str, ...]  # the stages it was made from, in the order that `how` tells
    values: Tensor  # (rows, columns), or (H, rows, columns)
    rows: tuple[str, ...]
    columns: tuple[str, ...]  # empty where numbers of a vector have no names


@dataclass(frozen=True, slots=True)
class Walk:
    stages: tuple[Stage, ...]
    loss: float  # the mean over the decoder's positions, in nats

    def __getitem__(self, name: str) -> Stage:
        return next(stage for stage in self.stages if stage.name == name)


@torch.no_grad()
def walk(settings: BlockSettings) -> Walk:
    """Every stage from the words' ids to the loss."""
    model, book = make_model(settings), _Book()
    encoder, decoder = blocks_of(model)
    source, answer = _words(settings.source), _words(settings.decoder_input)
    mask = _look_ahead(len(source)) if settings.encoder_mask else None

    hidden = _embedded(book, "encoder", model, settings.source)
    hidden = _self_attention(book, "encoder", encoder, hidden, source, mask)
    encoded = _feed_forward(book, "encoder", encoder, hidden, source)

    hidden = _embedded(book, "decoder", model, settings.decoder_input)
    hidden = _self_attention(book, "decoder", decoder, hidden, answer, _look_ahead(len(answer)))
    hidden = _cross_attention(book, decoder, hidden, encoded, answer, source)
    hidden = _feed_forward(book, "decoder", decoder, hidden, answer)
    loss = _predicted(book, model, hidden, settings)
    return Walk(tuple(book.stages), loss)


def _words(ids: tuple[int, ...]) -> tuple[str, ...]:
    return tuple(WORDS[id] for id in ids)


def _look_ahead(length: int) -> Tensor:
    return torch.ones(length, length, dtype=torch.bool).tril()  # (T, T)


class _Book:
    """The stages in the order they were written down."""

    def __init__(self) -> None:
        self.stages: list[Stage] = []

    def write(
        self,
        name: str,
        how: How,
        of: tuple[str, ...],
        values: Tensor,
        rows: tuple[str, ...] = (),
        columns: tuple[str, ...] = (),
    ) -> Tensor:
        """Hands the values on."""
        self.stages.append(Stage(name, how, of, values, rows, columns))
        return values


def _embedded(book: _Book, side: str, model: EncoderDecoder, ids: tuple[int, ...]) -> Tensor:
    """The words' embeddings with their positions, (T, W)."""
    words = _words(ids)
    embedded = model.embedding(torch.tensor(ids)) * model.config.embedding_scale  # (T, W)
    book.write(f"{side}.embeddings", "look_up", (), embedded, words)
    places = book.write(f"{side}.positions", "given", (), model.sinusoids[: len(ids)], words)
    return book.write(f"{side}.input", "add", (f"{side}.embeddings", f"{side}.positions"), embedded + places, words)


def _weights(book: _Book, name: str, layer: nn.Linear, part: slice = slice(None)) -> None:
    """A linear layer's matrix as it is multiplied on paper, x W: (in, out)."""
    book.write(name, "given", (), layer.weight[part].T)


def _self_attention(
    book: _Book, side: str, block: Block, hidden: Tensor, words: tuple[str, ...], visible: Tensor | None
) -> Tensor:
    """Attention of a text to itself, added and normed, (T, W)."""
    name, given, module = f"{side}.self", f"{side}.input", block.attention
    parts = module.queries_keys_values(hidden).chunk(3, dim=-1)  # (T, W) each
    heads = {}
    for place, (part, values) in enumerate(zip(("queries", "keys", "values"), parts, strict=True)):
        width = values.shape[-1]
        _weights(book, f"{name}.{part}_weights", module.queries_keys_values, slice(place * width, (place + 1) * width))
        heads[part] = book.write(
            f"{name}.{part}", "heads", (given, f"{name}.{part}_weights"), _dealt(values, module), words
        )
    mixed = _attended(book, name, module, heads, words, words, visible)
    return _added(book, name, hidden, given, mixed, block.attention_norm, words)


def _cross_attention(
    book: _Book, block: Block, hidden: Tensor, encoded: Tensor, words: tuple[str, ...], source: tuple[str, ...]
) -> Tensor:
    """Attention of the decoder's text to what the encoder made of the source, added and normed, (T, W)."""
    name, given, module = "decoder.cross", "decoder.self.normed", block.cross
    assert module is not None and block.cross_norm is not None
    _weights(book, f"{name}.queries_weights", module.queries)
    queries = _dealt(module.queries(hidden), module)  # (H, T, D)
    book.write(f"{name}.queries", "heads", (given, f"{name}.queries_weights"), queries, words)
    heads, looked_up = {"queries": queries}, module.look_up(encoded[None])  # (H, 1, K, D) each
    for place, (part, values) in enumerate(zip(("keys", "values"), looked_up, strict=True)):
        width = module.heads * module.head_width
        _weights(book, f"{name}.{part}_weights", module.keys_values, slice(place * width, (place + 1) * width))
        of = ("encoder.feed_forward.normed", f"{name}.{part}_weights")
        heads[part] = book.write(f"{name}.{part}", "heads", of, values[:, 0], source)
    mixed = _attended(book, name, module, heads, words, source, None)
    return _added(book, name, hidden, given, mixed, block.cross_norm, words)


def _dealt(values: Tensor, module: SelfAttention | CrossAttention) -> Tensor:
    """The columns of (T, W) dealt out to the heads, (H, T, D)."""
    return values.unflatten(-1, (module.heads, module.head_width)).transpose(0, 1)  # (H, T, D)


def _attended(
    book: _Book,
    name: str,
    module: SelfAttention | CrossAttention,
    heads: dict[str, Tensor],
    words: tuple[str, ...],
    looked_at: tuple[str, ...],
    visible: Tensor | None,
) -> Tensor:
    """From queries, keys and values, (H, T or K, D) each, to what attention adds, (T, W)."""
    queries, keys, values = (heads[part][None] for part in ("queries", "keys", "values"))  # (1, H, T or K, D) each
    scores = (queries @ keys.transpose(2, 3))[0]  # (H, T, K)
    book.write(f"{name}.scores", "scores", (f"{name}.queries", f"{name}.keys"), scores, words, looked_at)
    last, scaled = f"{name}.scaled", scores * module.head_width**-0.5  # (H, T, K)
    book.write(last, "scale", (f"{name}.scores",), scaled, words, looked_at)
    if visible is not None:
        scaled, last = scaled.masked_fill(~visible, -math.inf), f"{name}.masked"
        book.write(last, "mask", (f"{name}.scaled",), scaled, words, looked_at)
    weights = attention_weights(queries, keys, visible)[0]  # (H, T, K)
    book.write(f"{name}.weights", "softmax", (last,), weights, words, looked_at)
    mixed, _ = attend(queries, keys, values, visible=visible, causal=False, capture=0)  # (1, H, T, D)
    book.write(f"{name}.mixed", "mix", (f"{name}.weights", f"{name}.values"), mixed[0], words)
    joined = mixed[0].transpose(0, 1).flatten(1)  # (T, W)
    book.write(f"{name}.joined", "join", (f"{name}.mixed",), joined, words)
    _weights(book, f"{name}.output_weights", module.output)
    of = (f"{name}.joined", f"{name}.output_weights")
    return book.write(f"{name}.output", "product", of, module.output(joined), words)


def _added(
    book: _Book, name: str, hidden: Tensor, given: str, update: Tensor, norm: nn.Module, words: tuple[str, ...]
) -> Tensor:
    """hidden + update, normed, (T, W) each."""
    added = book.write(f"{name}.added", "add", (given, f"{name}.output"), hidden + update, words)
    spread = torch.stack((added.mean(-1), added.std(-1, unbiased=False)), dim=-1)  # (T, 2)
    book.write(f"{name}.spread", "spread", (f"{name}.added",), spread, words, ("mean", "deviation"))
    return book.write(f"{name}.normed", "norm", (f"{name}.added", f"{name}.spread"), norm(added), words)


def _feed_forward(book: _Book, side: str, block: Block, hidden: Tensor, words: tuple[str, ...]) -> Tensor:
    """Each token on its own, added and normed, (T, W)."""
    name, module = f"{side}.feed_forward", block.feed_forward
    given = "encoder.self.normed" if side == "encoder" else "decoder.cross.normed"
    _weights(book, f"{name}.first_weights", module.wide)
    book.write(f"{name}.first_bias", "given", (), module.wide.bias[None])
    before = module.wide(hidden)  # (T, W)
    book.write(f"{name}.before", "product", (given, f"{name}.first_weights", f"{name}.first_bias"), before, words)
    after = book.write(f"{name}.after", "relu", (f"{name}.before",), module.activation(before), words)
    _weights(book, f"{name}.second_weights", module.narrow)
    of = (f"{name}.after", f"{name}.second_weights")
    update = book.write(f"{name}.output", "product", of, module.narrow(after), words)
    return _added(book, name, hidden, given, update, block.feed_forward_norm, words)


def _predicted(book: _Book, model: EncoderDecoder, hidden: Tensor, settings: BlockSettings) -> float:
    """From the last hidden states (T, W) to the mean loss."""
    words, vocabulary = _words(settings.decoder_input), WORDS[:PADDING]
    book.write("output.weights", "given", (), model.unembedding.weight[:PADDING].T, (), vocabulary)  # (W, V)
    logits = functional.linear(hidden, model.unembedding.weight[:PADDING])  # (T, V)
    book.write("output.logits", "product", ("decoder.feed_forward.normed", "output.weights"), logits, words, vocabulary)
    book.write("output.probabilities", "softmax", ("output.logits",), logits.softmax(-1), words, vocabulary)
    losses = functional.cross_entropy(logits, torch.tensor(settings.answer), reduction="none")  # (T,)
    rows = _words(settings.answer)
    book.write("output.losses", "loss", ("output.probabilities",), losses[:, None], rows, ("loss",))
    return float(losses.mean())
