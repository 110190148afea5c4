"""What is typed is shown at once, in few bytes: only what changed, and of much at once the newest part."""

from __future__ import annotations

from dataclasses import replace

import pytest

from model import catalog
from model.errors import AttendError
from model.loaded import LoadedModel
from tests.ui.write.test_write import SAMPLE
from ui.inspector.inspector_contract import InspectorValue
from ui.inspector.opening import open_run
from ui.kit.packing import packed
from ui.runs.attention_rows import explain
from ui.runs.models import Models
from ui.runs.session import Choosing, Session
from ui.write import history
from ui.write import write_actions as write
from ui.write.write_update import WriteUpdate

MAX_BYTES = 200_000
STORY = "Once upon a time there was a small dog who liked to play in the park with all of its friends. " * 20


@pytest.fixture(scope="module")
def embedded() -> Models:
    """The embedded chat model, whose context is full with a few hundred words."""
    loaded = catalog.load("attend-chat")
    return Models((loaded.name,), lambda name, _: loaded)


def inspector_of(update: WriteUpdate) -> InspectorValue:
    assert update.inspector is not None
    return update.inspector


def test_only_what_changed_is_sent_and_it_is_what_all_of_it_would_be(models: Models, tiny: LoadedModel) -> None:
    session = Session()
    first = inspector_of(write.preview(session, models, models.default, "The quick brown fox"))
    assert "since" not in first and "continues" not in first
    second = inspector_of(write.preview(session, models, models.default, "The quick brown fox sleeps"))
    same = second.get("since", 0)
    assert second.get("continues") == first["run"] != second["run"]
    assert 0 < same <= len(first["ids"])
    whole = inspector_of(write.overview(session, models, models.default))
    assert [*first["ids"][:same], *second["ids"]] == whole["ids"]
    tokens = session.run(session.draft.run).tokens
    anew, _ = explain([token.id for token in tokens], tiny.model, tiny.lock, candidates=10)
    assert [(token.id, token.row) for token in tokens] == [(token.id, token.row) for token in anew]
    for token, alone in zip(tokens[1:], anew[1:], strict=True):
        assert token.choice is not None and alone.choice is not None
        assert token.choice.probability == pytest.approx(alone.choice.probability, abs=1e-5)


def test_a_deletion_is_sent_as_a_length(models: Models) -> None:
    session = Session()
    write.preview(session, models, models.default, "The quick brown fox")
    value = inspector_of(write.preview(session, models, models.default, "The quick"))
    assert value.get("since") == len(session.run(session.draft.run).tokens) - len(value["ids"])
    assert not value["ids"]


def test_what_the_page_does_not_show_is_sent_whole(models: Models) -> None:
    session = Session()
    write.preview(session, models, models.default, "The quick brown fox")
    session.inspected_run = "another run"
    value = inspector_of(write.preview(session, models, models.default, "The quick brown fox sleeps"))
    assert "continues" not in value and "since" not in value
    assert len(value["ids"]) == len(session.run(session.draft.run).tokens)


def test_a_full_context_is_sent_in_few_bytes(embedded: Models) -> None:
    """Pasted at once, and then typed on; the rest comes when the page asks for it."""
    session, loaded = Session.using(embedded.default), embedded.first
    ids = loaded.prompt(STORY)[: loaded.model.context_length - 20]
    text = loaded.tokenizer.decode(ids[1:], begins=True)
    pasted = inspector_of(write.preview(session, embedded, embedded.default, text))
    assert len(pasted["ids"]) > 450 and len(packed(pasted)) < MAX_BYTES
    assert pasted.get("steps_from") == len(pasted["ids"]) - len(pasted["steps"]) > 1
    typed = inspector_of(write.preview(session, embedded, embedded.default, text + " dog"))
    assert len(packed(typed)) < MAX_BYTES / 2
    whole = open_run(session, embedded, typed["run"] or "")
    assert len(whole["rows"]) > 2 * len(pasted["rows"]) and len(whole["steps"]) == len(whole["ids"]) - 1


def test_a_preview_that_comes_after_its_text_was_continued_takes_nothing_back(models: Models) -> None:
    """Whoever types and presses Continue at once: both events have threads, and the second may be handled first."""
    session = Session()
    list(write.write(session, models, models.default, "The quick brown", SAMPLE))
    continued = session.run(session.draft.run).ids
    for late in ("The quick", "The quick brown"):  # of what was typed, and of all of it
        assert write.preview(session, models, models.default, late) == WriteUpdate()
        assert session.run(session.draft.run).ids == continued
    write.preview(session, models, models.default, "The quick brown")  # what was generated has been deleted
    assert session.draft.text == "The quick brown"
    list(write.write(session, models, models.default, "The quick brown", SAMPLE))
    write.preview(session, models, models.default, "The quick brown")  # again: its preview had come before
    assert session.draft.text == "The quick brown"


def test_a_text_that_is_typed_again_after_clear_is_previewed(models: Models) -> None:
    session = Session()
    list(write.write(session, models, models.default, "The quick brown", SAMPLE))  # its preview never comes
    history.clear(session, models, models.default)
    write.preview(session, models, models.default, "The quick brown")
    assert session.draft.text == "The quick brown"


def test_a_text_whose_continuation_was_refused_is_previewed(models: Models) -> None:
    session = Session()
    with pytest.raises(AttendError, match="logit_bias"):
        next(
            write.write(
                session, models, models.default, "The quick brown", replace(SAMPLE, logit_bias=((99_999, 3.0),))
            )
        )
    for typed in ("The quick brown", "The quick"):
        inspector_of(write.preview(session, models, models.default, typed))
        assert session.draft.text == typed


def test_typing_while_the_tab_waits_for_its_model_is_not_refused(models: Models) -> None:
    session = Session()
    session.model.coming = Choosing("another", for_tab=True)
    assert write.preview(session, models, models.default, "The quick brown") == WriteUpdate()
    with pytest.raises(AttendError, match="another is still loading"):
        next(write.write(session, models, models.default, "The quick brown", SAMPLE))
