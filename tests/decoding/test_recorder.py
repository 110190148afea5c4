"""The record of a choice equals plain Python sums."""

from __future__ import annotations

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from decoding.processors import Temperature, TopK, TopP, run_chain
from decoding.recorder import record
from decoding.step import CandidateRecord, Choice
from decoding.vocabulary_sums import _exp
from tests.helpers.tiny import NO_CONTEXT

CHAIN = (Temperature(0.7), TopK(6), TopP(0.8))
NAMES = ("model", "temperature", "top_k", "top_p")


def slow_choice(stages: list[list[float]], token: int, count: int) -> Choice:
    """The definition, one token at a time."""

    def softmax(row: list[float]) -> list[float]:
        weights = [math.exp(value - max(row)) for value in row]
        return [weight / math.fsum(weights) for weight in weights]

    probabilities = [softmax(row) for row in stages]
    order = sorted((i for i, value in enumerate(stages[0]) if value > -math.inf), key=lambda i: (-stages[0][i], i))
    candidates = order[:count] if token in order[:count] else [*order[:count], token]
    return Choice(
        token=token,
        rank=1 + sorted(range(len(stages[0])), key=lambda i: (-stages[0][i], i)).index(token),
        draw=None,
        stages=NAMES[: len(stages)],
        kept=tuple(sum(value > -math.inf for value in row) for row in stages),
        candidates=tuple(CandidateRecord(i, tuple(row[i] for row in probabilities)) for i in candidates),
        rest=tuple(math.fsum(p for i, p in enumerate(row) if i not in candidates) for row in probabilities),
        mass=(
            1.0,
            *(
                math.fsum(p for p, value in zip(before, after, strict=True) if value > -math.inf)
                for before, after in zip(probabilities, stages[1:], strict=False)
            ),
        ),
        stage_entropy=tuple(-math.fsum(p * math.log2(p) for p in row if p > 0) for row in probabilities),
    )


def compare(ours: Choice, slow: Choice) -> None:
    for name in ("token", "rank", "stages", "kept"):
        assert getattr(ours, name) == getattr(slow, name)
    assert ours.stage_entropy == pytest.approx(slow.stage_entropy, abs=1e-9)
    assert ours.mass == pytest.approx(slow.mass, abs=1e-12)
    for stage in range(1, len(ours.kept)):
        assert ours.kept[stage] < ours.kept[stage - 1] or ours.mass[stage] == 1.0
    assert ours.rest == pytest.approx(slow.rest, abs=1e-12)
    assert [candidate.id for candidate in ours.candidates] == [candidate.id for candidate in slow.candidates]
    for candidate, other in zip(ours.candidates, slow.candidates, strict=True):
        assert candidate.probabilities == pytest.approx(other.probabilities, abs=1e-12)


VALUES = st.one_of(st.sampled_from([0.0, 1.0, -1.0, 3.0, -math.inf]), st.floats(-20, 20, width=32))


@settings(max_examples=100, deadline=None)
@given(
    st.lists(VALUES, min_size=1, max_size=40).filter(lambda row: max(row) > -math.inf), st.integers(0, 12), st.data()
)
def test_a_recording_says_what_plain_sums_say(row: list[float], count: int, data: st.DataObject) -> None:
    token = data.draw(st.sampled_from([i for i, value in enumerate(row) if value > -math.inf]))
    stages = run_chain(CHAIN, torch.tensor([row]), NO_CONTEXT)
    recording = record(NAMES, stages, count)[0]
    slow = slow_choice([stage[0].tolist() for stage in stages], token, count)
    compare(recording.choice(token), slow)
    assert recording.log_probability(token, stage=0) == pytest.approx(math.log(slow.probability), abs=1e-9)


def test_every_row_is_recorded_by_itself() -> None:
    logits = torch.randn(3, 30, generator=torch.Generator().manual_seed(1))
    stages = run_chain(CHAIN, logits, NO_CONTEXT)
    for row, recording in enumerate(record(NAMES, stages, 5)):
        alone = record(NAMES, [stage[row : row + 1] for stage in stages], 5)[0]
        assert recording.choice(row) == alone.choice(row)


def test_a_removed_candidate_has_probability_0_from_the_stage_that_removed_it() -> None:
    # (.5 .3 .2): top-k 2 removes the third; of .625 and .375, top-p .6 removes the second (.625 reaches .6)
    stages = run_chain((TopK(2), TopP(0.6)), torch.tensor([[math.log(p) for p in (0.5, 0.3, 0.2)]]), NO_CONTEXT)
    choice = record(("model", "top_k", "top_p"), stages, 10)[0].choice(0)
    assert [candidate.probabilities for candidate in choice.candidates] == [
        pytest.approx((0.5, 0.625, 1.0)),
        pytest.approx((0.3, 0.375, 0.0)),
        pytest.approx((0.2, 0.0, 0.0)),
    ]
    assert choice.kept == (3, 2, 1)
    assert choice.mass == (1.0, pytest.approx(0.8), pytest.approx(0.625))  # .5 + .3 of all, then .625 of what was left
    # -.5 log2 .5 - .3 log2 .3 - .2 log2 .2, then -.625 log2 .625 - .375 log2 .375, then one token alone
    assert choice.stage_entropy == pytest.approx((1.4854753, 0.9544340, 0.0))
    assert choice.rest == (0.0, 0.0, 0.0)  # exactly: nothing else is left
    assert choice.probability == pytest.approx(0.5) and choice.final_probability == pytest.approx(1.0)


def test_kept_counts_tokens_whose_probability_underflows() -> None:
    choice = record(("model",), [torch.tensor([[0.0, -2000.0, -math.inf]])], 3)[0].choice(0)
    assert choice.kept == (2,)
    assert [candidate.probabilities for candidate in choice.candidates] == [(1.0,), (0.0,)]


def test_exponentials_are_exact_to_fourteen_digits() -> None:
    for x in (0.0, -1e-9, -0.1, -0.34657, -0.34658, -1.0, -19.9, -300.0, -707.9):
        assert _exp(x) == pytest.approx(math.exp(x), rel=1e-15 if x > -20 else 3e-14, abs=0)
    assert _exp(-709.0) == _exp(-1e9) == 0.0  # too small to count
