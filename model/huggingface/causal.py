"""Any causal model of transformers behind `LanguageModel`; `model.huggingface.attention` captures its attention.

Shapes: R rows, T tokens fed in this pass, K keys (all tokens so far), H query heads, G key/value heads, D head width,
W model width, V vocabulary.
"""

from __future__ import annotations

import copy
import inspect
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Self

import torch
from torch import Tensor, nn
from torch.nn import functional
from transformers import PreTrainedModel
from transformers.cache_utils import DynamicLayer, DynamicSlidingWindowLayer

from model.errors import AttendError
from model.huggingface.attention import forward_with_attention, stacked
from model.huggingface.positions import context_length
from model.interface import Attention, Forward, Inspection, Want
from model.limits import check_length, check_room


@dataclass(frozen=True, slots=True)
class HuggingFaceCache:
    """An immutable cache of transformers: each pass works on a copy of the record, not of its tensors."""

    hf_cache: Any  # a Cache of transformers, whose layers all hold keys and values
    length: int  # columns, padding included
    padding: tuple[int, ...]  # of each row, on the left

    @property
    def rows(self) -> int:
        return len(self.padding)

    def opened(self) -> Any:
        return opened(self.hf_cache)

    def select(self, rows: Sequence[int]) -> Self:
        if tuple(rows) == tuple(range(self.rows)):
            return self
        padding, unused = cropped([self.padding[row] for row in rows])
        return type(self)(selected(self.hf_cache, rows, unused), self.length - unused, padding)

    def join(self, other: Self) -> Self:
        length = max(self.length, other.length)
        padding = [pad + length - cache.length for cache in (self, other) for pad in cache.padding]
        return type(self)(joined(self.hf_cache, other.hf_cache, length), length, tuple(padding))

    def attention_mask(self) -> Tensor | None:
        return unpadded(self.length, self.padding)

    def extended(self, count: int) -> Self:
        """The same rows, `count` columns longer; to be filled by a pass."""
        return type(self)(self.hf_cache, self.length + count, self.padding)


def opened(hf_cache: Any) -> Any:
    """A cache to hand to a pass, which only replaces tensors and never changes them."""
    cache = copy.copy(hf_cache)
    cache.layers = [copy.copy(layer) for layer in hf_cache.layers]
    return cache


def cropped(padding: Sequence[int]) -> tuple[tuple[int, ...], int]:
    """The padding of each row without the columns that are padding in all of them, and how many those are."""
    unused = min(padding, default=0)
    return tuple(pad - unused for pad in padding), unused


def selected(hf_cache: Any, rows: Sequence[int], unused: int = 0) -> Any:
    """These rows of a cache of transformers without its first `unused` columns, in a new one."""
    cache = opened(hf_cache)
    for layer in cache.layers:
        index = torch.tensor(rows, dtype=torch.long, device=layer.keys.device)
        layer.keys, layer.values = (
            part[:, :, unused:].index_select(0, index)
            for part in (layer.keys, layer.values)  # (R, G, K, D)
        )
    return cache


def joined(first: Any, second: Any, length: int, *, on_the_right: bool = False) -> Any:
    """The rows of two caches of transformers in a new one, all padded to so many columns, on the left by default."""
    cache = opened(second)
    for layer, before in zip(cache.layers, first.layers, strict=True):
        pairs = (before.keys, layer.keys), (before.values, layer.values)
        layer.keys, layer.values = (  # (R, G, K, D)
            torch.cat([_padded(part, length, on_the_right=on_the_right) for part in pair]) for pair in pairs
        )
    return cache


def unpadded(length: int, padding: Sequence[int]) -> Tensor | None:
    """A mask of so many columns (R, K), 0 for each row's padding; None where there is none."""
    if not any(padding):
        return None
    return (torch.arange(length)[None, :] >= torch.tensor(padding)[:, None]).long()


def _padded(columns: Tensor, length: int, *, on_the_right: bool) -> Tensor:
    missing = length - columns.shape[2]
    return functional.pad(columns, (0, 0, 0, missing) if on_the_right else (0, 0, missing, 0))  # (R, G, length, D)


