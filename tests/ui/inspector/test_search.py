"""The inspector's values of a search agree with the trace of a real one."""

from __future__ import annotations

import pytest

from decoding.settings import DecodingSettings
from decoding.trace import Trace
from model.loaded import LoadedModel
from tests.helpers.waiting import steps_of
from ui.inspector.beams.search import search_value
from ui.inspector.inspector_contract import BeamRecord
from ui.runs.models import Models
from ui.runs.traces import new_trace


def searched(models: Models, loaded: LoadedModel, **settings: object) -> Trace:
    chosen = DecodingSettings.from_dict(
        {"strategy": "beam", "num_beams": 3, "max_new_tokens": 9, "seed": 1, **settings}
    )
    prompt = tuple(loaded.tokenizer.encode("Once upon a time"))
    trace = new_trace(loaded, prompt, chosen, text="Once upon a time")
    return trace.collect(steps_of(models.decode(loaded.name, prompt, chosen)))


def path(steps: list[list[BeamRecord]], step: int, index: int) -> list[BeamRecord]:
    """The beams of one text, oldest first."""
    beam = steps[step][index]
    *_, parent, _ = beam
    return [*(path(steps, step - 1, parent) if step else []), beam]


@pytest.mark.parametrize("changes", [{}, {"repetition_penalty": 1.3}, {"length_penalty": -1.0}])
def test_every_text_of_a_search_can_be_followed_back(
    models: Models, tiny: LoadedModel, changes: dict[str, object]
) -> None:
    trace = searched(models, tiny, **changes)
    value = search_value(trace, str)
    assert value is not None
    assert value["first"] == len(trace.request.prompt)
    assert len(value["steps"]) == len(trace.steps)
    for number, step in enumerate(trace.steps):
        for index, hypothesis in enumerate(step.hypotheses):
            followed = path(value["steps"], number, index)
            assert [token for token, *_ in followed] == list(map(str, hypothesis.tokens))
            # what each token added makes the sum; four decimals are sent of each
            assert sum(added for _, added, *_ in followed) == pytest.approx(hypothesis.score, abs=1e-3)
            _, _, total, log_probability, _, final = followed[-1]
            assert (total, log_probability) == pytest.approx((hypothesis.score, hypothesis.log_probability), abs=1e-4)
            assert (final is not None) == hypothesis.finished
            if final is not None:  # transformers' score of a finished text, by hand
                penalty = trace.settings.length_penalty
                assert final == pytest.approx(hypothesis.score / len(hypothesis.tokens) ** penalty, abs=1e-4)
    assert value["best"] is not None and value["over"]
    returned = path(value["steps"], *value["best"])
    assert [token for token, *_ in returned] == list(map(str, trace.ids))
    assert returned[-1][5] is not None  # a text is returned once it has ended
    assert value["returned"] == [value["best"]]


def test_all_returned_texts_are_named_best_first(models: Models, tiny: LoadedModel) -> None:
    trace = searched(models, tiny, num_return_sequences=3)
    value = search_value(trace, str)
    assert value is not None and len(value["returned"]) == 3
    texts = [[token for token, *_ in path(value["steps"], *spot)] for spot in value["returned"]]
    assert texts == [list(map(str, hypothesis.tokens)) for hypothesis in trace.sequences]


def test_an_update_sends_only_what_is_new(models: Models, tiny: LoadedModel) -> None:
    trace = searched(models, tiny)
    complete, new = search_value(trace, str), search_value(trace, str, since=len(trace.request.prompt) + 4)
    assert complete is not None and new is not None
    assert (complete["since"], new["since"]) == (0, 4)
    assert new["steps"] == complete["steps"][4:]
    trace.steps.pop()
    cut = search_value(trace, str)
    assert cut is not None and not cut["over"]


@pytest.mark.parametrize("strategy", ["beam", "beam_sample", "diverse_beam"])
def test_what_a_search_dropped_has_its_reason(models: Models, tiny: LoadedModel, strategy: str) -> None:
    trace = searched(models, tiny, strategy=strategy, num_beams=4, num_beam_groups=2)
    value = search_value(trace, str)
    assert value is not None
    dropped = [(value["steps"][step][index][0], reason) for step, index, reason, _, _ in value["dropped"]]
    assert dropped == [
        (str(hypothesis.tokens[-1]), hypothesis.reason) for step in trace.steps for hypothesis in step.dropped
    ]
    assert dropped


def test_no_search_is_shown_of_what_none_chose(models: Models, tiny: LoadedModel) -> None:
    assert search_value(None, str) is None
    assert search_value(searched(models, tiny, strategy="greedy"), str) is None
