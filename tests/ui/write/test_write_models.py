"""A text in Write when its visitor chooses another model."""

from __future__ import annotations

from pathlib import Path

import pytest

from model import catalog
from model.loaded import LoadedModel
from tests.conftest import make_checkpoint
from tests.helpers.folders import gpt2
from tests.helpers.waiting import Gate
from tests.ui.write.test_write import SAMPLE, START, last, run_of
from tests.ui.write.test_write_history import undo
from ui.runs.models import Models
from ui.runs.session import Session
from ui.write import history
from ui.write import write_actions as write
from ui.write.write_reproduction import write_reproduction

LONG = "The quick brown fox jumps over the lazy dog, and the dog sleeps. " * 3


@pytest.fixture(scope="module")
def short(tmp_path_factory: pytest.TempPathFactory) -> LoadedModel:
    """A model with a shorter context."""
    return catalog.load(str(make_checkpoint(tmp_path_factory.mktemp("short") / "tiny-short", context_length=32)))


@pytest.fixture
def both(tiny: LoadedModel, short: LoadedModel) -> Models:
    loaded = {tiny.name: tiny, short.name: short}
    return Models(tuple(loaded), lambda name, _: loaded[name])


def test_a_text_that_the_new_model_cannot_read_stays_and_the_page_says_why(
    both: Models, tiny: LoadedModel, short: LoadedModel
) -> None:
    session = Session()
    last(write.write(session, both, tiny.name, START, SAMPLE))
    before = session.draft.text
    write.preview(session, both, tiny.name, LONG)
    ids = run_of(session).ids
    update = write.overview(session, both, short.name)
    assert session.draft.text == LONG and update.text is None
    assert update.inspector is not None and update.inspector["run"] is None
    assert update.meter is not None and "reads at most 32: shorten it" in update.meter["note"]
    write.overview(session, both, tiny.name)
    assert run_of(session).ids == ids
    write.overview(session, both, short.name)
    assert history.undo(session, both, short.name, LONG).text == before
    assert history.redo(session, both, short.name, before).text == LONG and run_of(session).ids == ids


def test_what_the_model_before_is_still_writing_is_written_to_its_end(
    both: Models, tiny: LoadedModel, short: LoadedModel
) -> None:
    session, gate = Session(), Gate()
    held = gate.holding(both)
    updates = write.write(session, held, tiny.name, START, SAMPLE)
    next(updates)
    update = write.overview(session, held, short.name)
    assert update.inspector is not None and update.inspector["busy"]
    gate.open()
    assert last(updates).text == session.draft.text
    run = run_of(session)
    assert run.model == tiny.name and sum(not token.is_given for token in run.tokens) == SAMPLE.max_new_tokens
    write.overview(session, held, short.name)
    assert run_of(session).model == short.name


def test_a_text_of_another_model_is_copied_as_a_text(models: Models, tmp_path: Path) -> None:
    """Undo brings back the tokens of the model before, which mean something else to the one that is chosen."""
    other, session = catalog.load(str(gpt2(tmp_path / "gpt2"))), Session()
    last(write.write(session, models, models.default, START, SAMPLE))
    text = session.draft.text
    write.preview(session, models, models.default, "Something else")
    undo(session, models)
    assert write_reproduction(session, other, text, SAMPLE).prompt == text
