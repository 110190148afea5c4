"""The inspector's values of a search agree with the trace of a real one."""

from __future__ import annotations

import pytest

from decoding.run.run_document import BeamEntry
from decoding.run.trace import Trace
from decoding.settings import DecodingSettings
from model.loaded import LoadedModel
from tests.helpers.waiting import steps_of
from ui.inspector.inspector_contract import SearchValue
from ui.inspector.inspector_value import search_value
from ui.runs.models import Models
from ui.runs.traces import new_trace


def searched(models: Models, loaded: LoadedModel, **settings: object) -> Trace:
    chosen = DecodingSettings.from_dict(
        {"strategy": "beam", "num_beams": 3, "max_new_tokens": 9, "seed": 1, **settings}
    )
    prompt = tuple(loaded.tokenizer.encode("Once upon a time"))
    trace = new_trace(loaded, prompt, chosen, text="Once upon a time")
    return trace.collect(steps_of(models.decode(trace.call())))


def path(value: SearchValue, step: int, index: int) -> list[BeamEntry]:
    """The beams of one text, oldest first."""
    beam = value["steps"][step]["beams"][index]
    return [*(path(value, step - 1, beam["parent"]) if step else []), beam]


@pytest.mark.parametrize("changes", [{}, {"repetition_penalty": 1.3}, {"length_penalty": -1.0}])
def test_every_text_of_a_search_can_be_followed_back(
    models: Models, tiny: LoadedModel, changes: dict[str, object]
) -> None:
    trace = searched(models, tiny, **changes)
    value = search_value(trace)
    assert value is not None
    assert value["first"] == len(trace.request.prompt)
    assert len(value["steps"]) == len(trace.steps)
    for number, step in enumerate(trace.steps):
        for index, hypothesis in enumerate(step.hypotheses):
            followed = path(value, number, index)
            assert tuple(beam["id"] for beam in followed) == hypothesis.tokens
            # what each token added makes the sum; four decimals are sent of each
            assert sum(beam["step_score"] for beam in followed) == pytest.approx(hypothesis.score, abs=1e-3)
            beam = followed[-1]
            assert beam["score"] == pytest.approx(hypothesis.score, abs=1e-4)
            assert beam["log_probability"] == pytest.approx(hypothesis.log_probability, abs=1e-4)
            assert (beam["final_score"] is not None) == hypothesis.finished
            if beam["final_score"] is not None:  # transformers' score of a finished text, by hand
                penalty = trace.settings.length_penalty
                by_hand = hypothesis.score / len(hypothesis.tokens) ** penalty
                assert beam["final_score"] == pytest.approx(by_hand, abs=1e-4)
    end = value["steps"][-1]
    assert end["best"] is not None and end["returned"] == [end["best"]]
    assert tuple(beam["id"] for beam in path(value, **end["best"])) == trace.ids


def test_an_update_sends_only_what_is_new(models: Models, tiny: LoadedModel) -> None:
    trace = searched(models, tiny)
    complete, new = search_value(trace), search_value(trace, since=len(trace.request.prompt) + 4)
    assert complete is not None and new is not None
    assert (complete["since"], new["since"]) == (0, 4)
    assert new["steps"] == complete["steps"][4:]


@pytest.mark.parametrize("strategy", ["beam", "beam_sample", "diverse_beam"])
def test_what_a_search_dropped_has_its_reason(models: Models, tiny: LoadedModel, strategy: str) -> None:
    trace = searched(models, tiny, strategy=strategy, num_beams=4, num_beam_groups=2)
    value = search_value(trace)
    assert value is not None
    dropped = [
        (value["steps"][drop["step"]]["beams"][drop["index"]]["id"], drop["reason"])
        for entry in value["steps"]
        for drop in entry["dropped"]
    ]
    assert dropped == [(each.tokens[-1], each.reason) for step in trace.steps for each in step.dropped]
    assert dropped


def test_no_search_is_shown_of_what_none_chose(models: Models, tiny: LoadedModel) -> None:
    assert search_value(None) is None
    assert search_value(searched(models, tiny, strategy="greedy")) is None
