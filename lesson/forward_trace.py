"""A trace of one forward pass of the small transformer: named matrices, each with those it was computed from.

The numbers come from the model's own modules (`model/transformer/layers.py`); only what those do not return, such as
the scores before they are scaled, is computed here beside them. `how` names the operation, so that a page can write out
the arithmetic behind a number.

Shapes: T tokens of the text at hand, K the keys, H heads, D head width, W model width, V words.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor, nn
from torch.nn import functional

from lesson.block import PADDING, WORDS, BlockSettings, blocks_of, make_model
from model.transformer.attention import CrossAttention, SelfAttention, attend, attention_weights
from model.transformer.encoder_decoder import EncoderDecoder
from model.transformer.layers import Block

How = Literal[
    "given",  # a weight, or a position
    "look_up",  # rows of the embedding matrix, scaled
    "add",  # a + b
    "product",  # a b, and + c where there is a third, a bias
    "heads",  # the same, its columns split into heads
    "scores",  # a bᵀ, head by head
    "scale",  # a / √D
    "mask",  # a, minus infinity where a key is masked
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

    name: str  # unique in a trace: encoder.self.scores
    how: How
    of: tuple[str, ...]  # the stages it was computed from, in the order of `how`
    values: Tensor  # (rows, columns), or (H, rows, columns)
    rows: tuple[str, ...]
    columns: tuple[str, ...]  # empty if the numbers of a vector have no names


@dataclass(frozen=True, slots=True)
class ForwardTrace:
    """All stages of one pass, in order."""

    stages: tuple[Stage, ...]
    loss: float  # the mean over the decoder's positions, in nats

    def __getitem__(self, name: str) -> Stage:
        return next(stage for stage in self.stages if stage.name == name)


@torch.no_grad()
def trace_forward(settings: BlockSettings) -> ForwardTrace:
    """Compute every stage, from the words' ids to the loss."""
    model = make_model(settings)
    encoder, decoder = blocks_of(model)
    source, answer = _words(settings.source), _words(settings.decoder_input)
    mask = _look_ahead(len(source)) if settings.encoder_mask else None
    stages: list[Stage] = []

    def place(name: str, words: tuple[str, ...]) -> _Place:
        return _Place(stages, name, words)

    hidden = _embedded(place("encoder", source), model, settings.source)
    hidden = _self_attention(place("encoder.self", source), encoder, hidden, "encoder.input", mask)
    encoded = _feed_forward(place("encoder.feed_forward", source), encoder, hidden, "encoder.self.normed")

    hidden = _embedded(place("decoder", answer), model, settings.decoder_input)
    mask = _look_ahead(len(answer))
    hidden = _self_attention(place("decoder.self", answer), decoder, hidden, "decoder.input", mask)
    cross = place("decoder.cross", answer), place("decoder.cross", source)
    hidden = _cross_attention(*cross, decoder, hidden, encoded)
    hidden = _feed_forward(place("decoder.feed_forward", answer), decoder, hidden, "decoder.cross.normed")
    losses = _predicted(place("output", answer), place("output", _words(settings.answer)), model, hidden, settings)
    return ForwardTrace(tuple(stages), float(losses.mean()))


def _words(ids: tuple[int, ...]) -> tuple[str, ...]:
    return tuple(WORDS[id] for id in ids)


def _look_ahead(length: int) -> Tensor:
    return torch.ones(length, length, dtype=torch.bool).tril()  # (T, T)


@dataclass(frozen=True, slots=True)
class _Place:
    """A part of the model, which records its stages; their rows are the words of the text at hand."""

    stages: list[Stage]  # of the whole pass
    name: str  # encoder.self
    words: tuple[str, ...]

    def record(self, name: str, how: How, of: str, values: Tensor, columns: tuple[str, ...] = ()) -> Tensor:
        """Append a stage and return its values.

        Args:
            of: the stages that it was computed from, with spaces between them, those of this part by their own names.
        """
        names = tuple(one if "." in one else f"{self.name}.{one}" for one in of.split())
        self.stages.append(Stage(f"{self.name}.{name}", how, names, values, self.words, columns))
        return values

    def weights(self, name: str, matrix: Tensor, columns: tuple[str, ...] = ()) -> None:
        """Append a linear layer's matrix as written on paper, x W: (in, out)."""
        self.stages.append(Stage(f"{self.name}.{name}", "given", (), matrix.T, (), columns))


def _embedded(place: _Place, model: EncoderDecoder, ids: tuple[int, ...]) -> Tensor:
    """The words' embeddings with their positions, (T, W)."""
    embedded = model.embedding(torch.tensor(ids)) * model.config.embedding_scale  # (T, W)
    place.record("embeddings", "look_up", "", embedded)
    positions = place.record("positions", "given", "", model.sinusoids[: len(ids)])
    return place.record("input", "add", "embeddings positions", embedded + positions)


def _self_attention(place: _Place, block: Block, hidden: Tensor, stage: str, visible: Tensor | None) -> Tensor:
    """Attention of a text to itself, added to `hidden`, which is the stage of this name, and normalized, (T, W)."""
    module, heads = block.attention, dict[str, Tensor]()
    matrices, parts = module.qkv_proj.weight.chunk(3), module.qkv_proj(hidden).chunk(3, dim=-1)  # (W, W), (T, W) each
    for name, matrix, values in zip(("queries", "keys", "values"), matrices, parts, strict=True):
        place.weights(f"{name}_weights", matrix)
        heads[name] = place.record(name, "heads", f"{stage} {name}_weights", _split_heads(values, module))
    mixed = _attended(place, module, heads, place.words, visible)
    return _added(place, hidden, stage, mixed, block.attention_norm)


