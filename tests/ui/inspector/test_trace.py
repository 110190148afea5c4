"""The trace of a run on the page: complete, equal to the terminal's, and never that of another text."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import generate
from decoding.run.trace import Trace
from decoding.settings import DecodingSettings
from model.loaded import LoadedModel
from tests.helpers.waiting import Gate
from ui.chat import chat_actions as chat
from ui.runs.models import Models
from ui.runs.run import RunRecord
from ui.runs.session import Session
from ui.write import history
from ui.write import write_actions as write

SAMPLE = DecodingSettings(temperature=0.8, top_k=40, top_p=0.95, seed=7, max_new_tokens=10)
GREEDY = DecodingSettings(strategy="greedy", seed=0, max_new_tokens=10)
BEAM = DecodingSettings(strategy="beam", num_beams=3, seed=0, max_new_tokens=8)


def to_the_end(updates: Iterator[object]) -> None:
    for _ in updates:
        pass


def answered(models: Models, text: str, settings: DecodingSettings, session: Session | None = None) -> RunRecord:
    session = session or Session()
    to_the_end(chat.send(session, models, models.default, text, settings))
    run = session.newest_answer
    assert run is not None
    return run


def written(models: Models, session: Session, text: str, settings: DecodingSettings) -> RunRecord:
    to_the_end(write.write(session, models, models.default, text, settings))
    return session.run(session.draft.run)


def trace_of(run: RunRecord) -> Trace:
    """A run's trace, which must be that of its tokens."""
    assert run.trace is not None
    assert (*run.trace.request.prompt, *run.trace.ids) == run.ids
    return run.trace


def from_terminal(folder: Path, file: Path, *arguments: str, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    monkeypatch.setattr("model.threads.fastest_threads", lambda model: 1)
    assert generate.main([*arguments, "--model", str(folder), "--json", str(file)]) == 0
    return json.loads(file.read_text(encoding="utf-8"))


def flags(settings: DecodingSettings) -> list[str]:
    changed = {name: value for name, value in settings.to_dict().items() if value != DecodingSettings().to_dict()[name]}
    return [part for name, value in changed.items() for part in (f"--{name.replace('_', '-')}", str(value))]


@pytest.mark.parametrize("settings", [SAMPLE, GREEDY, BEAM], ids=lambda one: one.strategy)
def test_a_continuations_document_is_the_terminals(
    models: Models, tiny_checkpoint: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, settings: DecodingSettings
) -> None:
    document = trace_of(written(models, Session(), "The quick brown", settings)).document()
    arguments = ["The quick brown", *flags(settings)]
    other = from_terminal(tiny_checkpoint, tmp_path / "run.json", *arguments, monkeypatch=monkeypatch)
    assert json.loads(json.dumps(document)) == other


@pytest.mark.parametrize("settings", [SAMPLE, BEAM], ids=lambda one: one.strategy)
def test_the_choices_are_those_that_the_page_shows_and_hold_no_attention(
    models: Models, settings: DecodingSettings
) -> None:
    run = answered(models, "Hello", settings)
    trace = trace_of(run)
    assert trace.choices() == [token.choice for token in run.tokens[run.first :]]
    assert all(token.row for token in run.tokens[run.first :])  # where the attention is kept
    for step in trace.steps:
        every = [*step.hypotheses, *([step.best] if step.best else [])]
        assert [one.choice.attention for one in every] == [None] * len(every)


def test_a_later_answers_trace_holds_the_conversation(models: Models) -> None:
    session = Session()
    first = answered(models, "Hello", SAMPLE, session)
    trace = trace_of(answered(models, "How are you?", SAMPLE, session))
    assert trace.prompt == "How are you?"
    assert [message["content"] for message in trace.messages] == ["Hello", session.turns[1].text, "How are you?"]
    assert trace_of(first).messages == [{"role": "user", "content": "Hello"}]  # the first is as it was


def test_a_stopped_answer_is_a_cancelled_run(models: Models) -> None:
    session = Session()
    held = Gate().holding(models)
    updates = chat.send(session, held, models.default, "Hello", DecodingSettings(seed=1, max_new_tokens=100))
    next(updates)
    run = session.newest_answer
    assert run is not None
    for _ in updates:
        if session.stop is not None and trace_of(run).steps:
            session.stop.set()
    assert trace_of(run).finish_reason == "cancelled"


def test_in_write_other_settings_begin_a_new_trace(models: Models, tiny: LoadedModel) -> None:
    session = Session()
    first = trace_of(written(models, session, "The quick", SAMPLE))
    text = session.draft.text
    assert first.prompt == "The quick"
    second = trace_of(written(models, session, text, replace(SAMPLE, temperature=0.5)))
    assert second is not first
    assert second.prompt == text
    assert second.request.prompt == (*first.request.prompt, *first.ids)
    assert second.document().get("draws_used") == len(first.ids)  # where it went on in the seed's stream
    assert "draws_used" not in first.document()
    assert tiny.tokenizer.decode(second.request.prompt) == text


def test_a_changed_text_has_no_trace(models: Models) -> None:
    """Typing or taking a token makes a text without a trace; Undo restores the text and its trace."""
    session = Session()
    assert write.preview(session, models, models.default, "The quick").inspector is not None
    assert session.run(session.draft.run).trace is None
    run = written(models, session, "The quick", SAMPLE)
    trace_of(run)
    choice = run.tokens[-1].choice
    assert choice is not None
    other = next(candidate.id for candidate in choice.candidates if candidate.id != choice.token)
    write.take(session, models, len(run.tokens) - 1, other)
    assert session.run(session.draft.run).trace is None
    history.undo(session, models, models.default, session.draft.text)
    assert session.run(session.draft.run).ids == run.ids
    assert session.run(session.draft.run).trace is run.trace
    trace_of(written(models, session, session.draft.text, SAMPLE))
    trace_of(written(models, session, "Typed anew", SAMPLE))
