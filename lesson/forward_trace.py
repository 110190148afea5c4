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
    """Every stage from the words' ids to the loss."""
    model, recorder = make_model(settings), _Recorder()
    encoder, decoder = blocks_of(model)
    source, answer = _words(settings.source), _words(settings.decoder_input)
    mask = _look_ahead(len(source)) if settings.encoder_mask else None

    hidden = _embedded(recorder, "encoder", model, settings.source)
    hidden = _self_attention(recorder, "encoder", encoder, hidden, source, mask)
    encoded = _feed_forward(recorder, "encoder", encoder, hidden, source)

    hidden = _embedded(recorder, "decoder", model, settings.decoder_input)
    hidden = _self_attention(recorder, "decoder", decoder, hidden, answer, _look_ahead(len(answer)))
    hidden = _cross_attention(recorder, decoder, hidden, encoded, answer, source)
    hidden = _feed_forward(recorder, "decoder", decoder, hidden, answer)
    loss = _predicted(recorder, model, hidden, settings)
    return ForwardTrace(tuple(recorder.stages), loss)


def _words(ids: tuple[int, ...]) -> tuple[str, ...]:
    return tuple(WORDS[id] for id in ids)


def _look_ahead(length: int) -> Tensor:
    return torch.ones(length, length, dtype=torch.bool).tril()  # (T, T)


class _Recorder:
    """Collects the stages."""

    def __init__(self) -> None:
        self.stages: list[Stage] = []

    def record(
        self,
        name: str,
        how: How,
        of: tuple[str, ...],
        values: Tensor,
        rows: tuple[str, ...] = (),
        columns: tuple[str, ...] = (),
    ) -> Tensor:
        """Append a stage and return its values."""
        self.stages.append(Stage(name, how, of, values, rows, columns))
        return values


def _embedded(recorder: _Recorder, side: str, model: EncoderDecoder, ids: tuple[int, ...]) -> Tensor:
    """The words' embeddings with their positions, (T, W)."""
    words = _words(ids)
    embedded = model.embedding(torch.tensor(ids)) * model.config.embedding_scale  # (T, W)
    recorder.record(f"{side}.embeddings", "look_up", (), embedded, words)
    positions = recorder.record(f"{side}.positions", "given", (), model.sinusoids[: len(ids)], words)
    return recorder.record(
        f"{side}.input", "add", (f"{side}.embeddings", f"{side}.positions"), embedded + positions, words
    )


def _weights(recorder: _Recorder, name: str, layer: nn.Linear, part: slice = slice(None)) -> None:
    """A linear layer's matrix as written on paper, x W: (in, out)."""
    recorder.record(name, "given", (), layer.weight[part].T)


def _self_attention(
    recorder: _Recorder, side: str, block: Block, hidden: Tensor, words: tuple[str, ...], visible: Tensor | None
) -> Tensor:
    """Attention of a text to itself, added and normalized, (T, W)."""
    name, given, module = f"{side}.self", f"{side}.input", block.attention
    parts = module.qkv_proj(hidden).chunk(3, dim=-1)  # (T, W) each
    heads = {}
    for index, (part, values) in enumerate(zip(("queries", "keys", "values"), parts, strict=True)):
        width = values.shape[-1]
        _weights(recorder, f"{name}.{part}_weights", module.qkv_proj, slice(index * width, (index + 1) * width))
        heads[part] = recorder.record(
            f"{name}.{part}", "heads", (given, f"{name}.{part}_weights"), _split_heads(values, module), words
        )
    mixed = _attended(recorder, name, module, heads, words, words, visible)
    return _added(recorder, name, hidden, given, mixed, block.attention_norm, words)


def _cross_attention(
    recorder: _Recorder, block: Block, hidden: Tensor, encoded: Tensor, words: tuple[str, ...], source: tuple[str, ...]
) -> Tensor:
    """Attention of the decoder's text to what the encoder made of the source, added and normed, (T, W)."""
    name, given, module = "decoder.cross", "decoder.self.normed", block.cross
    assert module is not None and block.cross_norm is not None
    _weights(recorder, f"{name}.queries_weights", module.q_proj)
    queries = _split_heads(module.q_proj(hidden), module)  # (H, T, D)
    recorder.record(f"{name}.queries", "heads", (given, f"{name}.queries_weights"), queries, words)
    heads, looked_up = {"queries": queries}, module.project_keys_values(encoded[None])  # (H, 1, K, D) each
    for index, (part, values) in enumerate(zip(("keys", "values"), looked_up, strict=True)):
        width = module.heads * module.head_width
        _weights(recorder, f"{name}.{part}_weights", module.kv_proj, slice(index * width, (index + 1) * width))
        of = ("encoder.feed_forward.normed", f"{name}.{part}_weights")
        heads[part] = recorder.record(f"{name}.{part}", "heads", of, values[:, 0], source)
    mixed = _attended(recorder, name, module, heads, words, source, None)
    return _added(recorder, name, hidden, given, mixed, block.cross_norm, words)


