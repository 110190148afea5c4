"""Independent samples of one prompt in one batch: a strategy made of strategies.

Each has its own seed and its own row of every pass, and generates the same text as it would alone. Finished samples
leave the batch. Knows nothing of how any of them chooses.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from decoding.batch import slice_forward
from decoding.request import Request
from decoding.step import Hypothesis, Step
from decoding.strategies.base import Strategy
from model.interface import Forward


class ParallelSamples:
    """Runs several single-continuation strategies side by side; the results are returned in their order."""

    def __init__(self, request: Request, samples: Sequence[Strategy]) -> None:
        self.want = samples[0].want
        self._samples = tuple(samples)
        self._source = len(request.source)
        self._length = len(request.prompt)  # the length of every row in the next pass
        self._newest: dict[int, Hypothesis] = {}  # the newest of each sample, by its index
        self._living = tuple(range(len(samples)))  # the indices of the unfinished samples, row by row

    def advance(self, forward: Forward[Any]) -> Step:
        for row, index in enumerate(self._living):
            row = row if self._newest.get(index) else 0  # the prompt has one row for all
            share = slice_forward(forward, self.want, slice(row, row + 1), self._source, self._length, self.want)
            step = self._samples[index].advance(share)
            assert step.best is not None  # each of these steps decides a token
            self._newest[index] = replace(step.best, parent=row, group=index)
        self._length += 1
        moved = [self._newest[index] for index in self._living]
        self._living = tuple(index for index in self._living if not self._newest[index].finished)
        living = [hypothesis for hypothesis in moved if not hypothesis.finished]
        hypotheses = (*living, *(hypothesis for hypothesis in moved if hypothesis.finished))
        if not living:
            every = tuple(self._newest[index] for index in range(len(self._samples)))
            return Step(hypotheses, best=every[0], returned=every)
        return Step(
            hypotheses,
            best=self._newest[0],
            feed=tuple(hypothesis.tokens[-1] for hypothesis in living),
            parents=tuple(hypothesis.parent for hypothesis in living),
        )
