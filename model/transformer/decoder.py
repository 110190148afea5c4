"""Our decoder-only transformer: embeddings, a stack of blocks, and the verbs of `LanguageModel`.

Training, prefill, single steps, scoring and inspection share one pass (`_run_layers`) and differ only in its inputs and
outputs. It knows nothing of text: tokens in, logits out. If `model.compiled.prepare` has attached compiled passes,
single steps and blocks over many tokens use those, and otherwise the modules, with the same result.

Shapes: R rows, T tokens fed in this pass, K keys (all tokens so far), H query heads, D head width, W model width, V
vocabulary.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Sequence
from typing import Any, Protocol, Self

import torch
from torch import Tensor, nn
from torch.nn import functional

from model.inspection.inspector import Inspector, Pass, Texts
from model.inspection.intervened import Intervened
from model.inspection.intervention import Intervention
from model.interface import Forward, Inspection, Want
from model.limits import check_length, check_room
from model.transformer.attention import AttentionWeights, ForwardContext, stack_attention
from model.transformer.cache import KeyValueCache
from model.transformer.config import TransformerConfig
from model.transformer.cross_attention_cache import CrossAttentionCache
from model.transformer.inspection import anatomy_of, last_of
from model.transformer.layers import Block, make_norm
from model.transformer.positions import rotary_tables, sinusoids


class CompiledPasses(Protocol):
    """What `model.compiled.prepare` attaches to a model."""

    def step(self, tokens: Sequence[int], cache: KeyValueCache, want: Want) -> Forward[KeyValueCache]:
        """Feed one token per row to a cache that has been extended by a column."""
        ...

    def read_block(
        self, block: nn.Module, hidden: Tensor, layer: int, context: ForwardContext
    ) -> tuple[Tensor, AttentionWeights]:
        """Like `Block.forward`, for rows without padding on the left: hidden states (R * T, W) to new ones."""
        ...


class Transformer(nn.Module):
    """The model that a `TransformerConfig` describes, with random weights until a checkpoint fills them.

    Implements `model.interface.LanguageModel`.
    """

    sinusoids: Tensor  # (context length, W), for sinusoidal positions
    cosines: Tensor  # (context length, D), for rotary positions
    sines: Tensor

    def __init__(self, config: TransformerConfig) -> None:
        super().__init__()
        self.config = config
        self.embedding = nn.Embedding(config.vocabulary_size, config.width, padding_idx=config.padding)
        self.blocks = nn.ModuleList(
            Block(config, cross_attention=config.encoder_layers > 0) for _ in range(config.layers)
        )
        self.final_norm = make_norm(config) if config.norm_place == "before" else nn.Identity()
        self.unembedding = nn.Linear(config.width, config.vocabulary_size, bias=False)
        if config.tied_embeddings:
            self.unembedding.weight = self.embedding.weight
        if config.positions == "learned":
            self.position_embedding = nn.Embedding(config.context_length, config.width)
        self.register_position_tables()
        self.compiled: CompiledPasses | None = None  # it holds the weights' memory, so it is dropped when they change
        self._initialize()

    def register_position_tables(self) -> None:
        """Compute the tables that follow from the config alone, so no checkpoint has them."""
        config = self.config
        if config.positions == "sinusoidal":
            self.register_buffer("sinusoids", sinusoids(config.context_length, config.width), persistent=False)
        elif config.positions == "rotary":
            cosines, sines = rotary_tables(
                config.context_length, config.head_width, config.rotary_base, config.rotary_scaling
            )
            self.register_buffer("cosines", cosines, persistent=False)
            self.register_buffer("sines", sines, persistent=False)

    def _initialize(self) -> None:
        """Normal weights like GPT-2's; projections into the residual stream start smaller, so that it does not grow
        with depth (Radford et al., 2019, section 2.3)."""
        for name, parameter in self.named_parameters():
            if parameter.dim() == 2:
                last_of_block = name.endswith(("attention.o_proj.weight", "feed_forward.down_proj.weight"))
                nn.init.normal_(parameter, std=0.02 / math.sqrt(2 * self.config.layers) if last_of_block else 0.02)
            elif name.endswith("bias"):
                nn.init.zeros_(parameter)

    def _apply(self, fn: Callable[[Tensor], Tensor], recurse: bool = True) -> Self:
        self.compiled = None
        return super()._apply(fn, recurse)

    def _load_from_state_dict(self, state_dict: dict[str, Any], prefix: str, *args: Any, **kwargs: Any) -> None:
        self.compiled = None
        rename_weights(state_dict, prefix)
        super()._load_from_state_dict(state_dict, prefix, *args, **kwargs)

    @property
    def reference(self) -> Tensor:
        """A parameter on the device and in the precision of the hidden states."""
        return next(self.blocks.parameters())

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

    def forward(
        self,
        tokens: Tensor,
        wanted: Tensor | None = None,
        positions: Tensor | None = None,
        groups: Sequence[tuple[int, int]] = (),
    ) -> Tensor:
        """Logits of every position, (R, T, V), or of the N wanted positions in their order, (N, V), for training.

        Args:
            tokens, positions: ids and their positions, (R, T) each; without positions, each row counts from 0.
            wanted: boolean, (R, T); None for every position.
            groups: for one row of texts that each attend to themselves alone: how many have a length, and this length.
        """
        hidden, _, _ = self._run_layers(tokens, positions=positions, groups=groups)  # (R, T, W)
        return self.unembedding(hidden if wanted is None else hidden[wanted])

    @torch.inference_mode()
    def prefill(self, prompt: Sequence[int], *, want: Want = Want()) -> Forward[KeyValueCache]:
        return self._start(self._as_row(prompt), None, want)

    @torch.inference_mode()
    def extend_prefix(
        self, tokens: Sequence[int], cache: KeyValueCache, *, want: Want = Want()
    ) -> Forward[KeyValueCache]:
        check_length(cache.length + len(tokens), self.context_length)
        return self._forward(self._as_row(tokens), cache.extend(len(tokens)), want)

    @torch.inference_mode()
    def extend_logits(self, tokens: Sequence[int], cache: KeyValueCache | None = None) -> tuple[Tensor, KeyValueCache]:
        grown = (self._empty_cache() if cache is None else cache).extend(len(tokens))
        check_length(grown.length, self.context_length)
        positions, mask = grown.positions(len(tokens)), grown.attention_mask()
        hidden = self._run_layers(self._as_row(tokens), positions=positions, attention_mask=mask, cache=grown)[0]
        return self.unembedding(hidden[0]).float(), grown  # (T, V)

    @torch.inference_mode()
    def step(self, tokens: Sequence[int], cache: KeyValueCache, *, want: Want = Want()) -> Forward[KeyValueCache]:
        if len(tokens) != cache.rows:
            raise ValueError(f"{len(tokens)} tokens for {cache.rows} rows")
        check_room(cache.length, self.context_length)  # the longest row has no padding
        fed = torch.tensor(tokens, device=self.reference.device)[:, None]  # (R, 1)
        return self._forward(fed, cache.extend(1), want)

    @torch.inference_mode()
    def logits(self, prompt: Sequence[int], tokens: Sequence[int]) -> Tensor:
        if not prompt:
            raise ValueError("scoring needs a prompt of at least one token")
        if not tokens:
            return torch.empty(0, self.vocabulary_size, device=self.reference.device)
        fed = self._as_row((*prompt, *tokens[:-1]))  # (1, T); the last token's prediction is not needed
        hidden, _, _ = self._run_layers(fed)
        return self.unembedding(hidden[0, len(prompt) - 1 :]).float()  # (len(tokens), V)

    @torch.inference_mode()
    def logits_together(self, texts: Sequence[Sequence[int]]) -> list[Tensor]:
        logits = self._read([text[:-1] for text in texts], [], attention=False, last=False).logits  # (R, T, V)
        return [rows[: len(text) - 1] for rows, text in zip(logits, texts, strict=True)]

    @torch.inference_mode()
    def inspect(self, tokens: Sequence[int], *, source: Sequence[int] = ()) -> Inspection:
        result = self._read([tokens], [source] if source else [], attention=True, last=False)
        assert result.attention is not None
        return Inspection(result.logits[0], result.attention)

    def inspector(self) -> Inspector:
        """See `model.inspection.inspector.Inspectable`."""
        return Inspector(anatomy_of(self), self._by_modules()._read)

    def with_interventions(self, interventions: Sequence[Intervention]) -> Intervened[KeyValueCache]:
        """See `model.inspection.inspector.Inspectable`."""
        return Intervened(self._by_modules(), anatomy_of(self), interventions)

    def _by_modules(self) -> Self:
        """The same modules without the compiled passes, which hooks can't reach."""
        other = copy.copy(self)
        other.compiled = None
        return other

    def _read(self, rows: Texts, sources: Texts, *, attention: bool, last: bool) -> Pass:
        """See `model.inspection.inspector.Passes`."""
        longest = max(map(len, rows))
        check_length(longest, self.context_length)
        padded = [[*row, *[0] * (longest - len(row))] for row in rows]  # causal: no token sees what follows it
        fed = torch.tensor(padded, device=self.reference.device)  # (R, T)
        hidden, weights, _ = self._run_layers(fed, capture=longest if attention else 0)  # (R, T, W)
        return Pass(
            self.unembedding(last_of(hidden, rows) if last else hidden).float(),  # (R, 1 or T, V)
            stack_attention(weights) if attention else None,
        )

    def _start(self, tokens: Tensor, source: CrossAttentionCache | None, want: Want) -> Forward[KeyValueCache]:
        """The first pass over texts of equal length, (R, T)."""
        return self._forward(tokens, self._empty_cache(len(tokens), source).extend(tokens.shape[1]), want)

    def _empty_cache(self, rows: int = 1, source: CrossAttentionCache | None = None) -> KeyValueCache:
        heads, head_width = self.config.key_value_heads, self.config.head_width
        return KeyValueCache.empty(self.config.layers, heads, head_width, like=self.reference, rows=rows, source=source)

    def _forward(self, tokens: Tensor, cache: KeyValueCache, want: Want) -> Forward[KeyValueCache]:
        """A pass that continues a cache and returns the logits of each row's newest token."""
        if self.compiled is not None and tokens.shape[1] == 1:
            return self.compiled.step(tokens[:, 0].tolist(), cache, want)
        want.check_layers(self.layer_count)
        hidden, weights, outputs = self._run_layers(
            tokens,
            positions=cache.positions(tokens.shape[1]),
            attention_mask=cache.attention_mask(),
            cache=cache,
            source=cache.source,
            capture=1 if want.attention else 0,
            layers=want.layers,
            kept=tokens.shape[1] if want.hidden else 1,
        )
        logits = self.unembedding(hidden[:, -1]).float()  # (R, V)
        attention = stack_attention(weights) if want.attention else None
        layer_logits = None
        if want.layers:
            newest = torch.stack([outputs[layer][:, -1] for layer in want.layers], dim=1)  # (R, requested layers, W)
            layer_logits = self.unembedding(self.final_norm(newest)).float()  # (R, requested layers, V)
        return Forward(logits, cache, attention, hidden.float() if want.hidden else None, layer_logits)

    def _run_layers(
        self,
        tokens: Tensor,  # (R, T)
        *,
        positions: Tensor | None = None,
        attention_mask: Tensor | None = None,
        cache: KeyValueCache | None = None,
        source: CrossAttentionCache | None = None,
        capture: int = 0,
        layers: Sequence[int] = (),
        kept: int | None = None,
        groups: Sequence[tuple[int, int]] = (),
    ) -> tuple[Tensor, list[AttentionWeights], dict[int, Tensor]]:
        """One pass over all layers.

        Returns the normed hidden states of the last `kept` tokens or of all, (R, kept, W), each layer's attention
        weights if any are to be captured, and the outputs of `layers` before the final norm, (R, T, W) each; layer 0 is
        the embeddings.
        """
        rows, length = tokens.shape
        start = cache.length - length if cache is not None else 0
        hidden, rotary = self.embed(tokens, positions, start)
        run_block = self.block_runner() if attention_mask is None and not groups else Block.__call__
        mask = self._with_window(attention_mask, length, cache.length if cache is not None else length)
        context, captured = ForwardContext(rows, rotary, mask, cache, source, capture=capture, groups=groups), []
        hidden = hidden.flatten(0, 1)  # (R * T, W): only attention mixes tokens
        outputs = {0: hidden.view(rows, length, -1)} if 0 in layers else {}  # (R, T, W)
        for layer, block in enumerate(self.blocks):
            hidden, weights = run_block(block, hidden, layer, context)
            captured.append(weights)
            if layer + 1 in layers:
                outputs[layer + 1] = hidden.view(rows, length, -1)  # (R, T, W)
        newest = hidden.view(rows, length, -1)[:, -(kept or length) :]  # (R, kept, W)
        return self.final_norm(newest), captured, outputs

    def block_runner(self) -> Callable[..., tuple[Tensor, AttentionWeights]]:
        """The function that runs a block over hidden states; compiled unless gradients are needed."""
        learns = self.training or torch.is_grad_enabled()
        return Block.__call__ if self.compiled is None or learns else self.compiled.read_block

    def embed(
        self, tokens: Tensor, positions: Tensor | None = None, start: int = 0
    ) -> tuple[Tensor, tuple[Tensor, Tensor] | None]:
        """Tokens (R, T) with their positions as hidden states (R, T, W), or beside them as rotary tables."""
        length = tokens.shape[1]
        hidden, rotary = self.embedding(tokens) * self.config.embedding_scale, None  # (R, T, W)
        if self.config.positions == "rotary":
            cosines = self._lookup(self.cosines, positions, start, length)[:, :, None]  # (R or 1, T, 1, D)
            rotary = cosines, self._lookup(self.sines, positions, start, length)[:, :, None]
        elif self.config.positions == "learned":
            hidden = hidden + self._lookup(self.position_embedding.weight, positions, start, length)
        elif self.config.positions == "sinusoidal":
            hidden = hidden + self._lookup(self.sinusoids, positions, start, length)
        if self.training:
            hidden = functional.dropout(hidden, self.config.dropout)
        return hidden, rotary

    def _with_window(self, mask: Tensor | None, length: int, keys: int) -> Tensor | None:
        """A mask (R, 1, T or 1, K) narrowed to the sliding window, if there is one and the text is longer."""
        window = self.config.sliding_window
        if not window or keys <= window:
            return mask
        everywhere = torch.ones(length, keys, dtype=torch.bool, device=self.reference.device)
        near = everywhere.tril(keys - length).triu(keys - length - window + 1)  # (T, K)
        return near if mask is None else near & mask

    @staticmethod
    def _lookup(table: Tensor, positions: Tensor | None, start: int, length: int) -> Tensor:
        """Rows of a position table: (1, T, width) for columns from `start`, or (R, T, width) at given positions."""
        if positions is None:
            return table[None, start : start + length]
        return functional.embedding(positions, table)

    def _as_row(self, tokens: Sequence[int]) -> Tensor:
        check_length(len(tokens), self.context_length)
        return torch.tensor(tokens, device=self.reference.device)[None]  # (1, T)


_OLD_NAMES = {  # in checkpoints of earlier versions, including the embedded ones
    ".attention.queries_keys_values.": ".attention.qkv_proj.",
    ".attention.output.": ".attention.o_proj.",
    ".cross.queries.": ".cross.q_proj.",
    ".cross.keys_values.": ".cross.kv_proj.",
    ".cross.output.": ".cross.o_proj.",
    ".feed_forward.wide.": ".feed_forward.up_proj.",
    ".feed_forward.narrow.": ".feed_forward.down_proj.",
}


def rename_weights(state_dict: dict[str, Any], prefix: str = "") -> None:
    """Give the weights of an older checkpoint today's names, in place."""
    for name in [name for name in state_dict if name.startswith(prefix)]:
        for old, new in _OLD_NAMES.items():
            if old in name:
                state_dict[name.replace(old, new)] = state_dict.pop(name)
                break
