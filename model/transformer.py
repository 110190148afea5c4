"""Our decoder-only transformer: embeddings, a stack of blocks, and the verbs of `LanguageModel`.

One pass (`_read`) serves training, prefill, single steps, scoring and inspection; they differ only in what they feed
and what they ask back. It knows nothing of text: tokens in, logits out.

Shapes: R rows, T tokens fed in this pass, K keys (all tokens so far), W model width, V vocabulary.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Self

import torch
from torch import Tensor, nn
from torch.nn import functional

from model.cache import KeyValueCache
from model.config import TransformerConfig
from model.interface import Attention, Forward, Inspection, Want
from model.layers import Block, Pass, Weights, make_norm, rotary_tables, sinusoids
from model.limits import check_length, check_room
from model.products import fast_norm, lay_out, outgrows_a_copy, product_of
from model.source import Source
from model.stepping import FastBlock, FastStack


class Transformer(nn.Module):
    """The model that a `TransformerConfig` describes, with random weights until a checkpoint fills them."""

    sinusoids: Tensor  # (context length, W), of sinusoidal positions
    cosines: Tensor  # (context length, D), of rotary positions
    sines: Tensor

    def __init__(self, config: TransformerConfig) -> None:
        super().__init__()
        self.config = config
        self.embedding = nn.Embedding(config.vocabulary_size, config.width, padding_idx=config.padding)
        self.blocks = nn.ModuleList(Block(config, reads_source=config.encoder_layers > 0) for _ in range(config.layers))
        self.final_norm = make_norm(config) if config.norm_place == "before" else nn.Identity()
        self.unembedding = nn.Linear(config.width, config.vocabulary_size, bias=False)
        if config.tied_embeddings:
            self.unembedding.weight = self.embedding.weight
        if config.positions == "learned":
            self.position_embedding = nn.Embedding(config.context_length, config.width)
        elif config.positions == "sinusoidal":
            self.register_buffer("sinusoids", sinusoids(config.context_length, config.width), persistent=False)
        elif config.positions == "rotary":
            cosines, sines = rotary_tables(
                config.context_length, config.head_width, config.rotary_base, config.rotary_scaling
            )
            self.register_buffer("cosines", cosines, persistent=False)
            self.register_buffer("sines", sines, persistent=False)
        self._fast: FastStack | None = None  # the same weights for one token a row
        self._initialise()

    def _initialise(self) -> None:
        """Normal weights, as GPT-2's: what is added to the residual stream starts smaller, so that depth does not blow
        it up (Radford et al., 2019, section 2.3)."""
        for name, parameter in self.named_parameters():
            if parameter.dim() == 2:
                last_of_block = name.endswith(("attention.output.weight", "feed_forward.narrow.weight"))
                nn.init.normal_(parameter, std=0.02 / math.sqrt(2 * self.config.layers) if last_of_block else 0.02)
            elif name.endswith("bias"):
                nn.init.zeros_(parameter)

    def lay_out_for_steps(self) -> Self:
        """Make single steps fast, in place; no value changes. To be called again after a change of values, device
        or precision.

        See `products.lay_out` and `stepping`; `make bench` shows what a step costs.
        """
        for module in self.modules():
            # Tied to the embedding, a matrix stays as that is read, a token's vector in one piece, unless it is so
            # large that reading all of it for each token costs more than gathering a prompt's vectors ever does.
            tied = module is self.unembedding and self.config.tied_embeddings
            if isinstance(module, nn.Linear) and (not tied or outgrows_a_copy(module)):
                lay_out(module)
        blocks = tuple(FastBlock.of(block, self.config) for block in self.blocks if isinstance(block, Block))
        self._fast = FastStack(blocks, fast_norm(self.final_norm), product_of(self.unembedding))
        return self

    def _apply(self, fn: Callable[[Tensor], Tensor], recurse: bool = True) -> Self:
        self._fast = None  # they see the tensors that are being replaced
        return super()._apply(fn, recurse)

    @property
    def vocabulary_size(self) -> int:
        return self.config.vocabulary_size

    @property
    def context_length(self) -> int:
        return self.config.context_length

    @property
    def decoder_start(self) -> tuple[int, ...]:
        return ()

    @property
    def joinable(self) -> bool:
        return True  # positions are counted from each row's own first token

    @property
    def layer_count(self) -> int:
        return self.config.layers

    def forward(self, tokens: Tensor, positions: Tensor | None = None, visible: Tensor | None = None) -> Tensor:
        """Logits of every position, (R, T, V), for training.

        Args:
            tokens: ids, (R, T).
            positions: of each token, (R, T); None counts from 0.
            visible: boolean, (R, 1, T, T), True where a query may look; None for plain causal attention.
        """
        hidden, _, _ = self._read(tokens, positions=positions, visible=visible)
        return self.unembedding(hidden)

    @torch.inference_mode()
    def prefill(self, prompt: Sequence[int], *, want: Want = Want()) -> Forward[KeyValueCache]:
        return self._begun(self._row(prompt), None, want)

    @torch.inference_mode()
    def step(self, tokens: Sequence[int], cache: KeyValueCache, *, want: Want = Want()) -> Forward[KeyValueCache]:
        if len(tokens) != cache.rows:
            raise ValueError(f"{len(tokens)} tokens for {cache.rows} rows")
        check_room(cache.length, self.context_length)  # the longest row has no padding
        fed = torch.tensor(tokens, device=self.embedding.weight.device)[:, None]  # (R, 1)
        return self._forward(fed, cache.extend(1), want)

    @torch.inference_mode()
    def logits(self, prompt: Sequence[int], tokens: Sequence[int]) -> Tensor:
        if not prompt:
            raise ValueError("scoring needs a prompt of at least one token")
        if not tokens:
            return torch.empty(0, self.vocabulary_size, device=self.embedding.weight.device)
        fed = self._row((*prompt, *tokens[:-1]))  # (1, T); the last token predicts nothing that is asked for
        hidden, _, _ = self._read(fed)
        return self.unembedding(hidden[0, len(prompt) - 1 :]).float()  # (len(tokens), V)

    @torch.inference_mode()
    def inspect(self, tokens: Sequence[int], *, source: Sequence[int] = ()) -> Inspection:
        fed = self._row(tokens)  # (1, T)
        hidden, weights, _ = self._read(fed, capture=fed.shape[1])
        return Inspection(self.unembedding(hidden[0]).float(), stacked(weights))

    def _begun(self, tokens: Tensor, source: Source | None, want: Want) -> Forward[KeyValueCache]:
        """The first pass of texts of one length, (R, T)."""
        heads, head_width = self.config.key_value_heads, self.config.head_width
        like = self.embedding.weight
        cache = KeyValueCache.empty(self.config.layers, heads, head_width, like=like, rows=len(tokens), source=source)
        return self._forward(tokens, cache.extend(tokens.shape[1]), want)

    def _forward(self, tokens: Tensor, cache: KeyValueCache, want: Want) -> Forward[KeyValueCache]:
        """A pass that continues a cache and answers for each row's newest token."""
        hidden, weights, early = self._read(
            tokens,
            positions=cache.positions(tokens.shape[1]),
            visible=cache.visible(),
            cache=cache,
            source=cache.source,
            capture=1 if want.attention else 0,
            layers=want.layers,
        )
        unembed = self.unembedding if self._fast is None else self._fast.unembedding
        logits = unembed(hidden[:, -1]).float()  # (R, V)
        attention = stacked(weights) if want.attention else None
        layer_logits = None
        if want.layers:
            newest = torch.stack([early[layer][:, -1] for layer in want.layers], dim=1)  # (R, layers asked, W)
            layer_logits = self.unembedding(self.final_norm(newest)).float()  # (R, layers asked, V)
        return Forward(logits, cache, attention, hidden.float() if want.hidden else None, layer_logits)

    def _read(
        self,
        tokens: Tensor,  # (R, T)
        *,
        positions: Tensor | None = None,
        visible: Tensor | None = None,
        cache: KeyValueCache | None = None,
        source: Source | None = None,
        capture: int = 0,
        layers: Sequence[int] = (),
    ) -> tuple[Tensor, list[Weights], dict[int, Tensor]]:
        """Normed hidden states (R, T, W), each layer's attention if any is asked for, and what came out of the layers
        asked for, before the final norm (R, T, W); layer 0 is the embeddings."""
        rows, length = tokens.shape
        start = cache.length - length if cache is not None else 0
        hidden, rotary = self._embedded(tokens, positions, start)
        visible = self._windowed(visible, length, cache.length if cache is not None else length)
        shared, captured = Pass(rows, rotary, visible, cache=cache, source=source, capture=capture), []
        blocks, final_norm = self.blocks, self.final_norm
        if self._fast is not None and cache is not None and length == 1:
            blocks, final_norm = self._fast.blocks, self._fast.final_norm
        hidden = hidden.flatten(0, 1)  # (R * T, W): but for attention, every token goes its own way
        early = {0: hidden.view(rows, length, -1)} if 0 in layers else {}  # (R, T, W)
        for layer, block in enumerate(blocks):
            hidden, weights = block(hidden, layer, shared)
            captured.append(weights)
            if layer + 1 in layers:
                early[layer + 1] = hidden.view(rows, length, -1)  # (R, T, W)
        return final_norm(hidden).view(rows, length, -1), captured, early  # (R, T, W)

    def _embedded(
        self, tokens: Tensor, positions: Tensor | None, start: int
    ) -> tuple[Tensor, tuple[Tensor, Tensor] | None]:
        """Tokens (R, T) with their positions as hidden states (R, T, W), or beside them as rotary tables."""
        length = tokens.shape[1]
        hidden, rotary = self.embedding(tokens) * self.config.embedding_scale, None  # (R, T, W)
        if self.config.positions == "rotary":
            cosines = self._at(self.cosines, positions, start, length)[:, :, None]  # (R or 1, T, 1, D)
            rotary = cosines, self._at(self.sines, positions, start, length)[:, :, None]
        elif self.config.positions == "learned":
            hidden = hidden + self._at(self.position_embedding.weight, positions, start, length)
        elif self.config.positions == "sinusoidal":
            hidden = hidden + self._at(self.sinusoids, positions, start, length)
        if self.training:
            hidden = functional.dropout(hidden, self.config.dropout)
        return hidden, rotary

    def _windowed(self, visible: Tensor | None, length: int, keys: int) -> Tensor | None:
        """`visible` (R, 1, T or 1, K) narrowed to the sliding window, where there is one and the text is longer."""
        window = self.config.sliding_window
        if not window or keys <= window:
            return visible
        everywhere = torch.ones(length, keys, dtype=torch.bool, device=self.embedding.weight.device)
        near = everywhere.tril(keys - length).triu(keys - length - window + 1)  # (T, K)
        return near if visible is None else near & visible

    @staticmethod
    def _at(table: Tensor, positions: Tensor | None, start: int, length: int) -> Tensor:
        """Rows of a position table: (1, T, width) for columns from `start`, or (R, T, width) at given positions."""
        if positions is None:
            return table[None, start : start + length]
        return functional.embedding(positions, table)

    def _row(self, tokens: Sequence[int]) -> Tensor:
        check_length(len(tokens), self.context_length)
        return torch.tensor(tokens, device=self.embedding.weight.device)[None]  # (1, T)


def stacked(layers: Sequence[Weights], encoder: Sequence[Weights] = ()) -> Attention:
    """What the layers captured, (R, layers, H, capture, K or S) each."""
    own, cross, read = (
        [part for part in parts if part is not None]
        for parts in ([one.own for one in layers], [one.cross for one in layers], [one.own for one in encoder])
    )
    joined = (torch.stack(part, dim=1).float() if part else None for part in (cross, read))
    return Attention(torch.stack(own, dim=1).float(), *joined)