class HuggingFaceModel:
    """A causal model of transformers, in evaluation mode, loaded with the implementation that `attention_for` names."""

    decoder_start: tuple[int, ...] = ()

    def __init__(self, hf_model: PreTrainedModel) -> None:
        """Raises `AttendError` for a model whose memory of the text is not keys and values."""
        self._hf_model: Any = hf_model.eval()  # its class says too little of the families' own methods
        config: Any = hf_model.config.get_text_config()
        self.vocabulary_size: int = self._hf_model.get_output_embeddings().weight.shape[0]
        self.context_length = context_length(hf_model, endless=2048)
        self._takes_positions = "position_ids" in inspect.signature(hf_model.forward).parameters
        kinds = {type(layer) for layer in self.prefill([0]).cache.hf_cache.layers}
        if not kinds <= {DynamicLayer, DynamicSlidingWindowLayer}:
            names = ", ".join(sorted(kind.__name__ for kind in kinds))
            raise AttendError(
                f"This model keeps its cache as {names}, which Attend can't branch: choose another model."
            )
        self.layer_count: int = config.num_hidden_layers
        # Joined rows of different lengths need positions of their own and caches that keep every column.
        self.joinable = self._takes_positions and kinds == {DynamicLayer}

    @property
    def device(self) -> torch.device:
        return input_device(self._hf_model)

    def named_parameters(self) -> Iterator[tuple[str, Tensor]]:
        """Its weights by the names that transformers gives them."""
        return self._hf_model.named_parameters()

    @torch.inference_mode()
    def prefill(self, prompt: Sequence[int], *, want: Want = Want()) -> Forward[HuggingFaceCache]:
        check_length(len(prompt), self.context_length)
        return self._forward(torch.tensor([list(prompt)]), None, want)

    @torch.inference_mode()
    def step(self, tokens: Sequence[int], cache: HuggingFaceCache, *, want: Want = Want()) -> Forward[HuggingFaceCache]:
        if len(tokens) != cache.rows:
            raise ValueError(f"{len(tokens)} tokens for {cache.rows} rows")
        check_room(cache.length, self.context_length)
        return self._forward(torch.tensor(tokens)[:, None], cache, want)

    @torch.inference_mode()
    def logits(self, prompt: Sequence[int], tokens: Sequence[int]) -> Tensor:
        if not prompt:
            raise ValueError("scoring needs a prompt of at least one token")
        if not tokens:
            return torch.empty(0, self.vocabulary_size)
        fed = [*prompt, *tokens[:-1]]
        check_length(len(fed), self.context_length)
        answer = self._hf_model(input_ids=torch.tensor([fed], device=self.device), use_cache=False)
        return answer.logits[0, len(prompt) - 1 :].float()  # (len(tokens), V)

    @torch.inference_mode()
    def inspect(self, tokens: Sequence[int], *, source: Sequence[int] = ()) -> Inspection:
        check_length(len(tokens), self.context_length)
        fed = torch.tensor([list(tokens)], device=self.device)
        answer, weights = forward_with_attention(self._hf_model, len(tokens), input_ids=fed, use_cache=False)
        return Inspection(answer.logits[0].float(), Attention(stacked(weights, len(tokens))))

    def _forward(self, tokens: Tensor, cache: HuggingFaceCache | None, want: Want) -> Forward[HuggingFaceCache]:
        """A pass over tokens (R, T) that continues a cache and answers for each row's newest token."""
        rows, length = tokens.shape
        options: dict[str, Any] = {"use_cache": True, "logits_to_keep": 1}
        if cache is not None:
            grown = cache.extended(length)
            options["past_key_values"] = cache.opened()
            if (mask := grown.attention_mask()) is not None:
                options["attention_mask"] = mask.to(self.device)
            if self._takes_positions:
                columns = torch.arange(cache.length, cache.length + length)[None, :]
                positions = columns - torch.tensor(cache.padding)[:, None]  # (R, T)
                options["position_ids"] = positions.to(self.device)
        wants_layers = bool(want.layers) or want.hidden
        options |= {"input_ids": tokens.to(self.device), "output_hidden_states": wants_layers}
        answer, weights = forward_with_attention(self._hf_model, 1 if want.attention else 0, **options)
        if getattr(answer, "past_key_values", None) is None:  # a state-space model such as Mamba
            raise AttendError(
                f"A {type(self._hf_model).__name__} has no keys and values, so there is no "
                "attention to show: choose a transformer."
            )
        columns = length if cache is None else cache.length + length
        attention = Attention(stacked(weights, columns)) if want.attention else None  # (R, layers, H, 1, K)
        padding = (0,) * rows if cache is None else cache.padding
        return Forward(
            answer.logits[:, -1].float(),  # (R, V)
            HuggingFaceCache(answer.past_key_values, columns, padding),
            attention,
            answer.hidden_states[-1].float() if want.hidden else None,  # (R, T, W)
            self._layer_logits(answer.hidden_states, want.layers) if want.layers else None,
        )

    def _layer_logits(self, hidden: Sequence[Tensor], layers: Sequence[int]) -> Tensor:
        """What the requested layers would predict if they were the last, (R, layers, V); hidden (R, T, W) each."""
        norm = _final_norm(self._hf_model)
        newest = [hidden[layer][:, -1] for layer in layers]  # (R, W) each
        last = len(hidden) - 1  # comes normed
        normed = [state if layer == last else norm(state) for layer, state in zip(layers, newest, strict=True)]
        return self._hf_model.get_output_embeddings()(torch.stack(normed, dim=1)).float()


def input_device(hf_model: Any) -> torch.device:
    """Where tokens go; where the weights wait on the disk, they are sent on from the CPU."""
    device = hf_model.get_input_embeddings().weight.device
    return torch.device("cpu") if device.type == "meta" else device


_FINAL_NORMS = ("norm", "ln_f", "final_layer_norm", "final_layernorm")


def _final_norm(hf_model: Any) -> nn.Module:
    decoder = hf_model.get_decoder()
    norm = next((getattr(decoder, name) for name in _FINAL_NORMS if getattr(decoder, name, None) is not None), None)
    if not isinstance(norm, nn.Module):
        raise AttendError(
            "This model does not expose its final norm, so its layers can't be read one by one: choose another model."
        )
    return norm
