"""The whole loop of decoding, for every strategy and every model."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from decoding.step import Step
from decoding.strategies.base import Strategy
from model.interface import CacheT, LanguageModel


def generate(model: LanguageModel[CacheT], prompt: Sequence[int], strategy: Strategy) -> Iterator[Step]:
    """Yield every `Step` that decided something, until one is finished; closing the generator stops the work.

    The strategy names what to feed and which row each token continues, and the cache follows. That is all there is to
    any strategy, beams included.
    """
    forward = model.prefill(prompt, want=strategy.want)
    while True:
        step = strategy.advance(forward)
        if step.hypotheses:
            yield step
        if step.finished:
            return
        forward = model.step(step.feed, forward.cache.select(step.parents), want=strategy.want)