def _cross_attention(place: _Place, read: _Place, block: Block, hidden: Tensor, encoded: Tensor) -> Tensor:
    """Attention of the decoder's text to what the encoder made of the source, added and normed, (T, W).

    Args:
        read: the same place, with the source's words.
    """
    stage, module = "decoder.self.normed", block.cross
    assert module is not None and block.cross_norm is not None
    place.weights("queries_weights", module.q_proj.weight)
    queries = _split_heads(module.q_proj(hidden), module)  # (H, T, D)
    heads = {"queries": place.record("queries", "heads", f"{stage} queries_weights", queries)}
    matrices, parts = module.kv_proj.weight.chunk(2), module.project_keys_values(encoded[None])  # (H, 1, K, D) each
    for name, matrix, values in zip(("keys", "values"), matrices, parts, strict=True):
        place.weights(f"{name}_weights", matrix)
        heads[name] = read.record(name, "heads", f"encoder.feed_forward.normed {name}_weights", values[:, 0])
    mixed = _attended(place, module, heads, read.words, None)
    return _added(place, hidden, stage, mixed, block.cross_norm)


def _split_heads(values: Tensor, module: SelfAttention | CrossAttention) -> Tensor:
    """(T, W) -> (H, T, D)."""
    return values.unflatten(-1, (module.heads, module.head_width)).transpose(0, 1)  # (H, T, D)


def _attended(
    place: _Place,
    module: SelfAttention | CrossAttention,
    heads: dict[str, Tensor],
    keys_of: tuple[str, ...],
    visible: Tensor | None,
) -> Tensor:
    """Compute what attention adds, (T, W), from queries, keys and values, (H, T or K, D) each."""
    queries, keys, values = (heads[name][None] for name in ("queries", "keys", "values"))  # (1, H, T or K, D) each
    scores = (queries @ keys.transpose(2, 3))[0]  # (H, T, K)
    place.record("scores", "scores", "queries keys", scores, keys_of)
    scaled = place.record("scaled", "scale", "scores", scores * module.head_width**-0.5, keys_of)  # (H, T, K)
    if visible is not None:
        place.record("masked", "mask", "scaled", scaled.masked_fill(~visible, -math.inf), keys_of)
    weights = attention_weights(queries, keys, visible)[0]  # (H, T, K)
    place.record("weights", "softmax", "scaled" if visible is None else "masked", weights, keys_of)
    mixed, _ = attend(queries, keys, values, attention_mask=visible, causal=False, capture=0)  # (1, H, T, D)
    place.record("mixed", "mix", "weights values", mixed[0])
    joined = place.record("joined", "join", "mixed", mixed[0].transpose(0, 1).flatten(1))  # (T, W)
    place.weights("output_weights", module.o_proj.weight)
    return place.record("output", "product", "joined output_weights", module.o_proj(joined))


def _added(place: _Place, hidden: Tensor, stage: str, update: Tensor, norm: nn.Module) -> Tensor:
    """hidden + update, normalized, (T, W) each."""
    added = place.record("added", "add", f"{stage} output", hidden + update)
    spread = torch.stack((added.mean(-1), added.std(-1, unbiased=False)), dim=-1)  # (T, 2)
    place.record("spread", "spread", "added", spread, ("mean", "deviation"))
    return place.record("normed", "norm", "added spread", norm(added))


def _feed_forward(place: _Place, block: Block, hidden: Tensor, stage: str) -> Tensor:
    """The feed-forward layer for each token on its own, added and normalized, (T, W)."""
    module = block.feed_forward
    place.weights("first_weights", module.up_proj.weight)
    place.weights("first_bias", module.up_proj.bias[:, None])
    before = place.record("before", "product", f"{stage} first_weights first_bias", module.up_proj(hidden))  # (T, W)
    after = place.record("after", "relu", "before", module.activation(before))
    place.weights("second_weights", module.down_proj.weight)
    update = place.record("output", "product", "after second_weights", module.down_proj(after))
    return _added(place, hidden, stage, update, block.feed_forward_norm)


def _predicted(
    place: _Place, targets: _Place, model: EncoderDecoder, hidden: Tensor, settings: BlockSettings
) -> Tensor:
    """Compute the losses (T,) from the last hidden states (T, W).

    Args:
        targets: the same place, with the words that should follow.
    """
    matrix, vocabulary = model.unembedding.weight[:PADDING], WORDS[:PADDING]  # (V, W)
    place.weights("weights", matrix, vocabulary)
    logits = functional.linear(hidden, matrix)  # (T, V)
    place.record("logits", "product", "decoder.feed_forward.normed weights", logits, vocabulary)
    place.record("probabilities", "softmax", "logits", logits.softmax(-1), vocabulary)
    losses = functional.cross_entropy(logits, torch.tensor(settings.answer), reduction="none")  # (T,)
    targets.record("losses", "loss", "probabilities", losses[:, None], ("loss",))
    return losses