def _split_heads(values: Tensor, module: SelfAttention | CrossAttention) -> Tensor:
    """(T, W) -> (H, T, D)."""
    return values.unflatten(-1, (module.heads, module.head_width)).transpose(0, 1)  # (H, T, D)


def _attended(
    recorder: _Recorder,
    name: str,
    module: SelfAttention | CrossAttention,
    heads: dict[str, Tensor],
    words: tuple[str, ...],
    key_words: tuple[str, ...],
    visible: Tensor | None,
) -> Tensor:
    """From queries, keys and values, (H, T or K, D) each, to what attention adds, (T, W)."""
    queries, keys, values = (heads[part][None] for part in ("queries", "keys", "values"))  # (1, H, T or K, D) each
    scores = (queries @ keys.transpose(2, 3))[0]  # (H, T, K)
    recorder.record(f"{name}.scores", "scores", (f"{name}.queries", f"{name}.keys"), scores, words, key_words)
    last, scaled = f"{name}.scaled", scores * module.head_width**-0.5  # (H, T, K)
    recorder.record(last, "scale", (f"{name}.scores",), scaled, words, key_words)
    if visible is not None:
        scaled, last = scaled.masked_fill(~visible, -math.inf), f"{name}.masked"
        recorder.record(last, "mask", (f"{name}.scaled",), scaled, words, key_words)
    weights = attention_weights(queries, keys, visible)[0]  # (H, T, K)
    recorder.record(f"{name}.weights", "softmax", (last,), weights, words, key_words)
    mixed, _ = attend(queries, keys, values, attention_mask=visible, causal=False, capture=0)  # (1, H, T, D)
    recorder.record(f"{name}.mixed", "mix", (f"{name}.weights", f"{name}.values"), mixed[0], words)
    joined = mixed[0].transpose(0, 1).flatten(1)  # (T, W)
    recorder.record(f"{name}.joined", "join", (f"{name}.mixed",), joined, words)
    _weights(recorder, f"{name}.output_weights", module.o_proj)
    of = (f"{name}.joined", f"{name}.output_weights")
    return recorder.record(f"{name}.output", "product", of, module.o_proj(joined), words)


def _added(
    recorder: _Recorder, name: str, hidden: Tensor, given: str, update: Tensor, norm: nn.Module, words: tuple[str, ...]
) -> Tensor:
    """hidden + update, normalized, (T, W) each."""
    added = recorder.record(f"{name}.added", "add", (given, f"{name}.output"), hidden + update, words)
    spread = torch.stack((added.mean(-1), added.std(-1, unbiased=False)), dim=-1)  # (T, 2)
    recorder.record(f"{name}.spread", "spread", (f"{name}.added",), spread, words, ("mean", "deviation"))
    return recorder.record(f"{name}.normed", "norm", (f"{name}.added", f"{name}.spread"), norm(added), words)


def _feed_forward(recorder: _Recorder, side: str, block: Block, hidden: Tensor, words: tuple[str, ...]) -> Tensor:
    """The feed-forward layer for each token on its own, added and normalized, (T, W)."""
    name, module = f"{side}.feed_forward", block.feed_forward
    given = "encoder.self.normed" if side == "encoder" else "decoder.cross.normed"
    _weights(recorder, f"{name}.first_weights", module.up_proj)
    recorder.record(f"{name}.first_bias", "given", (), module.up_proj.bias[None])
    before = module.up_proj(hidden)  # (T, W)
    recorder.record(f"{name}.before", "product", (given, f"{name}.first_weights", f"{name}.first_bias"), before, words)
    after = recorder.record(f"{name}.after", "relu", (f"{name}.before",), module.activation(before), words)
    _weights(recorder, f"{name}.second_weights", module.down_proj)
    of = (f"{name}.after", f"{name}.second_weights")
    update = recorder.record(f"{name}.output", "product", of, module.down_proj(after), words)
    return _added(recorder, name, hidden, given, update, block.feed_forward_norm, words)


def _predicted(recorder: _Recorder, model: EncoderDecoder, hidden: Tensor, settings: BlockSettings) -> float:
    """From the last hidden states (T, W) to the mean loss."""
    words, vocabulary = _words(settings.decoder_input), WORDS[:PADDING]
    recorder.record("output.weights", "given", (), model.unembedding.weight[:PADDING].T, (), vocabulary)  # (W, V)
    logits = functional.linear(hidden, model.unembedding.weight[:PADDING])  # (T, V)
    recorder.record(
        "output.logits", "product", ("decoder.feed_forward.normed", "output.weights"), logits, words, vocabulary
    )
    recorder.record("output.probabilities", "softmax", ("output.logits",), logits.softmax(-1), words, vocabulary)
    losses = functional.cross_entropy(logits, torch.tensor(settings.answer), reduction="none")  # (T,)
    rows = _words(settings.answer)
    recorder.record("output.losses", "loss", ("output.probabilities",), losses[:, None], rows, ("loss",))
    return float(losses.mean())
