"""The parts of training by hand, against arithmetic, plain differences and the modules of torch."""

from __future__ import annotations

import math

import pytest
import torch
from torch import nn

from lesson.parts.learning import chained_slopes, drop_out, loss_of_counts, preference, smoothed_minimum


def test_the_loss_of_counts_is_the_mean_over_all_that_was_counted() -> None:
    """Ten words, one after the other: 6 · −ln .5, 3 · −ln .3 and −ln .2, divided by 10."""
    counted = loss_of_counts((6, 3, 1), (5, 3, 2))
    assert counted.loss == pytest.approx(-(6 * math.log(0.5) + 3 * math.log(0.3) + math.log(0.2)) / 10)
    assert counted.probabilities.tolist() == pytest.approx([0.5, 0.3, 0.2])
    best = loss_of_counts((6, 3, 1), (6, 3, 1))
    assert best.loss == pytest.approx(best.least) == pytest.approx(counted.least) and counted.loss > best.loss
    assert loss_of_counts((4, 0), (1, 3)).least == 0


def test_the_lowest_smoothed_loss_is_the_one_that_torch_reaches() -> None:
    """nn.CrossEntropyLoss of logits that are the logarithms of its own targets."""
    smoothing, vocabulary = 0.1, 50
    target = torch.full((1, vocabulary), smoothing / vocabulary)
    target[0, 7] += 1 - smoothing
    lowest = nn.CrossEntropyLoss(label_smoothing=smoothing)(target.log(), torch.tensor([7]))
    assert smoothed_minimum(smoothing, vocabulary) == pytest.approx(lowest.item(), rel=1e-5)
    assert smoothed_minimum(0.1, 5999) == pytest.approx(1.195, abs=5e-4)  # as the chapter says of attend-translate


@pytest.mark.parametrize(("x", "first", "second"), [(2, 0.5, 1.5), (1, 1, 2), (-1, -3, 0.5), (3, 3, 3)])
def test_the_slopes_are_those_of_the_chain_rule_and_of_plain_differences(x: float, first: float, second: float) -> None:
    chain = chained_slopes(x, first, second)
    p, h = 1 / (1 + math.exp(-second * first * x)), first * x
    assert chain.values["p"] == pytest.approx(p) and chain.slopes["z"] == pytest.approx(p - 1)
    assert chain.slopes["w₁"] == pytest.approx((p - 1) * second * x)
    assert chain.slopes["w₂"] == pytest.approx((p - 1) * h)
    assert chain.nudged == pytest.approx(chain.slopes["w₁"], rel=1e-6)


def test_behind_a_closed_relu_nothing_is_learned() -> None:
    closed = chained_slopes(1, -1, 2)
    assert closed.slopes["w₁"] == closed.slopes["w₂"] == closed.nudged == 0 and closed.values["p"] == 0.5


def test_dropout_removes_its_share_and_keeps_the_average() -> None:
    """10,000 ones with seed 4: two standard deviations of the share are 0.8 %."""
    dropped = drop_out([1.0] * 10_000, 0.2, 4)
    assert set(dropped.tolist()) == {0.0, 1.25}
    assert (dropped == 0).float().mean().item() == pytest.approx(0.2, abs=0.008)
    assert drop_out([3.0, 4.0], 0, 1).tolist() == [3, 4]
    assert torch.equal(drop_out([1.0] * 9, 0.5, 2), drop_out([1.0] * 9, 0.5, 2))


def test_a_preference_is_worth_ln_2_until_something_changes() -> None:
    """Rafailov et al., 2023, equation 7: −ln σ(β (1 − (−1))) for answers that moved by 1 either way."""
    assert preference((-12, -30), (-12, -30), 0.5).loss == pytest.approx(math.log(2))
    pair = preference((-12, -12), (-11, -13), 0.1)
    assert pair.margin == pytest.approx(0.2) and pair.probability == pytest.approx(1 / (1 + math.exp(-0.2)))
    assert pair.loss == pytest.approx(-math.log(pair.probability))
