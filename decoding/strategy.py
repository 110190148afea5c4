"""What a strategy is given and what it must offer; the loop in `generate.py` knows no more of it than this.

Nothing here knows how a token is chosen, and nothing in decoding ever imports a tokenizer: the request carries the two
functions between ids and text.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, Self

import numpy as np
import torch
from torch import Tensor

from decoding.processors import Processor
from decoding.step import Hypothesis, Step
from model.errors import AttendError
from model.interface import Forward, LanguageModel, Want


@dataclass(frozen=True, slots=True)
class Request:
    """What a strategy knows besides its settings."""

    prompt: tuple[int, ...]  # the decoder's side
    end_tokens: frozenset[int]
    text_of: Callable[[Sequence[int]], str]
    context_length: int  # the model's longest text, prompt and continuation together
    vocabulary_size: int  # ids are smaller than this
    attention: bool = False  # whether every choice carries the attention behind it
    # Whether every choice carries what it was chosen from, and every step what a search let go. Beams do without where
    # nobody looks; the other strategies always tell.
    explained: bool = True
    drawn: int = 0  # draws already taken from the seed's stream, when a text begun earlier is continued
    # What an earlier run of this prompt has said, where that is to go on as if it had never ended: its tokens stand
    # behind the prompt, and count as generated. Only for settings that are `resumable`.
    resumed: Hypothesis | None = None
    layer_count: int = 0  # how many layers the model can tell the logits of; 0 where it tells none
    ids_of: Callable[[str], Sequence[int]] | None = None  # the way back; only settings that hold texts need it
    never: frozenset[int] = frozenset()  # tokens that the model must not say, by its own makers
    source: tuple[int, ...] = ()  # what an encoder reads; then the prompt is what the decoder's text begins with

    def __post_init__(self) -> None:
        if not self.prompt:
            raise AttendError("The prompt is empty: write at least one character.")
        if len(self.prompt) >= self.context_length:
            raise AttendError(
                f"The prompt has {len(self.prompt):,} tokens, but the model reads at most {self.context_length:,} "
                f"and needs room for an answer: shorten it to {self.context_length - 1:,} tokens or fewer."
            )

    @classmethod
    def of(cls, model: LanguageModel[Any], given: Sequence[int], **known: Any) -> Self:
        """What is asked of a strategy for a model that is given these tokens.

        Args:
            given: what `LanguageModel.prefill` takes: the text to go on with or, for an encoder with a decoder, the
                source.
            known: `end_tokens`, `text_of` and whatever else is to be said.
        """
        start = model.decoder_start
        return cls(
            prompt=start or tuple(given),
            source=tuple(given) if start else (),
            context_length=model.context_length,
            vocabulary_size=model.vocabulary_size,
            layer_count=model.layer_count,
            **known,
        )

    @property
    def given(self) -> tuple[int, ...]:
        """What the model is to be given: `LanguageModel.prefill` and `logits` take it."""
        return self.source or self.prompt

    @property
    def forced(self) -> int:
        """How many of the prompt's last tokens are the answer's own, although nobody chose them: of a decoder that
        reads a source, all behind its start, such as the language of a translation."""
        return len(self.prompt) - 1 if self.source else 0

    @property
    def read(self) -> tuple[int, ...]:
        """All that stands before the first choice, which is what attention looks at: the source, then the prompt."""
        return (*self.source, *self.prompt)


@dataclass(frozen=True, slots=True)
class Terms:
    """What every strategy is told by the settings, whichever it is."""

    max_new_tokens: int
    top_candidates: int  # that are recorded of every choice
    stop_texts: tuple[str, ...] = ()
    processors: tuple[Processor, ...] = ()


class Strategy(Protocol):
    """One way to choose tokens; it lives as long as one request."""

    @property
    def want(self) -> Want:
        """What every pass must return besides logits."""
        ...

    def advance(self, forward: Forward[Any]) -> Step:
        """Decide from one pass what comes next."""
        ...


def usable_logits(logits: Tensor, generated: int) -> Tensor:
    """The logits on the CPU in float32; refused where no probability could be made of them."""
    logits = logits.detach().to("cpu", torch.float32)
    # The largest value tells everything: it is NaN if any is, -inf if all are, +inf if one is.
    if not np.isfinite(logits.numpy().max(axis=-1)).all():
        raise AttendError(
            f"The model gave no usable probabilities for token {generated + 1} (NaN or infinite scores): "
            "its checkpoint may be damaged, so try another model or load it again."
        )
    return logits


def newest_attention(forward: Forward[Any], row: int, length: int) -> Tensor | None:
    """How the row's newest token, the query, looked at the `length` tokens up to itself; padding on the left goes.

    A decoder with an encoder looks twice, at the source and at its own text: the keys are those of both, in this order.
    """
    if forward.attention is None:
        return None
    weights = forward.attention.decoder[row, :, :, -1, -length:]  # (layers, heads, keys)
    if forward.attention.cross is not None:
        weights = torch.cat((forward.attention.cross[row, :, :, -1], weights), dim=-1)  # (layers, heads, source + keys)
    return weights.to("cpu", torch.float16, copy=True)  # a copy, or the whole pass would stay in memory
