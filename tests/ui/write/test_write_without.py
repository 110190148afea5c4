"""A text in Write that was written with a head switched off: what goes on from it goes on without that head."""

from __future__ import annotations

from dataclasses import replace

import pytest

from decoding.generate import generate
from model.inspection.inspector import under
from model.inspection.intervention import Intervention
from model.loaded import LoadedModel
from tests.ui.write.test_write_trace import SAMPLE, go, run_of, trace_of
from ui.runs.models import Models
from ui.runs.session import Session
from ui.write import history
from ui.write import write_actions as write
from ui.write.draft import replace_run

OFF = (Intervention(0, "head", 1), Intervention(1, "feed_forward"))


@pytest.fixture
def session(models: Models, tiny: LoadedModel) -> Session:
    """A visitor whose text was continued without OFF."""
    session = go(Session(), models, SAMPLE)
    run = run_of(session)
    replace_run(session, tiny, run.tokens, run.shape, interventions=OFF)
    return go(session, models, SAMPLE)


def written_alone(session: Session, tiny: LoadedModel) -> tuple[int, ...]:
    """The slow twin: the newest continuation from its own prompt, under OFF."""
    request = trace_of(session).request
    model = under(tiny.model, OFF)
    steps = generate(model, request.prompt, trace_of(session).settings.strategy_for(request))
    return replace(trace_of(session), steps=[]).collect(steps).ids


@pytest.mark.parametrize("is_forgotten", [False, True])
def test_undo_and_redo_give_the_text_back_with_what_it_was_written_without(
    models: Models, tiny: LoadedModel, session: Session, is_forgotten: bool
) -> None:
    text = session.draft.text
    assert run_of(session).interventions == OFF and trace_of(session).ids == written_alone(session, tiny)
    if is_forgotten:  # as the memory's limit does
        run_of(session).forget_trace()
    write.preview(session, models, models.default, "Something else")
    assert run_of(session).interventions == ()
    history.undo(session, models, models.default, "Something else")
    assert session.draft.text == text and run_of(session).interventions == OFF
    history.undo(session, models, models.default, text)
    history.redo(session, models, models.default, session.draft.text)
    assert session.draft.text == text and run_of(session).interventions == OFF
    go(session, models, replace(SAMPLE, temperature=0.7))
    assert run_of(session).interventions == OFF and trace_of(session).ids == written_alone(session, tiny)


def test_a_text_with_another_token_goes_on_without_the_same_parts(
    models: Models, tiny: LoadedModel, session: Session
) -> None:
    run = run_of(session)
    index, choice = len(run.tokens) - 3, run.tokens[-3].choice
    assert choice is not None
    other = next(candidate.id for candidate in choice.candidates if candidate.id > 10 and candidate.id != choice.token)
    write.take(session, models, index, other)
    assert run_of(session).interventions == OFF
    go(session, models, SAMPLE)
    assert run_of(session).interventions == OFF and trace_of(session).ids == written_alone(session, tiny)


def test_a_text_that_goes_on_behind_a_stop_text_goes_on_without_the_same_parts(
    models: Models, tiny: LoadedModel, session: Session
) -> None:
    go(session, models, replace(SAMPLE, stop_texts=(session.draft.text[-1:], "e", "a", "o", "t"), max_new_tokens=200))
    assert trace_of(session).finish_reason == "stop_text"
    go(session, models, SAMPLE)
    assert run_of(session).interventions == OFF and trace_of(session).ids == written_alone(session, tiny)
