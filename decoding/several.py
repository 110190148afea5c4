"""Several texts of one prompt, sampled independently, in one batch: a strategy made of strategies.

Each has its own seed and its own row of every pass, and makes the very text that it would make alone; one that has
finished leaves the batch. Knows nothing of how any of them chooses.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from decoding.sampling import OneByOne
from decoding.step import Hypothesis, Step
from decoding.strategy import Request
from decoding.together import part
from model.interface import Forward


class Several:
    """Runs them side by side; their results are returned in their order."""

    def __init__(self, request: Request, texts: Sequence[OneByOne]) -> None:
        self.want = texts[0].want
        self._texts = tuple(texts)
        self._source = len(request.source)
        self._length = len(request.prompt)  # of every row of the next pass, in tokens
        self._newest: dict[int, Hypothesis] = {}  # of each text, by its place
        self._living = tuple(range(len(texts)))  # the places of those that have not finished, row by row

    def advance(self, forward: Forward[Any]) -> Step:
        for row, place in enumerate(self._living):
            row = row if self._newest.get(place) else 0  # of the prompt there is one row for all
            share = part(forward, self.want, slice(row, row + 1), self._source, self._length, self.want)
            step = self._texts[place].advance(share)
            assert step.best is not None  # each of these steps decides a token
            self._newest[place] = replace(step.best, parent=row, group=place)
        self._length += 1
        moved = [self._newest[place] for place in self._living]
        self._living = tuple(place for place in self._living if not self._newest[place].finished)
        living = [one for one in moved if not one.finished]
        hypotheses = (*living, *(one for one in moved if one.finished))
        if not living:
            every = tuple(self._newest[place] for place in range(len(self._texts)))
            return Step(hypotheses, best=every[0], returned=every)
        return Step(
            hypotheses,
            best=self._newest[0],
            feed=tuple(one.tokens[-1] for one in living),
            parents=tuple(one.parent for one in living),
        )
