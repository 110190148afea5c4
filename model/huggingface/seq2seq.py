"""Any encoder with a decoder of transformers, as a `LanguageModel`: T5, BART, Marian, mBART, NLLB and their like.

The prompt is the encoder's source; it is read once and alone, in `prefill`. Its keys and values for cross-attention are
kept once for as long as all rows have the same source.

Shapes: R rows, T tokens fed in this pass, S source tokens, K keys (all of the decoder's tokens so far), H heads, W
model width, V vocabulary.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator, Sequence
from contextlib import nullcontext, suppress
from dataclasses import dataclass, replace
from typing import Any, Self

import torch
from torch import Tensor, nn
from transformers import PreTrainedModel
from transformers.cache_utils import DynamicCache, EncoderDecoderCache
from transformers.modeling_outputs import BaseModelOutput

from model.errors import AttendError
from model.huggingface.attention import forward_with_attention, make_capturable, stacked
from model.huggingface.cache import cropped, joined, opened, selected, unpadded
from model.huggingface.causal import input_device
from model.huggingface.inspection.anatomy import open_model
from model.huggingface.inspection.last import last_logits, last_tokens
from model.huggingface.positions import context_length, follow_padding, padded
from model.inspection.inspector import Inspector, Pass, Texts
from model.inspection.intervened import Intervened
from model.inspection.intervention import Intervention
from model.interface import Attention, Forward, Inspection, Want
from model.limits import check_length


@dataclass(frozen=True, slots=True)
class Seq2SeqCache:
    """The keys and values of the decoder's texts and of the sources; never changed.

    Texts of one batch end in the same column and sources begin in the same: a shorter text is padded on the left, a
    shorter source on the right.
    """

    hf_cache: Any  # an EncoderDecoderCache, whose layers all hold keys and values
    length: int  # columns of the decoder's texts, padding included
    padding: tuple[int, ...]  # for each row's text
    sources: tuple[int, ...]  # for each row, the number of its source
    source_lengths: tuple[int, ...]  # for each row, without padding
    joinable: bool  # whether the model reads rows with padding exactly as it reads them alone

    @property
    def rows(self) -> int:
        return len(self.padding)

    @property
    def source_length(self) -> int:
        """Columns of the sources, padding included."""
        return self.hf_cache.cross_attention_cache.layers[0].keys.shape[2]

    def opened(self) -> Any:
        """A cache to give to a pass, which only replaces tensors and never changes them."""
        return EncoderDecoderCache(opened(self.hf_cache.self_attention_cache), self.hf_cache.cross_attention_cache)

    def select(self, rows: Sequence[int]) -> Self:
        if tuple(rows) == tuple(range(self.rows)):
            return self
        texts, cross = self.hf_cache.self_attention_cache, self.hf_cache.cross_attention_cache
        sources = tuple(self.sources[row] for row in rows)
        if len(set(sources)) == 1:
            cross = opened(cross)
            for layer in cross.layers:  # (1, H, S, D), seen as (R, H, S, D): one source is never copied
                layer.keys, layer.values = (
                    tensor[rows[0], None].expand(len(rows), -1, -1, -1) for tensor in (layer.keys, layer.values)
                )
        elif sources != self.sources:  # beams of one source may swap rows without a copy
            cross = selected(cross, rows)
        padding, unused = cropped([self.padding[row] for row in rows])
        source_lengths = tuple(self.source_lengths[row] for row in rows)
        cache, length = EncoderDecoderCache(selected(texts, rows, unused), cross), self.length - unused
        return replace(
            self, hf_cache=cache, length=length, padding=padding, sources=sources, source_lengths=source_lengths
        )

    def join(self, other: Self) -> Self:
        """See `Cache.join`; `AttendError` for a family that is not known to handle padding."""
        if not self.joinable:
            raise AttendError("This model can't read several sources in one batch: run them one after the other.")
        first, second = self.hf_cache, other.hf_cache
        length, source_length = max(self.length, other.length), max(self.source_length, other.source_length)
        cache = EncoderDecoderCache(
            joined(first.self_attention_cache, second.self_attention_cache, length),
            joined(first.cross_attention_cache, second.cross_attention_cache, source_length, on_the_right=True),
        )
        return replace(
            self,
            hf_cache=cache,
            length=length,
            padding=tuple(pad + length - cache.length for cache in (self, other) for pad in cache.padding),
            sources=(*self.sources, *(source + max(self.sources) + 1 for source in other.sources)),
            source_lengths=self.source_lengths + other.source_lengths,
        )


@dataclass
class _EncoderOutput(BaseModelOutput):
    """A source that its encoder has read."""

    router_logits: Any = None  # for a mixture of experts; decoding doesn't need them


# Families for which tests hold joined rows equal to the same rows alone.
_JOINABLE = {"t5", "mt5", "umt5", "bart", "mbart", "marian", "m2m_100", "pegasus", "blenderbot", "blenderbot-small"}


_ENDLESS = {"longt5": 4096}  # the length in training of families without positions, unless it is 512


class Seq2SeqModel:
    """A model of transformers with an encoder, in evaluation mode, loaded with its family's own attention (`EAGER`)."""

    layer_count: int = 0  # DoLa, which needs the logits of layers, is for decoder-only models (Chuang et al., 2023)

    def __init__(self, hf_model: PreTrainedModel, *, forced_start: Sequence[int] = ()) -> None:
        """
        Args:
            forced_start: tokens that must begin every answer, such as the language that NLLB translates into.

        Raises `AttendError` if the model does not say what its decoder begins with.
        """
        self._hf_model: Any = hf_model.eval()
        make_capturable(hf_model)
        config: Any = hf_model.config
        start = getattr(hf_model.generation_config, "decoder_start_token_id", None)
        start = getattr(config, "decoder_start_token_id", None) if start is None else start
        if not isinstance(start, int):
            raise AttendError("This model does not say what its answers begin with (decoder_start_token_id).")
        self.decoder_start: tuple[int, ...] = (start, *forced_start)
        self.vocabulary_size: int = self._hf_model.get_output_embeddings().weight.shape[0]
        endless = _ENDLESS.get(config.model_type, 512)
        self.context_length = context_length(hf_model, endless=endless)  # for the answer
        self.source_length = context_length(hf_model, endless=endless, part="encoder")
        self.joinable = config.model_type in _JOINABLE
        self._opened: Inspector | None = None
        positions = getattr(hf_model.get_decoder(), "embed_positions", None)
        if self.joinable and positions is not None:
            follow_padding(positions)

    @property
    def network(self) -> nn.Module:
        """The modules of transformers, to be looked at."""
        return self._hf_model

    def named_parameters(self) -> Iterator[tuple[str, Tensor]]:
        """The weights under the names that transformers gives them."""
        return self._hf_model.named_parameters()

    def with_decoder_start(self, start: Sequence[int]) -> Self:
        """The same model, whose answers begin with other tokens."""
        other = copy.copy(self)
        other.decoder_start = tuple(start)
        return other

    @property
    def device(self) -> torch.device:
        return input_device(self._hf_model)

    @torch.inference_mode()
    def prefill(self, prompt: Sequence[int], *, want: Want = Want()) -> Forward[Seq2SeqCache]:
        source, _ = self._encoded(prompt)
        start = torch.tensor([self.decoder_start])
        empty = EncoderDecoderCache(DynamicCache(), DynamicCache())
        cache = Seq2SeqCache(empty, 0, (0,), (0,), (len(prompt),), self.joinable)
        return self._forward(start, source, cache, want)

    @torch.inference_mode()
    def step(self, tokens: Sequence[int], cache: Seq2SeqCache, *, want: Want = Want()) -> Forward[Seq2SeqCache]:
        if len(tokens) != cache.rows:
            raise ValueError(f"{len(tokens)} tokens for {cache.rows} rows")
        if cache.length >= self.context_length:
            raise AttendError(
                f"The output has reached this model's limit of {self.context_length:,} tokens: give it a shorter text."
            )
        # The source is not read again: the decoder only needs its length.
        source = cache.hf_cache.cross_attention_cache.layers[0].keys.new_zeros(1, 1, 1)
        return self._forward(torch.tensor(tokens)[:, None], source.expand(1, cache.source_length, 1), cache, want)

    @torch.inference_mode()
    def logits(self, prompt: Sequence[int], tokens: Sequence[int]) -> Tensor:
        if not tokens:
            return torch.empty(0, self.vocabulary_size)
        source, _ = self._encoded(prompt)
        fed = torch.tensor([[*self.decoder_start, *tokens[:-1]]])  # (1, T)
        answer, _ = self._decoded(fed, source, use_cache=False)
        return answer.logits[0, len(self.decoder_start) - 1 :].float()  # (len(tokens), V)

    @torch.inference_mode()
    def inspect(self, tokens: Sequence[int], *, source: Sequence[int] = ()) -> Inspection:
        read, encoder = self._encoded(source, capture=True)
        answer, weights = self._decoded(torch.tensor([list(tokens)]), read, queries=len(tokens), use_cache=False)
        return Inspection(answer.logits[0].float(), _attention(weights, len(tokens), read.shape[1], encoder))

    def inspector(self) -> Inspector:
        """See `model.inspection.inspector.Inspectable`."""
        if self._opened is None:
            self._opened = open_model(self._hf_model, self._read, source=True, pads=self.joinable)
        return self._opened

    def with_interventions(self, interventions: Sequence[Intervention]) -> Intervened[Seq2SeqCache]:
        """See `model.inspection.inspector.Inspectable`."""
        return Intervened(self, self.inspector().anatomy, interventions)

    def _read(self, rows: Texts, sources: Texts, *, attention: bool, last: bool) -> Pass:
        """See `model.inspection.inspector.Passes`."""
        longest, widest = max(map(len, rows)), max(map(len, sources))
        check_length(longest, self.context_length)
        check_length(widest, self.source_length)
        padded = torch.tensor([[*source, *[source[-1]] * (widest - len(source))] for source in sources])  # (U, S)
        mask = _real(widest, [len(source) for source in sources])
        masked = {} if mask is None else {"attention_mask": mask.to(self.device)}
        encoded = self._hf_model.get_encoder()(input_ids=padded.to(self.device), **masked).last_hidden_state
        seen = None
        if attention:
            _, seen = self._encoded(sources[0], capture=True)
        texts = torch.tensor([[*row, *[row[-1]] * (longest - len(row))] for row in rows])  # (R, T)
        queries = longest if attention else 0
        with last_tokens(self._hf_model.get_output_embeddings(), rows) if last else nullcontext():
            answer, weights = self._decoded(texts, encoded, queries=queries, use_cache=False, **masked)
        logits = last_logits(answer.logits, rows) if last else answer.logits  # (R, 1 or T, V)
        return Pass(logits.float(), _attention(weights, longest, widest, seen) if attention else None)

    def _encoded(self, source: Sequence[int], *, capture: bool = False) -> tuple[Tensor, Tensor | None]:
        """The source's hidden states (1, S, W), and the encoder's attention (1, layers, H, S, S); None unless it is
        captured, and for encoders such as LED's, each token of which only attends to those nearby."""
        check_length(len(source), self.source_length)
        fed = torch.tensor([list(source)], device=self.device)
        encoder = self._hf_model.get_encoder()
        if capture and not hasattr(encoder.config, "attention_window"):
            with suppress(AttendError):  # the encoder returns none
                answer, weights = forward_with_attention(encoder, len(source), input_ids=fed)
                if all(layer.shape[-1] == len(source) for layer in weights):
                    return answer.last_hidden_state, stacked(weights, len(source))
        return encoder(input_ids=fed).last_hidden_state, None

    def _decoded(self, tokens: Tensor, source: Tensor, *, queries: int = 0, **options: Any) -> tuple[Any, list[Tensor]]:
        rows = source.expand(len(tokens), -1, -1)  # (R, S, W)
        return forward_with_attention(
            self._hf_model,
            queries,
            decoder_input_ids=tokens.to(self.device),
            encoder_outputs=_EncoderOutput(last_hidden_state=rows),
            **options,
        )

    def _forward(self, tokens: Tensor, source: Tensor, cache: Seq2SeqCache, want: Want) -> Forward[Seq2SeqCache]:
        """A pass over the decoder's tokens (R, T), which attend to sources (1, S, W); it returns the result for each
        row's newest token."""
        hf_cache, columns = cache.opened(), cache.length + tokens.shape[1]
        masks = {
            "decoder_attention_mask": unpadded(columns, cache.padding),  # (R, K)
            "attention_mask": _real(source.shape[1], cache.source_lengths),  # (R, S)
        }
        with padded(cache.padding):
            answer, weights = self._decoded(
                tokens,
                source,
                queries=1 if want.attention else 0,
                past_key_values=hf_cache,
                use_cache=True,
                output_hidden_states=want.hidden,
                **{name: mask.to(self.device) for name, mask in masks.items() if mask is not None},
            )
        return Forward(
            answer.logits[:, -1].float(),  # (R, V)
            replace(cache, hf_cache=hf_cache, length=columns),
            _attention(weights, columns, source.shape[1]) if want.attention else None,
            answer.decoder_hidden_states[-1].float() if want.hidden else None,  # (R, T, W)
        )


def _real(columns: int, lengths: Sequence[int]) -> Tensor | None:
    """A mask of sources (R, S), 0 for the padding on the right; None if there is none."""
    if min(lengths) == columns:
        return None
    return (torch.arange(columns)[None, :] < torch.tensor(lengths)[:, None]).long()


def _attention(weights: Sequence[Tensor], keys: int, source: int, encoder: Tensor | None = None) -> Attention:
    """Every layer attends to the decoder's text first and then to the source."""
    return Attention(stacked(weights[::2], keys), stacked(weights[1::2], source), encoder)
