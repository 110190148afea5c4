"""A block of a transformer over many tokens at once: a prompt, a text to score, the source of a translation.

PyTorch computes the matrix products, and compiled loops do the work between them. Attention takes a few queries at a
time, so that their scores stay in the processor's cache. `model.transformer.layers.Block` is the slow, obvious twin;
the tests hold the two equal.

Shapes: R rows, T tokens of each fed in this pass, N of them (at most R * T), K keys, H query heads, G key/value heads,
S query heads that share a key/value head (H / G), D head width, W model width, F feed-forward width, B queries that
attend at a time.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import torch
from torch import Tensor, nn

from model.compiled.arrays import Architecture, Array, Norm
from model.compiled.kernels import activate, exp, largest, normalize
from model.compiled.matrix import CompactLinear, PackedLinear, multiply_rows
from model.jit import compiled
from model.transformer.attention import AttentionWeights, ForwardContext
from model.transformer.layers import Block

_TOKENS = 512  # tokens per product: enough to be fast, while their hidden units still fit into the cache
_SCORES = 1 << 18  # scores per block of queries: a megabyte
_MIN_QUERIES = 32  # queries per block
_ZERO, _ONE = np.float32(0.0), np.float32(1.0)
_NO_TABLE = np.empty((0, 1), np.float32)


class BlockReader:
    """One block whose linear layers have been packed."""

    def __init__(self, block: Block, architecture: Architecture, *, epsilon: float) -> None:
        self._block, self._architecture = block, architecture
        self._epsilon = np.float32(epsilon)
        attention = block.attention
        self._attention_norm, self._feed_forward_norm = _norm(block.attention_norm), _norm(block.feed_forward_norm)
        self._cross_norm = _norm(block.cross_norm)
        self._query_norm, self._key_norm = _norm(attention.query_norm), _norm(attention.key_norm)

    def __call__(self, hidden: Tensor, layer: int, context: ForwardContext) -> tuple[Tensor, AttentionWeights]:
        """Like `Block.forward`, for rows without padding on the left: hidden states (R * T, W) to new ones."""
        block = self._block
        mixed, to_text = self._attend_to_text(hidden, layer, context)  # (R * T, H * D)
        hidden, to_source = self._added(hidden, mixed, block.attention.o_proj, self._attention_norm), None
        if block.cross is not None:
            mixed, to_source = self._attend_to_source(hidden, layer, context)
            hidden = self._added(hidden, mixed, block.cross.o_proj, self._cross_norm)
        for tokens in _pieces(len(hidden)):
            self._feed_forward(hidden[tokens])
        return hidden, AttentionWeights(to_text, to_source)

    def _attend_to_text(self, hidden: Tensor, layer: int, context: ForwardContext) -> tuple[Tensor, Tensor | None]:
        """The outputs of self-attention's heads, (R * T, H * D), and the captured weights, (R, H, capture, K)."""
        rows, length = context.rows, len(hidden) // context.rows
        heads, groups, width = self._sizes
        queries = torch.empty(rows, groups, length * heads // groups, width)  # (R, G, T * S, D)
        if context.cache is None:
            start, memory = 0, torch.empty(2, groups, rows, length, width)  # (2, G, R, T, D)
        else:
            start = context.cache.suffix_length - length
            memory = context.cache.suffix_memory[layer]  # (2, G, R, columns, D)
        cosines, sines = _NO_TABLE, _NO_TABLE
        if context.rotary is not None:
            cosines, sines = (table[0, :, 0].numpy() for table in context.rotary)  # (T, D) each
        for tokens in _pieces(len(hidden)):
            qkv = _product(self._before(hidden[tokens], self._attention_norm), self._block.attention.qkv_proj)
            _distribute(
                qkv.view(len(qkv), -1, width).numpy(),  # (N, H + 2G, D)
                tokens.start,
                self._query_norm,
                self._key_norm,
                self._epsilon,
                cosines,
                sines,
                queries.numpy(),
                memory.numpy(),
                start,
            )
        keys, values = memory if context.cache is None else context.cache.keys_values(layer)  # (G, R, K, D) each
        if context.causal:
            visible = [keys.shape[2] - length + 1] * rows
        elif context.attention_mask is None:
            visible = [length] * rows
        else:  # sources, padded on the right
            visible = context.attention_mask[:, 0, 0].sum(1).tolist()
        return self._attend(queries, keys, values, visible, causal=context.causal, capture=context.capture)

    def _attend_to_source(self, hidden: Tensor, layer: int, context: ForwardContext) -> tuple[Tensor, Tensor | None]:
        """The same for cross-attention; each row has a source."""
        assert self._block.cross is not None and context.source is not None
        heads, groups, width = self._sizes
        queries = _product(self._before(hidden, self._cross_norm), self._block.cross.q_proj) * width**-0.5
        queries = queries.view(context.rows, -1, groups, heads // groups, width).transpose(1, 2)  # (R, G, T, S, D)
        queries = queries.reshape(context.rows, groups, -1, width)  # (R, G, T * S, D)
        keys, values = context.source.keys_values(layer)  # (G, R or 1, K, D) each
        lengths = [context.source.lengths[number] for number in context.source.source_of_row]
        return self._attend(queries, keys, values, lengths, causal=False, capture=context.capture)

    def _attend(
        self, queries: Tensor, keys: Tensor, values: Tensor, visible: Sequence[int], *, causal: bool, capture: int
    ) -> tuple[Tensor, Tensor | None]:
        """Scaled dot-product attention.

        Args:
            queries: scaled, (R, G, T * S, D).
            keys, values: (G, R or 1, K, D).
            visible: how many keys the first query of each row sees; where `causal`, each token sees one more.
            capture: how many of the last tokens' weights to return.
        """
        heads, groups, width = self._sizes
        rows, shared, columns = len(queries), heads // groups, keys.shape[2]
        length = queries.shape[2] // shared
        mixed = torch.empty(rows, length, groups, shared, width)
        captured = torch.zeros(rows, groups, shared, capture, columns) if capture else None
        block = min(length, max(_MIN_QUERIES, _SCORES // (heads * columns)))
        room = torch.empty(heads * block * columns)
        window = self._architecture.window if causal else columns
        for row in range(rows):
            of_row = row if keys.shape[1] > 1 else 0
            for first in range(0, length, block):
                last = min(first + block, length)
                seen = visible[row] + (first if causal else 0)  # by the first token of these
                most = seen + last - first - 1 if causal else seen
                some = queries[row, :, first * shared : last * shared]  # (G, B * S, D)
                scores = room[: groups * some.shape[1] * most].view(groups, -1, most)  # (G, B * S, most)
                torch.bmm(some, keys[:, of_row, :most].transpose(1, 2), out=scores)
                inverse = torch.empty(groups, some.shape[1])  # of the sums of each query's weights
                _exponentiate(scores.numpy(), shared, seen, causal, window, inverse.numpy())
                mixture = torch.bmm(scores, values[:, of_row, :most])  # (G, B * S, D)
                _gather(mixture.numpy(), inverse.numpy(), mixed[row, first:last].numpy())
                if captured is not None and last > length - capture:
                    skipped = max(0, length - capture - first)  # tokens whose weights are not captured
                    weights = (scores * inverse[..., None]).view(groups, last - first, shared, most)[:, skipped:]
                    begin = first + skipped - (length - capture)
                    captured[row, :, :, begin : begin + weights.shape[1], :most] = weights.transpose(1, 2)
        return mixed.view(rows * length, -1), None if captured is None else captured.flatten(1, 2)

    def _feed_forward(self, hidden: Tensor) -> None:
        """Add the output of the feed-forward layer to hidden states (N, W), in place."""
        up = _product(self._before(hidden, self._feed_forward_norm), self._block.feed_forward.up_proj)  # (N, F or 2F)
        activated = torch.empty(len(hidden), self._architecture.feed_forward_width)
        activate(up.numpy(), self._architecture.activation, activated.numpy())
        hidden += _product(activated, self._block.feed_forward.down_proj)
        self._after(hidden, self._feed_forward_norm)

    def _added(self, hidden: Tensor, mixed: Tensor, o_proj: nn.Module, norm: Norm) -> Tensor:
        """The residual stream after attention, (R * T, W)."""
        added = torch.empty_like(hidden)
        for tokens in _pieces(len(hidden)):
            torch.add(hidden[tokens], _product(mixed[tokens], o_proj), out=added[tokens])
            self._after(added[tokens], norm)
        return added

    def _before(self, hidden: Tensor, norm: Norm) -> Tensor:
        """The input of a sub-layer, (N, W), normalized if the norm comes first."""
        if not self._architecture.norm_first:
            return hidden
        normed = torch.empty_like(hidden)
        normalize(hidden.numpy(), norm, 0, self._epsilon, normed.numpy())
        return normed

    def _after(self, hidden: Tensor, norm: Norm) -> None:
        """Normalize the residual stream (N, W) after a sub-layer in place, if the norm comes last."""
        if not self._architecture.norm_first:
            normalize(hidden.numpy(), norm, 0, self._epsilon, hidden.numpy())

    @property
    def _sizes(self) -> tuple[int, int, int]:
        """H, G and D."""
        return self._architecture.heads, self._architecture.key_value_heads, self._architecture.head_width


def _pieces(count: int) -> Iterator[slice]:
    """The slices of tokens that go through a product at once."""
    return (slice(first, min(first + _TOKENS, count)) for first in range(0, count, _TOKENS))


def _product(rows: Tensor, linear: nn.Module) -> Tensor:
    """(N, I) to (N, O)."""
    assert isinstance(linear, PackedLinear | CompactLinear)
    return multiply_rows(rows, linear.matrix, linear.layer)


def _norm(module: nn.Module | None) -> Norm:
    """The weights of a norm; without a norm, they have no layers."""
    if module is None:
        return Norm(_NO_TABLE, _NO_TABLE[:, :0])
    assert isinstance(module, nn.RMSNorm | nn.LayerNorm)
    gain, bias = module.weight.detach()[None].numpy(), getattr(module, "bias", None)
    return Norm(gain, gain[:, :0] if bias is None else bias.detach()[None].numpy())


@compiled
def _distribute(
    qkv: Array,
    first: int,
    query_norm: Norm,
    key_norm: Norm,
    epsilon: np.float32,
    cosines: Array,
    sines: Array,
    queries: Array,
    memory: Array,
    start: int,
) -> None:
    """Norm and rotate the queries and keys of some tokens, and write them where attention reads them.

    Args:
        qkv: queries, keys and values of N tokens, (N, H + 2G, D); changed.
        first: the number of the first of these tokens among all, R * T.
        cosines, sines: of a row's tokens, (T, D) each; empty where positions are not rotary.
        queries: (R, G, T * S, D), filled, scaled by 1 / sqrt(D).
        memory: keys, then values, (2, G, R, columns, D), filled from column `start` on.
    """
    _, groups, queries_of_row, width = queries.shape
    heads = qkv.shape[1] - 2 * groups
    shared, half = heads // groups, width // 2
    length, scale = queries_of_row // shared, _ONE / np.sqrt(np.float32(width))
    for n in range(len(qkv)):
        row, t = (first + n) // length, (first + n) % length
        if len(query_norm.gain):
            normalize(qkv[n, :heads], query_norm, 0, epsilon, qkv[n, :heads])
            normalize(qkv[n, heads : heads + groups], key_norm, 0, epsilon, qkv[n, heads : heads + groups])
        if len(cosines):
            for head in range(heads + groups):
                for i in range(half):
                    x, y = qkv[n, head, i], qkv[n, head, half + i]
                    qkv[n, head, i] = x * cosines[t, i] + y * sines[t, i]
                    qkv[n, head, half + i] = y * cosines[t, half + i] + x * sines[t, half + i]
        for head in range(heads):
            for i in range(width):
                queries[row, head // shared, t * shared + head % shared, i] = qkv[n, head, i] * scale
        for group in range(groups):
            for i in range(width):
                memory[0, group, row, start + t, i] = qkv[n, heads + group, i]
                memory[1, group, row, start + t, i] = qkv[n, heads + groups + group, i]


@compiled
def _exponentiate(scores: Array, shared: int, visible: int, causal: bool, window: int, inverse: Array) -> None:
    """Replace each query's scores (G, B * S, K) by their softmax before the division, whose factors fill `inverse`,
    (G, B * S).

    Args:
        visible: how many keys the first token's queries see; where `causal`, each token sees one more.
        window: how many keys a query sees at most, the newest of them.
    """
    for group in range(len(scores)):
        for query in range(scores.shape[1]):
            last = visible + (query // shared if causal else 0)
            first = max(0, last - window)
            weights = scores[group, query]
            weights[:first] = _ZERO
            weights[last:] = _ZERO
            weights, total = weights[first:last], _ZERO
            highest = largest(weights)
            for i in range(len(weights)):
                weight = exp(weights[i] - highest)
                weights[i] = weight
                total += weight
            inverse[group, query] = _ONE / total


@compiled
def _gather(outputs: Array, inverse: Array, mixed: Array) -> None:
    """Finish the softmax of attention's outputs (G, B * S, D) and write them in the order of tokens, (B, G, S, D)."""
    tokens, groups, shared, width = mixed.shape
    for t in range(tokens):
        for group in range(groups):
            for one in range(shared):
                query = t * shared + one
                for i in range(width):
                    mixed[t, group, one, i] = outputs[group, query, i] * inverse[group, query]
