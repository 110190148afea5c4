"""What the transformer replaced: a recurrent encoder with a recurrent decoder, without attention and with Bahdanau's.

Without, the decoder knows of the source what fits into one vector (Sutskever et al., 2014; Cho et al., 2014). With, it
looks at every source token anew for each token that it says (Bahdanau, Cho and Bengio, 2015). It answers to the same
verbs as every model, so the same code teaches it, decodes with it and shows where it looks.

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

from model.interface import Attention, Forward, Inspection, Want
from model.limits import check_length, check_room


@dataclass(frozen=True, slots=True)
class RecurrentConfig:
    """Padding is the last token, as in `model.transformer.encoder_decoder`."""

    vocabulary_size: int
    width: int
    attention: bool
    context_length: int = 128
    dropout: float = 0.0

    @property
    def padding(self) -> int:
        return self.vocabulary_size - 1


@dataclass(frozen=True, slots=True)
class Read:
    """Sources as the decoder looks at them."""

    states: Tensor  # (R, S, 2W): what the encoder says of every token, from both directions
    keys: Tensor  # (R, S, W): the same as attention compares it
    real: Tensor  # boolean, (R, S)

    def of(self, rows: Sequence[int]) -> Read:
        index = torch.tensor(rows)
        return Read(*(part[index] for part in (self.states, self.keys, self.real)))


@dataclass(frozen=True, slots=True)
class RecurrentCache:
    """All that the decoder knows: its state, and the source."""

    state: Tensor  # (R, W)
    read: Read
    length: int  # tokens read, by the row that has read most

    @property
    def rows(self) -> int:
        return len(self.state)

    def select(self, rows: Sequence[int]) -> Self:
        if tuple(rows) == tuple(range(self.rows)):
            return self
        return type(self)(self.state[torch.tensor(rows)], self.read.of(rows), self.length)

    def join(self, other: Self) -> Self:
        longest = max(self.read.real.shape[1], other.read.real.shape[1])
        both = [_padded(one.read, longest) for one in (self, other)]
        read = Read(*(torch.cat(parts) for parts in zip(*both, strict=True)))
        return type(self)(torch.cat((self.state, other.state)), read, max(self.length, other.length))


class Recurrent(nn.Module):
    """A GRU that reads in both directions, and a GRU that writes; one embedding serves source, target and output."""

    joinable = True
    layer_count = 0

    def __init__(self, config: RecurrentConfig) -> None:
        super().__init__()
        self.config, width = config, config.width
        self.embedding = nn.Embedding(config.vocabulary_size, width, padding_idx=config.padding)
        self.encoder = nn.GRU(width, width, batch_first=True, bidirectional=True)
        self.first_state = nn.Linear(2 * width, width)
        self.decoder = nn.GRUCell(3 * width, width)  # the token before, and what is known of the source
        self.readout = nn.Linear(4 * width, width)
        if config.attention:
            self.asked, self.compared = nn.Linear(width, width), nn.Linear(2 * width, width, bias=False)
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
        """Logits of every position but for padding's, (R, T, V - 1), for training; both (R, S) and (R, T) are padded on
        the right."""
        state, read = self._encode(source)
        known = None if self.config.attention else self._summary(read)
        given, told = self._dropped(self._embedded(tokens)), []  # (R, T, W)
        for place in range(tokens.shape[1]):
            state, said, _ = self._step(given[:, place], state, read, known)
            told.append(said)
        hidden = self._dropped(torch.stack(told, dim=1))  # (R, T, W)
        return functional.linear(hidden, self.embedding.weight[:-1])

    @torch.inference_mode()
    def prefill(self, prompt: Sequence[int], *, want: Want = Want()) -> Forward[RecurrentCache]:
        state, read = self._encode(self._row(prompt))
        return self.step(self.decoder_start, RecurrentCache(state, read, 0), want=want)

    @torch.inference_mode()
    def step(self, tokens: Sequence[int], cache: RecurrentCache, *, want: Want = Want()) -> Forward[RecurrentCache]:
        check_room(cache.length, self.context_length)
        known = None if self.config.attention else self._summary(cache.read)
        state, said, weights = self._step(self._embedded(torch.tensor(tokens)), cache.state, cache.read, known)
        after = RecurrentCache(state, cache.read, cache.length + 1)
        return Forward(said @ self.embedding.weight.t(), after, self._seen([weights]) if want.attention else None)

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
        return Inspection(torch.cat(logits), self._seen([None if one is None else one[:, 0, 0, 0] for one in seen]))

    def _encode(self, source: Tensor) -> tuple[Tensor, Read]:
        """The decoder's first state (R, W), and sources (R, S) as it looks at them."""
        real = source != self.config.padding  # (R, S)
        given = pack_padded_sequence(
            self._dropped(self._embedded(source)), real.sum(dim=1).cpu(), batch_first=True, enforce_sorted=False
        )
        packed, last = self.encoder(given)
        states, _ = pad_packed_sequence(packed, batch_first=True, total_length=source.shape[1])  # (R, S, 2W)
        keys = self.compared(states) if self.config.attention else states[..., :0]  # (R, S, W or 0)
        return self.first_state(torch.cat((last[0], last[1]), dim=-1)).tanh(), Read(states, keys, real)

    def _embedded(self, tokens: Tensor) -> Tensor:
        """Ids (...) to (..., W), scaled as the transformer's: shared with the output, they are too short to move a gate
        as they are."""
        return self.embedding(tokens) * self.config.width**0.5

    def _summary(self, read: Read) -> Tensor:
        """A source in one vector, (R, 2W): what each direction says at its end."""
        forward, backward = read.states.chunk(2, dim=-1)  # (R, S, W) each
        last = read.real.sum(dim=1) - 1  # (R,)
        return torch.cat((forward[torch.arange(len(last)), last], backward[:, 0]), dim=-1)

    def _step(
        self, given: Tensor, state: Tensor, read: Read, known: Tensor | None
    ) -> tuple[Tensor, Tensor, Tensor | None]:
        """One token: its embedding and the state before, (R, W) each, to the next state, what the logits are made of,
        (R, W) each, and the alignment, (R, S)."""
        weights = None
        if known is None:
            scores = self.score((read.keys + self.asked(state)[:, None]).tanh())[..., 0]  # (R, S)
            weights = scores.masked_fill(~read.real, float("-inf")).softmax(dim=-1)
            known = torch.bmm(weights[:, None], read.states)[:, 0]  # (R, 2W)
        state = self.decoder(torch.cat((given, known), dim=-1), state)
        return state, self.readout(torch.cat((state, known, given), dim=-1)).tanh(), weights

    def _dropped(self, hidden: Tensor) -> Tensor:
        return functional.dropout(hidden, self.config.dropout, self.training)

    def _seen(self, weights: Sequence[Tensor | None]) -> Attention:
        """Alignments (R, S) of one token after the other; there is one layer and one head, and no look at itself."""
        there = [one for one in weights if one is not None]
        cross = torch.stack(there, dim=1)[:, None, None] if there else None  # (R, 1, 1, T, S)
        rows = 1 if cross is None else len(cross)
        return Attention(torch.empty(rows, 0, 0, len(weights), 0), cross)

    def _row(self, tokens: Sequence[int]) -> Tensor:
        check_length(len(tokens), self.context_length)
        return torch.tensor([list(tokens)])


def _padded(read: Read, length: int) -> tuple[Tensor, Tensor, Tensor]:
    missing = length - read.real.shape[1]
    states, keys = (functional.pad(part, (0, 0, 0, missing)) for part in (read.states, read.keys))
    return states, keys, functional.pad(read.real, (0, missing))
