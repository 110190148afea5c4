"""What the transformer replaced: a recurrent encoder and decoder, without attention or with Bahdanau's.

Without attention, the decoder only knows as much of the source as fits into one vector (Sutskever et al., 2014; Cho et
al., 2014). With it, the decoder attends to all source tokens before each token that it writes (Bahdanau, Cho and
Bengio, 2015). It implements `LanguageModel`, so the same code trains it, decodes with it and shows where it attends.

Shapes: R rows, S source tokens, T target tokens, W width, V vocabulary.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import torch
from torch import Tensor, nn
from torch.nn import functional
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from model.errors import AttendError
from model.interface import Attention, Forward, Inspection, Want
from model.limits import check_length, check_room


@dataclass(frozen=True, slots=True)
class RecurrentConfig:
    """Padding is the last token, as in `model.transformer.encoder_decoder`. Raises `AttendError` for a value that no
    network could have."""

    vocabulary_size: int
    width: int
    attention: bool
    context_length: int = 128
    dropout: float = 0.0

    def __post_init__(self) -> None:
        for name in ("vocabulary_size", "width", "context_length"):
            value = getattr(self, name)
            if not isinstance(value, int) or isinstance(value, bool) or value < 1:
                raise AttendError(f"{name} is {value!r}, but must be a whole number of at least 1.")
        if not isinstance(self.attention, bool):
            raise AttendError(f"attention is {self.attention!r}, but must be true or false.")
        if not isinstance(self.dropout, int | float) or not 0.0 <= self.dropout < 1.0:
            raise AttendError(f"dropout is {self.dropout!r}, but must be between 0 and 1.")

    @property
    def padding(self) -> int:
        return self.vocabulary_size - 1


@dataclass(frozen=True, slots=True)
class EncodedSource:
    """Encoded sources, which the decoder attends to."""

    states: Tensor  # (R, S, 2W): the states of the encoder in both directions
    keys: Tensor  # (R, S, W): the states projected for attention; width 0 without attention
    mask: Tensor  # (R, S), False for padding

    def of(self, rows: Sequence[int]) -> EncodedSource:
        index = torch.tensor(rows)
        return EncodedSource(*(part[index] for part in (self.states, self.keys, self.mask)))


@dataclass(frozen=True, slots=True)
class RecurrentCache:
    """The decoder's state, and the encoded source."""

    state: Tensor  # (R, W)
    source: EncodedSource
    length: int  # tokens read, in the longest row

    @property
    def rows(self) -> int:
        return len(self.state)

    def select(self, rows: Sequence[int]) -> Self:
        if tuple(rows) == tuple(range(self.rows)):
            return self
        return type(self)(self.state[torch.tensor(rows)], self.source.of(rows), self.length)

    def join(self, other: Self) -> Self:
        longest = max(self.source.mask.shape[1], other.source.mask.shape[1])
        both = [_padded(each.source, longest) for each in (self, other)]
        source = EncodedSource(*(torch.cat(parts) for parts in zip(*both, strict=True)))
        return type(self)(torch.cat((self.state, other.state)), source, max(self.length, other.length))


