"""The trace of a text in Write: it grows with the text, returns with Undo, and ends before a stop text."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from decoding.run.trace import Trace
from decoding.settings import DecodingSettings
from model.loaded import LoadedModel
from tests.helpers.waiting import Gate
from ui.inspector.toolbar import counterfactual as whatif
from ui.inspector.toolbar import record
from ui.runs.models import Models
from ui.runs.run import RunRecord
from ui.runs.session import Session
from ui.write import history
from ui.write import write_actions as write

SAMPLE = DecodingSettings(temperature=1.3, max_new_tokens=8, seed=11)
START = "The quick brown fox"


def run_of(session: Session) -> RunRecord:
    return session.run(session.draft.run)


def trace_of(session: Session) -> Trace:
    trace = run_of(session).trace
    assert trace is not None
    return trace


def go(session: Session, models: Models, settings: DecodingSettings, times: int = 1) -> Session:
    for _ in range(times):
        list(write.write(session, models, models.default, session.draft.text or START, settings))
    return session


def one_by_one(settings: DecodingSettings) -> DecodingSettings:
    return replace(settings, max_new_tokens=1)


def without_seed(document: Any) -> Any:
    """A document rounded so that the numerics of a batch do not make two runs differ."""
    if isinstance(document, Mapping):
        return {name: without_seed(value) for name, value in document.items()}
    if isinstance(document, list):
        return [without_seed(value) for value in document]
    return pytest.approx(document, rel=1e-4, abs=1e-6) if isinstance(document, float) else document


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"strategy": "greedy"},
        {"frequency_penalty": 1.5, "xtc_probability": 0.5, "xtc_threshold": 0.01},
        {"strategy": "dola", "dola_layers": (0, 1)},
        {"no_repeat_ngram_size": 1, "top_k": 30},
    ],
)
def test_token_by_token_it_is_the_trace_of_one_run(models: Models, changes: dict[str, Any]) -> None:
    settings = replace(SAMPLE, **changes)
    at_once = go(Session(), models, settings)
    count = len(trace_of(at_once).ids)
    by_hand = go(Session(), models, one_by_one(settings), times=count)
    assert run_of(by_hand).ids == run_of(at_once).ids
    expected = trace_of(at_once).document()
    assert expected["settings"] is not None
    expected["settings"]["max_new_tokens"] = count
    assert trace_of(by_hand).document() == without_seed(expected)
    assert all(token.row for token in run_of(by_hand).tokens[run_of(by_hand).first :])


def test_a_longer_run_goes_on_and_a_stopped_one_too(models: Models) -> None:
    session = Session()
    held = Gate(free=5).holding(models)
    notes = []
    for update in write.write(session, held, models.default, START, replace(SAMPLE, max_new_tokens=60)):
        notes.append(update.meter and update.meter["note"])
        if session.stop is not None and (trace := run_of(session).trace) is not None and trace.ids:
            session.stop.set()
    count = len(trace_of(session).ids)
    assert trace_of(session).finish_reason == "cancelled" and 0 < count < 60
    assert notes[-1] == "stopped"
    go(session, models, replace(SAMPLE, max_new_tokens=4))
    assert run_of(session).ids == run_of(go(Session(), models, replace(SAMPLE, max_new_tokens=count + 4))).ids
    assert len(trace_of(session).choices()) == count + 4 and trace_of(session).finish_reason == "length"


def test_a_person_who_types_in_between_begins_a_new_trace(models: Models) -> None:
    session = go(Session(), models, one_by_one(SAMPLE), times=3)
    write.preview(session, models, models.default, f"{session.draft.text} and")
    typed = session.draft.text
    assert run_of(session).trace is None
    go(session, models, one_by_one(SAMPLE), times=2)
    assert (trace_of(session).prompt, len(trace_of(session).ids)) == (typed, 2)


@pytest.mark.parametrize("changes", [{"temperature": 0.5}, {"seed": 12}, {"strategy": "beam"}, {"mirostat_mode": 2}])
def test_what_one_run_could_not_have_made_is_no_one_run(models: Models, changes: dict[str, Any]) -> None:
    session = go(Session(), models, one_by_one(SAMPLE), times=2)
    go(session, models, one_by_one(replace(SAMPLE, **changes)), times=2)
    assert len(trace_of(session).ids) == (1 if {"strategy", "mirostat_mode"} & changes.keys() else 2)


@pytest.mark.usefixtures("counted_seeds")
def test_a_seed_that_is_left_to_chance_is_drawn_once_for_a_text_that_goes_on(models: Models) -> None:
    session = go(Session(), models, replace(SAMPLE, seed=-1, max_new_tokens=1), times=4)
    assert len(trace_of(session).ids) == 4 and session.seed == trace_of(session).settings.seed >= 0
    again = go(Session(), models, replace(SAMPLE, seed=session.seed, max_new_tokens=4))
    assert run_of(again).ids == run_of(session).ids


def test_undo_and_redo_restore_runs_that_can_be_saved_and_explored(models: Models) -> None:
    session = go(Session(), models, one_by_one(SAMPLE), times=3)
    for take_back, count in ((history.undo, 2), (history.undo, 1), (history.redo, 2), (history.redo, 3)):
        take_back(session, models, models.default, session.draft.text)
        _, content = record.saved(session, models, session.draft.run or "")
        saved = json.loads(content)
        assert len(saved["ids"]) == count and f"{START}{saved['text']}".startswith(session.draft.text.rstrip("\ufffd"))
        answer = whatif.answer(session, models, session.draft.run or "", {})
        assert answer["settings"] and len(answer["tokens"]) == count


def in_plain_words(models: Models, loaded: LoadedModel) -> tuple[DecodingSettings, list[str]]:
    """A run of the random model without pieces of characters, and what its tokens say."""
    for seed in range(100):
        settings = replace(SAMPLE, seed=seed)
        trace = trace_of(go(Session(), models, settings))
        labels = [loaded.tokenizer.decode((token,)) for token in trace.ids]
        if len(trace.ids) == SAMPLE.max_new_tokens and "\ufffd" not in "".join(labels) and all(labels):
            return settings, labels
    raise AssertionError("the model says nothing in plain words")


@pytest.mark.parametrize("single", [False, True])
def test_a_stop_text_leaves_the_box_and_the_trace_but_can_be_looked_at(
    models: Models, tiny: LoadedModel, single: bool
) -> None:
    """The stop text spans three tokens, generated at once or one press at a time."""
    clear, labels = in_plain_words(models, tiny)
    plain, stop_text = "".join(labels), labels[2][-1] + labels[3] + labels[4][:1]
    expected = plain[: plain.index(stop_text)]
    settings = replace(clear, stop_texts=(stop_text,))
    if single:
        settings = one_by_one(settings)
    session = Session()
    text, updates = START, []
    for _ in range(8 if single else 1):
        updates = list(
            write.write(
                session,
                models,
                models.default,
                session.draft.text or START,
                settings,
            )
        )
        text = session.draft.text
        if trace_of(session).finish_reason == "stop_text":
            break
    assert text == updates[-1].text == START + expected
    assert updates[-1].meter is not None and f"stopped at “{stop_text}”" in updates[-1].meter["note"]
    assert trace_of(session).text == trace_of(session).document()["text"] == expected
    assert stop_text in tiny.tokenizer.decode(trace_of(session).ids)
    assert run_of(session).ids[-len(trace_of(session).ids) :] == trace_of(session).ids  # to be looked at

    write.overview(session, models, models.default)
    assert session.draft.text == text and run_of(session).trace is not None
    go(session, models, one_by_one(replace(SAMPLE, strategy="greedy")))
    assert tiny.tokenizer.decode(run_of(session).ids[:-1]) == text  # it went on from what the box said
    assert trace_of(session).prompt == text
    history.undo(session, models, models.default, session.draft.text)
    assert session.draft.text == text and trace_of(session).finish_reason == "stop_text"


def test_while_a_text_grows_nothing_is_shown_that_may_become_a_stop_text(models: Models, tiny: LoadedModel) -> None:
    clear, labels = in_plain_words(models, tiny)
    stop_text, plain = "".join(labels[3:6]), "".join(labels)
    expected = START + plain[: plain.index(stop_text)]
    settings = replace(clear, stop_texts=(stop_text, "fox"))  # the prompt ends nothing, whatever it says
    session = Session()
    texts = [update.text for update in write.write(session, models, models.default, START, settings)]
    assert all(expected.startswith(text) for text in texts if text is not None)
    assert session.draft.text == expected
