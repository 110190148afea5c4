"""Three ways to let words meet: the paper's table in numbers, and paths that can be followed."""

from __future__ import annotations

import itertools
import math

import pytest

from lesson.attention.three_ways import layer_costs, meetings


@pytest.mark.parametrize(("length", "kernel"), [(2, 2), (9, 3), (81, 3), (82, 3), (1000, 5)])
def test_the_counts_are_those_of_the_papers_table(length: int, kernel: int) -> None:
    """Vaswani et al., 2017, table 1: n² d, n d² and k n d² operations; paths of 1, n and log_k n."""
    costs = layer_costs(length, 64, kernel, 16)
    assert (costs["attention"].operations, costs["attention"].sequential, costs["attention"].path) == (
        length * length * 64,
        1,
        1,
    )
    assert (costs["recurrent"].operations, costs["recurrent"].sequential) == (length * 64 * 64, length)
    assert costs["recurrent"].path == length - 1  # between n words there are n - 1 steps
    assert costs["convolution"].operations == kernel * length * 64 * 64
    layers = costs["convolution"].path
    assert kernel ** (layers - 1) < length <= kernel**layers  # log_k n, rounded up
    assert costs["restricted"].path == math.ceil((length - 1) / 16)


def test_the_marked_way_leads_from_the_first_word_to_the_last() -> None:
    for length, kernel in itertools.product(range(2, 10), (2, 3, 5)):
        costs = layer_costs(length, 1, kernel, 1)
        for kind, meeting in meetings(length, kernel).items():
            assert len(meeting.path) == len(meeting.layers) == costs[kind].path, (kind, length, kernel)
            assert (meeting.path[0][0], meeting.path[-1][1]) == (0, length - 1)
            assert all(one[1] == other[0] for one, other in itertools.pairwise(meeting.path))
            assert all(edge in layer for edge, layer in zip(meeting.path, meeting.layers, strict=True))