class Recurrent(nn.Module):
    """A bidirectional GRU encoder and a GRU decoder; one embedding serves source, target and output."""

    joinable = True
    layer_count = 0

    def __init__(self, config: RecurrentConfig) -> None:
        super().__init__()
        self.config, width = config, config.width
        self.embedding = nn.Embedding(config.vocabulary_size, width, padding_idx=config.padding)
        self.encoder = nn.GRU(width, width, batch_first=True, bidirectional=True)
        self.first_state = nn.Linear(2 * width, width)
        self.decoder = nn.GRUCell(3 * width, width)  # the previous token, and the context vector of the source
        self.readout = nn.Linear(4 * width, width)
        if config.attention:
            self.query_proj, self.key_proj = nn.Linear(width, width), nn.Linear(2 * width, width, bias=False)
            self.score = nn.Linear(width, 1, bias=False)
        nn.init.normal_(self.embedding.weight, std=width**-0.5)
        with torch.no_grad():
            self.embedding.weight[config.padding] = 0.0

    @property
    def vocabulary_size(self) -> int:
        return self.config.vocabulary_size

    @property
    def context_length(self) -> int:
        return self.config.context_length

    @property
    def decoder_start(self) -> tuple[int, ...]:
        return (self.config.padding,)

    def forward(self, source: Tensor, tokens: Tensor) -> Tensor:
        """Logits of every position, (R, T, V - 1), for training; the padding token has none. Both (R, S) and (R, T) are
        padded on the right."""
        state, encoded = self._encode(source)
        context = None if self.config.attention else self._summary(encoded)
        inputs, outputs = self._dropout(self._embed(tokens)), []  # (R, T, W)
        for position in range(tokens.shape[1]):
            state, output, _ = self._step(inputs[:, position], state, encoded, context)
            outputs.append(output)
        hidden = self._dropout(torch.stack(outputs, dim=1))  # (R, T, W)
        return functional.linear(hidden, self.embedding.weight[:-1])

    @torch.inference_mode()
    def prefill(self, prompt: Sequence[int], *, want: Want = Want()) -> Forward[RecurrentCache]:
        state, encoded = self._encode(self._row(prompt))
        return self.step(self.decoder_start, RecurrentCache(state, encoded, 0), want=want)

    @torch.inference_mode()
    def step(self, tokens: Sequence[int], cache: RecurrentCache, *, want: Want = Want()) -> Forward[RecurrentCache]:
        check_room(cache.length, self.context_length)
        context = None if self.config.attention else self._summary(cache.source)
        state, output, weights = self._step(self._embed(torch.tensor(tokens)), cache.state, cache.source, context)
        after = RecurrentCache(state, cache.source, cache.length + 1)
        return Forward(
            output @ self.embedding.weight.t(), after, self._attention([weights]) if want.attention else None
        )

    @torch.inference_mode()
    def logits(self, prompt: Sequence[int], tokens: Sequence[int]) -> Tensor:
        return self.inspect((*self.decoder_start, *tokens)[: len(tokens)], source=prompt).logits

    @torch.inference_mode()
    def inspect(self, tokens: Sequence[int], *, source: Sequence[int] = ()) -> Inspection:
        cache, logits, seen = RecurrentCache(*self._encode(self._row(source)), 0), [], []
        for token in tokens:
            forward = self.step([token], cache, want=Want(attention=True))
            cache = forward.cache
            logits.append(forward.logits)
            assert forward.attention is not None
            seen.append(forward.attention.cross)
        return Inspection(
            torch.cat(logits), self._attention([None if cross is None else cross[:, 0, 0, 0] for cross in seen])
        )

    def _encode(self, source: Tensor) -> tuple[Tensor, EncodedSource]:
        """Encode sources (R, S): the decoder's first state (R, W), and what the decoder attends to."""
        mask = source != self.config.padding  # (R, S)
        inputs = pack_padded_sequence(
            self._dropout(self._embed(source)), mask.sum(dim=1).cpu(), batch_first=True, enforce_sorted=False
        )
        packed, last = self.encoder(inputs)
        states, _ = pad_packed_sequence(packed, batch_first=True, total_length=source.shape[1])  # (R, S, 2W)
        keys = self.key_proj(states) if self.config.attention else states[..., :0]  # (R, S, W or 0)
        return self.first_state(torch.cat((last[0], last[1]), dim=-1)).tanh(), EncodedSource(states, keys, mask)

    def _embed(self, tokens: Tensor) -> Tensor:
        """Ids (...) to (..., W), scaled as in the transformer: shared with the output, they are too short to drive a
        gate."""
        return self.embedding(tokens) * self.config.width**0.5

    def _summary(self, encoded: EncodedSource) -> Tensor:
        """Each source as one vector, (R, 2W): the last state of each direction."""
        forward, backward = encoded.states.chunk(2, dim=-1)  # (R, S, W) each
        last = encoded.mask.sum(dim=1) - 1  # (R,)
        return torch.cat((forward[torch.arange(len(last)), last], backward[:, 0]), dim=-1)

    def _step(
        self, embedded: Tensor, state: Tensor, encoded: EncodedSource, context: Tensor | None
    ) -> tuple[Tensor, Tensor, Tensor | None]:
        """One token: its embedding and the previous state, (R, W) each, to the next state and the output, (R, W) each,
        and the alignment, (R, S)."""
        weights = None
        if context is None:
            scores = additive_scores(self.query_proj(state), encoded.keys, self.score.weight[0])  # (R, S)
            weights = scores.masked_fill(~encoded.mask, float("-inf")).softmax(dim=-1)
            context = torch.bmm(weights[:, None], encoded.states)[:, 0]  # (R, 2W)
        state = self.decoder(torch.cat((embedded, context), dim=-1), state)
        return state, self.readout(torch.cat((state, context, embedded), dim=-1)).tanh(), weights

    def _dropout(self, hidden: Tensor) -> Tensor:
        return functional.dropout(hidden, self.config.dropout, self.training)

    def _attention(self, weights: Sequence[Tensor | None]) -> Attention:
        """Attention from one alignment (R, S) per token: one layer with one head, and no self-attention."""
        present = [alignment for alignment in weights if alignment is not None]
        cross = torch.stack(present, dim=1)[:, None, None] if present else None  # (R, 1, 1, T, S)
        rows = 1 if cross is None else len(cross)
        return Attention(torch.empty(rows, 0, 0, len(weights), 0), cross)

    def _row(self, tokens: Sequence[int]) -> Tensor:
        check_length(len(tokens), self.context_length)
        return torch.tensor([list(tokens)])


def additive_scores(queries: Tensor, keys: Tensor, weights: Tensor) -> Tensor:
    """Bahdanau's score of each key for its row's query, weights · tanh(query + key).

    Args:
        queries: the decoder's states, projected, (R, W).
        keys: the encoder's states, projected, (R, S, W).
        weights: (W,).

    Returns:
        (R, S).
    """
    return (keys + queries[:, None]).tanh() @ weights


def _padded(source: EncodedSource, length: int) -> tuple[Tensor, Tensor, Tensor]:
    missing = length - source.mask.shape[1]
    states, keys = (functional.pad(part, (0, 0, 0, missing)) for part in (source.states, source.keys))
    return states, keys, functional.pad(source.mask, (0, missing))
