"""Any causal model of transformers, as a `LanguageModel`; `model.huggingface.attention` captures its attention.

Shapes: R rows, T tokens fed in this pass, K keys (all tokens so far), H query heads, G key/value heads, D head width,
W model width, V vocabulary.
"""

from __future__ import annotations

import copy
import inspect
from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from dataclasses import replace
from typing import Any, Self

import torch
from torch import Tensor, nn
from transformers import PreTrainedModel
from transformers.cache_utils import DynamicCache, EncoderDecoderCache

from model.errors import AttendError
from model.huggingface.attention import forward_with_attention, make_capturable, padded_left, stacked
from model.huggingface.cache import BRANCHING, JOINING, HuggingFaceCache
from model.huggingface.inspection.anatomy import final_norm, open_model
from model.huggingface.inspection.last import last_logits, last_tokens
from model.huggingface.positions import (
    context_length,
    first_position,
    reads_again,
    rotate_rows_alone,
    rotates_by_length,
)
from model.inspection.inspector import Inspector, Pass, Texts
from model.inspection.intervened import Intervened
from model.inspection.intervention import Intervention
from model.interface import Attention, Forward, Inspection, Want
from model.limits import check_length, check_room


class HuggingFaceModel:
    """A causal model of transformers, in evaluation mode, loaded with its family's own attention (`EAGER`)."""

    decoder_start: tuple[int, ...] = ()

    def __init__(self, hf_model: PreTrainedModel) -> None:
        """Raises `AttendError` for a model whose cache can't be branched."""
        self._hf_model: Any = hf_model.eval()  # the type doesn't know the methods of the families
        make_capturable(hf_model)
        rotate_rows_alone(hf_model)
        config: Any = hf_model.config.get_text_config()
        self.vocabulary_size: int = self._hf_model.get_output_embeddings().weight.shape[0]
        self.context_length = context_length(hf_model, endless=2048)
        self._takes_positions = "position_ids" in inspect.signature(hf_model.forward).parameters
        self._first_position = first_position(hf_model)
        self._skipped = 0  # positions before those of a text; see `skipping`
        self._reads_again = reads_again(hf_model)
        self._opened: Inspector | None = None
        self.layer_count: int = config.num_hidden_layers
        kinds = {type(layer) for layer in self.prefill([0]).cache.hf_cache.layers}
        if not kinds <= BRANCHING:
            raise _not_branching(", ".join(sorted(kind.__name__ for kind in kinds - BRANCHING)))
        # Joined rows of different lengths need positions of their own and caches that keep every column.
        self.joinable = self._takes_positions and kinds <= JOINING

    def skipping(self, positions: int) -> Self:
        """A copy whose texts begin so many positions later, so that a short text shows what happens there."""
        other = copy.copy(self)
        other._skipped = positions
        return other

    @property
    def device(self) -> torch.device:
        return input_device(self._hf_model)

    @property
    def network(self) -> nn.Module:
        """The modules of transformers, to be looked at."""
        return self._hf_model

    def named_parameters(self) -> Iterator[tuple[str, Tensor]]:
        """The weights under the names that transformers gives them."""
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
        again = [
            row for row, pad in enumerate(cache.padding) if self._skipped + cache.length - pad == self._reads_again
        ]
        if again and cache.texts is not None:
            return self._read_again(again, tokens, cache, want)
        return self._forward(torch.tensor(tokens)[:, None], cache, want)

    def _read_again(
        self, again: Sequence[int], tokens: Sequence[int], cache: HuggingFaceCache, want: Want
    ) -> Forward[HuggingFaceCache]:
        """A step in which some rows, all equally long, are now so long that their whole texts must be read again."""
        assert cache.texts is not None
        whole = self._forward(torch.tensor([[*cache.texts[row], tokens[row]] for row in again]), None, want)
        others = [row for row in range(cache.rows) if row not in again]
        if not others:
            return _newest(whole)
        rest = self._forward(torch.tensor([tokens[row] for row in others])[:, None], cache.select(others), want)
        order = [[*again, *others].index(row) for row in range(cache.rows)]
        return _together(_newest(whole), rest, order)

    @torch.inference_mode()
    def logits(self, prompt: Sequence[int], tokens: Sequence[int]) -> Tensor:
        if not prompt:
            raise ValueError("scoring needs a prompt of at least one token")
        if not tokens:
            return torch.empty(0, self.vocabulary_size)
        fed = [*prompt, *tokens[:-1]]
        check_length(len(fed), self.context_length)
        ids, kept = torch.tensor([fed], device=self.device), len(tokens)
        answer = self._hf_model(input_ids=ids, use_cache=False, logits_to_keep=kept)
        return answer.logits[0, -kept:].float()  # (len(tokens), V), also from a family that ignores `logits_to_keep`

    @torch.inference_mode()
    def inspect(self, tokens: Sequence[int], *, source: Sequence[int] = ()) -> Inspection:
        result = self._read([tokens], [], attention=True, last=False)
        assert result.attention is not None
        return Inspection(result.logits[0], result.attention)

    def inspector(self) -> Inspector:
        """See `model.inspection.inspector.Inspectable`."""
        if self._opened is None:
            pads = self.joinable and not rotates_by_length(self._hf_model)
            self._opened = open_model(self._hf_model, self._read, source=False, pads=pads)
        return self._opened

    def with_interventions(self, interventions: Sequence[Intervention]) -> Intervened[HuggingFaceCache]:
        """See `model.inspection.inspector.Inspectable`."""
        if self._reads_again is not None:
            raise AttendError(
                "This model reads a growing text again, which can't be done under interventions: choose another model."
            )
        return Intervened(self, self.inspector().anatomy, interventions)

    def _read(self, rows: Texts, sources: Texts, *, attention: bool, last: bool) -> Pass:
        """See `model.inspection.inspector.Passes`."""
        longest = max(map(len, rows))
        check_length(longest, self.context_length)
        padded = [[*row, *[row[-1]] * (longest - len(row))] for row in rows]  # causal: no token sees what follows it
        fed = torch.tensor(padded, device=self.device)  # (R, T)
        with last_tokens(self._hf_model.get_output_embeddings(), rows) if last else nullcontext():
            answer, weights = forward_with_attention(
                self._hf_model, longest if attention else 0, input_ids=fed, use_cache=False
            )
        logits = last_logits(answer.logits, rows) if last else answer.logits  # (R, 1 or T, V)
        return Pass(logits.float(), Attention(stacked(weights, longest)) if attention else None)

    def _forward(self, tokens: Tensor, cache: HuggingFaceCache | None, want: Want) -> Forward[HuggingFaceCache]:
        """A pass over tokens (R, T) that continues a cache and returns the result for each row's newest token."""
        want.check_layers(self.layer_count)
        rows, length = tokens.shape
        options: dict[str, Any] = {"use_cache": True, "logits_to_keep": 1}
        if cache is not None:
            grown = cache.extended(length)
            options["past_key_values"] = cache.opened()
            if (mask := grown.attention_mask()) is not None:
                options["attention_mask"] = mask.to(self.device)
        if self._takes_positions and (cache is not None or self._skipped):
            before, paddings = (0, (0,) * rows) if cache is None else (cache.length, cache.padding)
            columns = torch.arange(before, before + length)[None, :] + self._skipped
            positions = columns - torch.tensor(paddings)[:, None] + self._first_position  # (R, T)
            options["position_ids"] = positions.to(self.device)
        wants_layers = bool(want.layers) or want.hidden
        options |= {"input_ids": tokens.to(self.device), "output_hidden_states": wants_layers}
        answer, weights = forward_with_attention(self._hf_model, 1 if want.attention else 0, **options)
        columns = length if cache is None else cache.length + length
        attention = Attention(stacked(weights, columns)) if want.attention else None  # (R, layers, H, 1, K)
        padding = (0,) * rows if cache is None else cache.padding
        texts = None
        if self._reads_again is not None and (cache is None or cache.texts is not None):
            earlier = cache.texts if cache is not None and cache.texts is not None else ((),) * rows
            texts = tuple((*text, *new) for text, new in zip(earlier, tokens.tolist(), strict=True))
        return Forward(
            answer.logits[:, -1].float(),  # (R, V)
            HuggingFaceCache(_cache_of(answer), columns, padding, texts),
            attention,
            answer.hidden_states[-1].float() if want.hidden else None,  # (R, T, W)
            self._layer_logits(answer.hidden_states, want.layers) if want.layers else None,
        )

    def _layer_logits(self, hidden: Sequence[Tensor], layers: Sequence[int]) -> Tensor:
        """What the requested layers would predict if they were the last, (R, layers, V); hidden (R, T, W) each."""
        norm = _final_norm(self._hf_model)
        newest = [hidden[layer][:, -1] for layer in layers]  # (R, W) each
        last = len(hidden) - 1  # it is already normalized
        normed = [state if layer == last else norm(state) for layer, state in zip(layers, newest, strict=True)]
        return self._hf_model.get_output_embeddings()(torch.stack(normed, dim=1)).float()


