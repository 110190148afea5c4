"""The compiled step and the compiled blocks, as a model calls them.

They take arrays from the model's weights and its cache, and return tensors.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from torch import nn

from model.compiled.arrays import Architecture, Array
from model.compiled.attention import SourceColumns, TextColumns
from model.compiled.network import make_network
from model.compiled.reading import BlockReader
from model.compiled.step import StepResult, run_step, unembed
from model.compiled.weights import Weights, pack
from model.interface import Attention, Forward, Want
from model.jit import announced
from model.transformer.attention import AttentionWeights, ForwardContext
from model.transformer.cache import KeyValueCache
from model.transformer.cross_attention_cache import CrossAttentionCache
from model.transformer.decoder import Transformer
from model.transformer.layers import Block


class CompiledDecoder:
    """The passes of one `Transformer`, whose linear layers this replaces; build it again when the weights change."""

    def __init__(self, model: Transformer, *, quantized: bool = False) -> None:
        self._architecture = Architecture.of(model.config)
        self._weights = pack(model, quantized=quantized)
        blocks = [block for block in model.modules() if isinstance(block, Block)]  # including those of an encoder
        self._readers = {
            block: BlockReader(block, self._architecture, epsilon=model.config.norm_epsilon) for block in blocks
        }
        with announced():
            self._network = make_network(self._weights, self._architecture)
            self._warm_up(model)

    @property
    def weights(self) -> Weights:
        """The arrays that the steps read."""
        return self._weights

    def __deepcopy__(self, memo: object) -> None:
        """A copy of a model has other weights, so it starts without compiled passes."""

    def _warm_up(self, model: Transformer) -> None:
        """Embed a token and run an empty step, so that everything is compiled and in memory before the first token."""
        config, source = model.config, None
        if config.encoder_layers:
            columns = torch.zeros(config.layers, 2, config.key_value_heads, 1, 1, config.head_width)
            source = CrossAttentionCache(columns, [1], [0])
        cache = KeyValueCache.empty(
            config.layers, config.key_value_heads, config.head_width, like=model.reference, source=source
        )
        with torch.inference_mode():
            self.step([0], cache.extend(1), Want(layers=(0,)))
            hidden, rotary = model.embed(torch.tensor([[0]]))
            self.read_block(model.blocks[0], hidden[0], 0, ForwardContext(1, rotary, source=source))

    def read_block(
        self, block: nn.Module, hidden: torch.Tensor, layer: int, context: ForwardContext
    ) -> tuple[torch.Tensor, AttentionWeights]:
        """Like `Block.forward`, for rows without padding on the left."""
        assert isinstance(block, Block)
        return self._readers[block](hidden, layer, context)

    def step(self, tokens: Sequence[int], cache: KeyValueCache, want: Want) -> Forward[KeyValueCache]:
        """Feed the newest column of a cache, one token per row; the result is that of `Transformer`."""
        vocabulary_size = self._weights.unembedding.outputs
        if not all(0 <= token < vocabulary_size for token in tokens):  # compiled code would read foreign memory
            raise IndexError(f"the tokens {tuple(tokens)} are not all of a vocabulary of {vocabulary_size}")
        want.check_layers(len(self._weights.qkv_proj.bias))
        text, source = _text_columns(cache), _source_columns(cache)
        result = self._empty_result(cache, source, want)
        run_step(np.array(tokens), self._network, text, source, result)
        attention = hidden = layer_logits = None
        if want.attention:
            cross = torch.from_numpy(result.to_source).unsqueeze(3) if cache.source else None  # (R, L, H, 1, S)
            attention = Attention(torch.from_numpy(result.to_text).unsqueeze(3), cross)  # (R, L, H, 1, K)
        if want.hidden:
            hidden = torch.from_numpy(result.hidden)[:, None]  # (R, 1, W)
        if want.layers:
            layer_logits = self._layer_logits(result.outputs, want.layers)
        return Forward(torch.from_numpy(result.logits), cache, attention, hidden, layer_logits)

    def _empty_result(self, cache: KeyValueCache, source: SourceColumns, want: Want) -> StepResult:
        rows, heads = cache.rows, self._architecture.heads
        layers, width = len(self._weights.qkv_proj.bias), self._weights.embedding.inputs
        kept = layers if want.attention else 1  # otherwise each layer's weights overwrite those of the one before
        return StepResult(
            logits=np.empty((rows, self._weights.unembedding.outputs), np.float32),
            hidden=_empty(rows, width),
            outputs=np.empty((rows, layers + 1 if want.layers else 0, width), np.float32),
            to_text=np.empty((rows, kept, heads, cache.length), np.float32),
            to_source=np.empty((rows, kept, heads, source.columns.shape[4]), np.float32),
        )

    def _layer_logits(self, outputs: Array, layers: Sequence[int]) -> torch.Tensor:
        """The logits (R, requested layers, V) that the outputs (R, L + 1, W) of some layers would give."""
        rows, _, width = outputs.shape
        picked = outputs[:, list(layers)].reshape(-1, width)  # (R * requested layers, W)
        hidden, logits = _empty(*picked.shape), _empty(len(picked), self._weights.unembedding.outputs)
        unembed(picked, self._weights, self._architecture.epsilon, hidden, logits)
        return torch.from_numpy(logits).unflatten(0, (rows, -1))  # (R, requested layers, V)


def _empty(*shape: int) -> Array:
    """Uninitialized memory for the factors of a product, which begins at a cache line."""
    return torch.empty(*shape).numpy()


def _text_columns(cache: KeyValueCache) -> TextColumns:
    prefix, suffix = cache.prefix_memory, cache.suffix_memory
    return TextColumns(
        prefix.numpy(), cache.prefix_length, suffix.numpy(), cache.length - cache.prefix_length, np.array(cache.padding)
    )


_NO_SOURCE = SourceColumns(np.empty((0, 2, 0, 0, 0, 0), np.float32), np.zeros(0, np.int64), np.zeros(0, np.int64))


def _source_columns(cache: KeyValueCache) -> SourceColumns:
    source = cache.source
    if source is None:
        return _NO_SOURCE
    return SourceColumns(source.columns.numpy(), np.array(source.lengths), np.array(source.source_of_row))
