"""The page's "What if?": the same answers as `decoding.counterfactual`, and its sentences."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from decoding.counterfactual import Counterfactual, choose_again
from decoding.settings import DecodingSettings
from model.errors import AttendError
from model.loaded import LoadedModel
from tests.ui.inspector.test_trace import BEAM, GREEDY, SAMPLE, answered, trace_of, written
from ui.inspector.toolbar import counterfactual as whatif
from ui.inspector.toolbar import replay
from ui.inspector.toolbar.toolbar_contract import WhatIfValue
from ui.runs.models import Models
from ui.runs.run import RunRecord
from ui.runs.session import Session
from ui.write import write_actions as write


def direct(tiny: LoadedModel, run: RunRecord, settings: DecodingSettings) -> Counterfactual:
    trace = trace_of(run)
    return choose_again(tiny.model, trace.request, trace.choices(), settings)


def differing(value: WhatIfValue) -> list[int]:
    return [index for index, token in enumerate(value["tokens"]) if token["instead"] is not None]


@pytest.mark.parametrize("changes", [{"temperature": 0}, {"temperature": 1.9}, {"top_k": 2, "top_p": 0.5}], ids=str)
def test_the_answer_is_that_of_asking_directly(
    models: Models, tiny: LoadedModel, session: Session, run: RunRecord, changes: dict[str, float]
) -> None:
    value = whatif.answer(session, models, run.id, changes)
    expected = direct(tiny, run, DecodingSettings.from_dict({**SAMPLE.to_dict(), **changes}))
    ids = trace_of(run).ids
    assert value["first_difference"] == expected.first_difference
    assert differing(value) == [index for index, choice in enumerate(expected.choices) if choice.token != ids[index]]
    for each, token, choice in zip(value["tokens"], ids, expected.choices, strict=True):
        assert each["text"] == tiny.tokenizer.label(token)
        assert each["instead"] in (None, tiny.tokenizer.label(choice.token))
        assert each["probability"] == choice.final_probability
    assert value["settings"] == {"temperature": 0.8, "top_k": 40, "top_p": 0.95, **changes}
    assert value["first"] == 0  # the inspector explains an answer from its first token on


@pytest.mark.parametrize("settings", [SAMPLE, GREEDY], ids=lambda one: one.strategy)
def test_its_own_settings_change_nothing(models: Models, session: Session, settings: DecodingSettings) -> None:
    run = answered(models, "Hello", settings, session)
    value = whatif.answer(session, models, run.id, {})
    count = len(trace_of(run).ids)
    assert value["sentence"] == f"With its original settings, all {count} tokens stay the same."
    assert (value["first_difference"], differing(value)) == (None, [])


def test_a_greedy_run_is_one_at_temperature_0(models: Models, tiny: LoadedModel, session: Session) -> None:
    run = answered(models, "Hello", GREEDY, session)
    assert whatif.answer(session, models, run.id, {})["settings"]["temperature"] == 0
    value = whatif.answer(session, models, run.id, {"temperature": 1.5})
    expected = direct(tiny, run, replace(GREEDY, strategy="sample", temperature=1.5, seed=0))
    assert value["first_difference"] == expected.first_difference
    assert [token["probability"] for token in value["tokens"]] == [
        choice.final_probability for choice in expected.choices
    ]
    assert value == whatif.answer(session, models, run.id, {"temperature": 1.5})  # the same draws, whenever it is asked


def test_a_continuation_begins_behind_what_stood_there(models: Models, session: Session) -> None:
    run = written(models, session, "The quick", SAMPLE)
    value = whatif.answer(session, models, run.id, {})
    assert len(value["tokens"]) == len(trace_of(run).ids)
    assert run.first + value["first"] == len(run.tokens) - len(value["tokens"])  # where the inspector selects it


def test_the_sentence_by_hand(tiny: LoadedModel, run: RunRecord) -> None:
    result = direct(tiny, run, SAMPLE)
    count = len(result.choices)
    assert count > 2

    def message(index: int | None, **changes: float) -> str:
        return whatif.in_words(SAMPLE, Counterfactual(replace(SAMPLE, **changes), result.choices, index))

    assert message(0, temperature=0.5) == "With temperature 0.5, the first token is"
    assert message(1, temperature=0.5) == "With temperature 0.5, the first token stays the same; then"
    assert (
        message(2, temperature=0.5, top_k=5)
        == "With temperature 0.5 and top-k 5, the first 2 tokens stay the same; then"
    )
    assert message(None, temperature=0.5, top_k=5, top_p=0.9) == (
        f"With temperature 0.5, top-k 5 and top-p 0.9, all {count} tokens stay the same."
    )
    one = Counterfactual(SAMPLE, result.choices[:1], None)
    assert whatif.in_words(SAMPLE, one) == "With its original settings, the one token stays the same."


def test_runs_without_a_what_if_say_why(models: Models, session: Session) -> None:
    beam = whatif.answer(session, models, answered(models, "Hello", BEAM, session).id, {})
    assert "is Beam search." in beam["sentence"]
    write.preview(session, models, models.default, "The quick")
    typed = whatif.answer(session, models, session.draft.run or "", {})
    assert "are not stored" in typed["sentence"]
    file = whatif.answer(session, models, "replay-1", {})
    assert replay.is_replay(file["run"]) and "opened from a file" in file["sentence"]
    for value in (beam, typed, file):
        assert (value["settings"], value["tokens"], value["first_difference"]) == ({}, [], None)


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        (None, "only these can change: temperature, top_k, top_p"),
        ([], "only these can change"),
        ({"seed": 3}, "only these can change"),
        ({"temperature": 0.5, "strategy": "beam"}, "only these can change"),
        ({7: 1}, "only these can change"),
        ({"temperature": 99}, "temperature is 99"),
        ({"top_k": 1.5}, "top_k is 1.5"),
        ({"top_p": "all"}, "top_p is 'all'"),
    ],
)
def test_invalid_what_ifs_are_refused(
    models: Models, session: Session, run: RunRecord, changes: object, sentence: str
) -> None:
    with pytest.raises(AttendError) as refused:
        whatif.answer(session, models, run.id, changes)
    assert sentence in str(refused.value)


def test_no_what_if_while_the_model_writes_or_for_a_missing_run(
    models: Models, session: Session, run: RunRecord
) -> None:
    for identifier in ("", "chat-99"):
        with pytest.raises(AttendError, match="no longer stored"):
            whatif.answer(session, models, identifier, {})
    session.begin()
    with pytest.raises(AttendError, match="still writing"):
        whatif.answer(session, models, run.id, {})


def test_the_model_is_locked_during_a_what_if(
    models: Models, tiny: LoadedModel, session: Session, run: RunRecord
) -> None:
    held: list[bool] = []
    model: Any = tiny.model
    extend_logits = model.extend_logits

    def watched(*arguments: object) -> object:
        held.append(tiny.lock.locked())
        return extend_logits(*arguments)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(model, "extend_logits", watched)
        whatif.answer(session, models, run.id, {"temperature": 0.5})
    assert held == [True]  # one piece


def test_the_form_offers_the_declared_ranges() -> None:
    form = whatif.whatif_form()
    fields = {setting["name"]: setting for setting in form["settings"]}
    assert list(fields) == ["temperature", "top_k", "top_p"]
    assert (fields["temperature"]["minimum"], fields["temperature"]["maximum"]) == (0, 2)  # as in the README's table
    assert fields["top_k"]["maximum"] == 200
    assert form["quick"] == [0, 0.5, 1, 1.5]
