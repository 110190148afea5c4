"""The decoding loop for every strategy and every model."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from decoding.step import Step
from decoding.strategies.base import Strategy
from model.interface import CacheT, LanguageModel


def generate(model: LanguageModel[CacheT], prompt: Sequence[int], strategy: Strategy) -> Iterator[Step]:
    """Yield every `Step` that decided something, until one is finished; close the generator to stop.

    The strategy says which tokens to feed and which row each continues, and the cache follows. Every strategy works
    like this, beams included.
    """
    forward = model.prefill(prompt, want=strategy.want)
    while True:
        step = strategy.advance(forward)
        if step.hypotheses:
            yield step
        if step.finished:
            return
        forward = model.step(step.feed, forward.cache.select(step.parents), want=strategy.want)