def _newest(forward: Forward[HuggingFaceCache]) -> Forward[HuggingFaceCache]:
    """A pass over whole texts as if only the newest token of each had been fed."""
    return replace(forward, hidden=None if forward.hidden is None else forward.hidden[:, -1:])  # (R, 1, W)


def _together(
    first: Forward[HuggingFaceCache], second: Forward[HuggingFaceCache], order: Sequence[int]
) -> Forward[HuggingFaceCache]:
    """Two passes as one, with their rows in the given order."""
    cache = first.cache.join(second.cache)

    def rows(parts: Sequence[Tensor | None]) -> Any:
        return None if any(part is None for part in parts) else torch.cat([*parts])[list(order)]  # pyright: ignore

    attention = [
        None if one.attention is None else padded_left(one.attention.decoder, cache.length) for one in (first, second)
    ]
    decoder = rows(attention)
    return Forward(
        rows((first.logits, second.logits)),  # (R, V)
        cache.select(order),
        None if decoder is None else Attention(decoder),
        rows((first.hidden, second.hidden)),
        rows((first.layer_logits, second.layer_logits)),
    )


def _cache_of(answer: Any) -> DynamicCache:
    """The keys and values that a pass returns; `AttendError` if there are none, or if Attend cannot branch them."""
    cache = getattr(answer, "past_key_values", None)
    if isinstance(cache, EncoderDecoderCache):  # from a decoder that could also read an encoder
        cache = cache.self_attention_cache
    if cache is None:  # a state-space model such as Mamba, or one that computes the whole text for every token
        raise AttendError(
            "This model keeps no keys and values of its text, which Attend needs to go on token by token: choose "
            "another model."
        )
    if type(cache) is not DynamicCache:
        raise _not_branching(type(cache).__name__)
    return cache


def _not_branching(kind: str) -> AttendError:
    return AttendError(f"This model keeps its cache as {kind}, which Attend can't branch: choose another model.")


def input_device(hf_model: Any) -> torch.device:
    """The device for tokens; if the weights are on the disk, accelerate sends them on from the CPU."""
    device = hf_model.get_input_embeddings().weight.device
    return torch.device("cpu") if device.type == "meta" else device


def _final_norm(hf_model: Any) -> nn.Module:
    norm = final_norm(hf_model)
    if norm is None:
        raise AttendError(
            "This model does not expose its final norm, so its layers can't be read one by one: choose another model."
        )
    return norm
