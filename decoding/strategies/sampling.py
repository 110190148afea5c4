"""Greedy decoding and sampling: one continuation, one token per step.

Both run the same step and differ in one line, the choice. A draw is one uniform float64 number against the cumulative
distribution, so it can be shown, and equal seeds give equal draws under every setting. Knows nothing of models or text.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from decoding.parameters.parameter import Settings
from decoding.processors import PROCESSORS, Context, Processor, run_chain
from decoding.recorder import Recording, record
from decoding.request import Request
from decoding.step import Choice, LayerContrast, Step
from decoding.strategies.base import (
    NUM_RETURN_SEQUENCES,
    StrategyOptions,
    StrategySpec,
    newest_attention,
    usable_logits,
)
from decoding.strategies.generated_text import GeneratedText
from decoding.strategies.mirostat import MIROSTAT_ETA, MIROSTAT_MODE, MIROSTAT_TAU, Mirostat, SurprisalCutoff
from decoding.uniform import SEED, UniformStream
from model.interface import Forward, Want

if TYPE_CHECKING:
    from torch import Tensor

# Tokens less probable than one of these are sorted only if the draw lies beyond the others.
_THRESHOLDS = (1e-3, 1e-5, 0.0)


def token_at(draw: float, recording: Recording) -> int:
    """The token that a draw lands on.

    The survivors are sorted by final probability, highest first, ties by id; the first whose cumulative sum exceeds the
    draw is taken (else the last). Sorting the values alone gives the probability of that token and its position among
    the tokens that share it, so the ids are never sorted. Most draws land on one of a few probable tokens, so the
    others are sorted only if a draw lies beyond these.
    """
    ids, probabilities = recording.final_probabilities()
    descending = sums = probabilities
    for threshold in _THRESHOLDS:
        descending = np.sort(probabilities[probabilities >= threshold])[::-1]
        sums = np.cumsum(descending)
        if sums.size and draw < sums[-1]:
            break
    index = min(int(np.searchsorted(sums, draw, side="right")), ids.size - 1)
    value = descending[index]
    before = int(np.count_nonzero(probabilities > value))
    return int(ids[np.flatnonzero(probabilities == value)[index - before]])


def draw_without_replacement(draws: Sequence[float], probabilities: NDArray[np.float64]) -> list[int]:
    """The indices that several draws land on. Each draw is among the renormalised rest that the earlier ones left.

    The order is that of `token_at`: highest first, ties by index. Once nothing is left, no more indices are drawn.
    """
    ids = np.flatnonzero(probabilities)
    ids = ids[np.argsort(-probabilities[ids], kind="stable")]
    left = probabilities[ids]
    drawn: list[int] = []
    for draw in draws[: ids.size]:
        sums = np.cumsum(left)
        index = int(np.searchsorted(sums, draw * sums[-1], side="right"))
        index = min(index, int(np.flatnonzero(left)[-1]))
        left[index] = 0.0
        drawn.append(int(ids[index]))
    return drawn


@dataclass(slots=True)
class TokenChooser:
    """How one request chooses a token from logits. It remembers only its stream of draws and Mirostat's limit."""

    processors: tuple[Processor, ...]
    top_candidates: int
    stream: UniformStream | None  # None: greedy
    mirostat: Mirostat | None = None

    def choose(
        self,
        logits: Tensor,
        context: Context,
        *,
        first: tuple[Processor, ...] = (),
        draw: float | None = None,
        attention: Tensor | None = None,
    ) -> tuple[Choice, Recording]:
        """Choose a token from logits (1, V).

        Args:
            first: processors to run before the chain.
            draw: replaces the stream's next number, which is taken in any case.
            attention: the attention of the choice; see `Choice`.
        """
        last = () if self.mirostat is None else (self.mirostat.processor,)
        processors = (*first, *self.processors, *last)
        stages = run_chain(processors, logits, context)
        names = ("model", *(processor.name for processor in processors))
        recording = record(names, stages, self.top_candidates)[0]
        if self.stream is None:
            choice = recording.choice(int(stages[-1].numpy().argmax()), attention=attention)  # there is one row
        else:
            following = self.stream.next()
            draw = following if draw is None else draw
            choice = recording.choice(token_at(draw, recording), draw=draw, attention=attention)
        if self.mirostat is not None:
            self.mirostat.update(choice.final_probability)
        return choice, recording


class SamplingStrategy:
    """One continuation, one token per step."""

    def __init__(self, request: Request, options: StrategyOptions, mirostat: Mirostat | None = None) -> None:
        self.want = Want(attention=request.options.attention)
        self._text = GeneratedText(request, options)
        used = request.options.draws_used + len(self._text.tokens)
        stream = None if options.seed is None else UniformStream(options.seed, skip=used)
        self.chooser = TokenChooser(options.processors, options.top_candidates, stream, mirostat)

    def advance(self, forward: Forward[Any]) -> Step:
        return self._advance(forward)

    def _advance(
        self, forward: Forward[Any], first: tuple[Processor, ...] = (), contrast: LayerContrast | None = None
    ) -> Step:
        """Take one step. `first` are processors to run before the chain, `contrast` is the record of what they did."""
        logits = usable_logits(forward.logits, len(self._text.tokens))  # (1, V)
        attention = newest_attention(forward, 0, self._text.length)
        choice, recording = self.chooser.choose(logits, self._text.context, first=first, attention=attention)
        if contrast is not None:
            choice = replace(choice, contrast=contrast)
        hypothesis = self._text.append(choice, recording)
        if hypothesis.finished:
            return Step((hypothesis,), best=hypothesis, returned=(hypothesis,))
        return Step((hypothesis,), best=hypothesis, feed=(choice.token,), parents=(0,))


class Greedy(StrategySpec):
    name = "greedy"
    label = "Greedy"
    help = "Always picks the most probable token."
    token_by_token = True

    def build(self, settings: Settings, request: Request, options: StrategyOptions) -> SamplingStrategy:
        return SamplingStrategy(request, options)


class Sample(StrategySpec):
    name = "sample"
    label = "Sampling"
    help = "Draws each token at random, by its probability."
    parameters = (NUM_RETURN_SEQUENCES, SEED, MIROSTAT_MODE, MIROSTAT_TAU, MIROSTAT_ETA)
    stages = (SurprisalCutoff,)
    processors = PROCESSORS
    samples = True
    token_by_token = True
    at_zero_temperature = Greedy()

    def resumable(self, settings: Settings) -> bool:
        return Mirostat.of(settings) is None  # Mirostat's limit depends on every choice

    def build(self, settings: Settings, request: Request, options: StrategyOptions) -> SamplingStrategy:
        return SamplingStrategy(request, options, None if options.seed is None else Mirostat.of(settings))
