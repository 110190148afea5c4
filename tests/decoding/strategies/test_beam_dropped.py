"""The reasons recorded for dropped hypotheses agree with the other records of the search."""

from __future__ import annotations

import math
import random
from collections import Counter

import pytest

from decoding.run.trace import Trace
from decoding.settings import DecodingSettings
from decoding.step import Hypothesis, Step
from tests.helpers.tiny import TinyModel, make_request, random_model, table_model, trace_of

ENDS = (2, 5)


def run(model: TinyModel, settings: DecodingSettings) -> Trace:
    return trace_of(model, settings, make_request((3, 1), ENDS))


def any_run(seed: int, strategy: str) -> tuple[TinyModel, DecodingSettings, Trace]:
    chance = random.Random(seed)
    settings = DecodingSettings.from_dict(
        {
            "strategy": strategy,
            "num_beams": 4,
            "num_return_sequences": 4,
            "early_stopping": chance.choice(("false", "true", "never")),
            "length_penalty": chance.choice((-0.5, 0.0, 1.0)),
            "max_new_tokens": chance.randint(3, 9),
            "seed": seed,
        }
    )
    model = random_model(12, seed, scale=1.5)
    return model, settings, run(model, settings)


def best_continuation(model: TinyModel, row: Hypothesis, *, ending: bool) -> float:
    log_probabilities = model.logits((3, 1, *row.tokens), (0,))[0].double().log_softmax(-1).tolist()
    return row.score + max(
        log_probability for token, log_probability in enumerate(log_probabilities) if ending or token not in ENDS
    )


@pytest.mark.parametrize("strategy", ["beam", "beam_sample"])
def test_every_hypothesis_that_goes_is_named_once_with_the_reason(strategy: str) -> None:
    reasons: Counter[str] = Counter()
    for seed in range(40):
        model, settings, trace = any_run(seed, strategy)
        before: list[Hypothesis] = []
        for step in trace.steps:
            living = [hypothesis for hypothesis in step.hypotheses if not hypothesis.finished]
            ended = [hypothesis for hypothesis in step.hypotheses if hypothesis.finished]
            continued = {hypothesis.parent for hypothesis in living}
            dropped_rows = {dropped.row: dropped for dropped in step.dropped if dropped.row is not None}
            assert set(dropped_rows) == set(range(len(before))) - continued
            for row, record in dropped_rows.items():
                assert record.tokens == before[row].tokens
                limit = len(before[row].tokens) + 1 == settings.max_new_tokens
                assert record.score == pytest.approx(best_continuation(model, before[row], ending=limit), abs=1e-5)
                assert record.to_beat == min(hypothesis.score for hypothesis in living or ended)
                assert (record.reason == "ended") is any(hypothesis.parent == row for hypothesis in ended)
                if record.reason == "outscored" and strategy == "beam":
                    assert record.score is not None and record.to_beat is not None
                    assert record.score <= record.to_beat
            check_the_end(step, living)
            reasons.update(dropped.reason for dropped in step.dropped)
            before = living
        check_the_bank(trace)
    assert reasons.keys() >= {"outscored", "ended", "search over", "outranked"}
    assert ("not drawn" in reasons) is (strategy == "beam_sample")


def check_the_end(step: Step, living: list[Hypothesis]) -> None:
    """Hypotheses left unfinished when the search ends could not have beaten the worst one kept."""
    over = [dropped for dropped in step.dropped if dropped.reason == "search over"]
    assert [dropped.tokens for dropped in over] == (
        [hypothesis.tokens for hypothesis in living] if step.finished else []
    )
    for dropped in over[:1]:
        assert dropped.score is not None and (dropped.to_beat is None or dropped.score <= dropped.to_beat)
        if dropped.to_beat is not None:
            assert dropped.to_beat == step.returned[-1].final_score  # all four are returned


def check_the_bank(trace: Trace) -> None:
    """Every finished hypothesis is returned or was outranked by better ones."""
    finished = {
        hypothesis.tokens: hypothesis for step in trace.steps for hypothesis in step.hypotheses if hypothesis.finished
    }
    outranked = [dropped for step in trace.steps for dropped in step.dropped if dropped.reason == "outranked"]
    assert {hypothesis.tokens for hypothesis in trace.sequences} | {dropped.tokens for dropped in outranked} == set(
        finished
    )
    assert len(trace.sequences) + len(outranked) == len(finished)
    for dropped in outranked:
        assert dropped.score == finished[dropped.tokens].final_score
        assert dropped.score is not None and dropped.to_beat is not None and dropped.score <= dropped.to_beat


def test_the_records_by_hand() -> None:
    """Two beams. After 0: 1 has .6, 3 has .4. After 1 everything ends or is a little 4; after 3 comes a sure 4."""
    table = {(3, 1): {0: 0.6, 4: 0.4}, (3, 1, 0): {2: 0.9, 0: 0.06, 1: 0.04}, (3, 1, 4): {4: 0.5, 3: 0.5}}
    settings = DecodingSettings(strategy="beam", num_beams=2, max_new_tokens=3, length_penalty=0.0)
    first, second, *_ = run(table_model(table, vocabulary=8), settings).steps
    assert first.dropped == ()
    # Of (0,) the end .54 is kept; its best other token has .6 * .06 = .036, while .4 * .5 = .2 twice lives on.
    (dropped,) = second.dropped
    assert (dropped.reason, dropped.tokens, dropped.row) == ("ended", (0,), 0)
    assert (dropped.score, dropped.to_beat) == pytest.approx((math.log(0.036), math.log(0.2)), abs=1e-5)
    for hypothesis, last, whole, ended in zip(
        second.hypotheses, (0.5, 0.5, 0.9), (0.2, 0.2, 0.54), (False, False, True), strict=True
    ):
        assert (hypothesis.step_score, hypothesis.score) == pytest.approx((math.log(last), math.log(whole)))
        assert hypothesis.final_score == (pytest.approx(math.log(whole)) if ended else None)


@pytest.mark.parametrize("strategy", ["beam", "beam_sample", "diverse_beam"])
def test_the_document_has_the_outcome_of_each_hypothesis(strategy: str) -> None:
    for seed in range(10):
        _, _, trace = any_run(seed, strategy)
        search = trace.document().get("search", [])
        dropped = 0
        for number, entry in enumerate(search):
            for beam in entry["beams"] if number else ():
                parent = search[number - 1]["beams"][beam["parent"]]
                assert parent["finish_reason"] is None
                assert beam["step_score"] == pytest.approx(beam["score"] - parent["score"], abs=1e-5)
            for drop in entry["dropped"]:
                dropped += 1
                beam = search[drop["step"]]["beams"][drop["index"]]
                assert drop["step"] <= number
                assert beam["finish_reason"] is None or drop["reason"] == "outranked"
                if drop["step"] == number - 1:  # nothing continues it
                    assert all(each["parent"] != drop["index"] or drop["reason"] == "ended" for each in entry["beams"])
        assert dropped == sum(len(step.dropped) for step in trace.steps)
