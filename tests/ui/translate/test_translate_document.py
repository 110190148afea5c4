"""What a browser keeps of Translate: read back, it is the same translation, with or without its model."""

from __future__ import annotations

import json
from typing import Any

import pytest

from model import catalog
from model.errors import AttendError
from model.loaded import LoadedModel
from tests.helpers.translators import nllb
from tests.ui.history.test_history_view import ask
from tests.ui.translate.test_translate import BEAMS, SOURCE
from ui.models import select
from ui.models.select import PickerUpdate
from ui.runs.documents.kept_document import open_document
from ui.runs.models import Models
from ui.runs.session import Session
from ui.translate import translate_actions as translate
from ui.translate.alignment import no_alignment
from ui.translate.kept_translation import open_translation, translate_document
from ui.translate.translate_actions import TranslateUpdate

NAME = "attend-translate"


@pytest.fixture
def both(tiny: LoadedModel, tiny_translator: LoadedModel) -> Models:
    loaded = {"attend-chat": tiny, NAME: tiny_translator}
    return Models(tuple(loaded), lambda name, _: loaded[name])


def translated(models: Models, name: str, text: str = SOURCE, session: Session | None = None) -> Session:
    session = session or Session.using(name)
    list(translate.translate(session, models, models.current(session), text, BEAMS))
    return session


def kept(session: Session, models: Models) -> dict[str, Any]:
    """The document as the browser has it."""
    document = translate_document(session)
    assert document is not None
    return json.loads(json.dumps(document.value(models, ())))


def overview(session: Session, models: Models) -> TranslateUpdate:
    return translate.overview(session, models, models.current(session))


def test_a_translation_that_was_cleared_before_it_was_kept_is_kept_all_the_same(both: Models) -> None:
    session = translated(both, NAME)
    document = kept(session, both)
    translate.clear(session, both, NAME)
    assert kept(session, both) == document
    translated(both, NAME, "Le chien est petit.", session)
    assert kept(session, both)["key"] != document["key"]


def test_a_translation_that_came_back_is_the_same(both: Models) -> None:
    assert translate_document(Session()) is None
    session = translated(both, NAME)
    document = kept(session, both)
    assert document["title"] == SOURCE and document["model"] == NAME
    again = Session.using(NAME)
    update = ask(again, both, document, 1)
    before, after = (overview(each, both) for each in (session, again))
    assert isinstance(update, TranslateUpdate) and update.source == SOURCE
    assert before.translation is not None and after.translation is not None
    (one,), (other,) = before.translation["turns"], after.translation["turns"]
    assert {**one, "version": 0} == {**other, "version": 0}
    assert before.alignment and before.alignment["cross"] and after.alignment == before.alignment
    (first,), (second,) = session.runs.values(), again.runs.values()
    assert first.trace is not None and second.trace is not None
    assert first.trace.document() == second.trace.document()
    assert kept(again, both) == document


def test_without_its_model_the_tokens_are_shown_and_with_it_the_alignment_too(both: Models, tiny: LoadedModel) -> None:
    document = kept(translated(both, NAME), both)
    loaded = {"attend-chat": tiny, NAME: both.get(NAME)}
    later = Models(tuple(loaded), lambda name, _: loaded[name])  # a server that has not loaded the translator yet
    session = Session.using("attend-chat")
    open_document(session, later, document, open_translation)
    first = overview(session, later)
    assert first.translation is not None and first.translation["turns"][0]["tokens"]
    assert first.alignment and "attend-translate wrote this but isn’t loaded" in first.alignment["reason"]
    inspector = translate.open_token(session, later, 1).inspector
    assert inspector is not None and inspector["steps"] and inspector["rows"] == []
    list(select.choose(session, later, NAME))
    second = overview(session, later)
    assert second.alignment and second.alignment["cross"]
    assert kept(session, later)["runs"] == document["runs"]


def test_the_same_text_again_is_the_same_entry_and_another_text_another(both: Models) -> None:
    session = translated(both, NAME)
    key = kept(session, both)["key"]
    translated(both, NAME, session=session)
    assert kept(session, both)["key"] == key
    translated(both, NAME, "Le chien est petit.", session)
    assert kept(session, both)["key"] != key


def test_its_languages_come_back(tiny: LoadedModel, tmp_path_factory: pytest.TempPathFactory) -> None:
    loaded = {"tiny": tiny, "nllb": catalog.load(str(nllb(tmp_path_factory.mktemp("kept") / "nllb")))}
    models = Models(tuple(loaded), lambda name, _: loaded[name])
    session = Session.using("nllb")
    models.get("nllb")
    select.translate(session, models, "en", "fr")
    document = kept(translated(models, "nllb", "the cat sat on the mat", session), models)
    assert document["model"] == "nllb"
    again = Session.using("nllb")
    ask(again, models, document, 1)
    assert again.model.languages == {"nllb": ("eng_Latn", "fra_Latn")} and models.current(again) == models.current(
        session
    )
    model = PickerUpdate(model=select.picker_value(again, models)).model
    assert model is not None and model["languages"]["target"] == "fra_Latn"
    later = Models(tuple(loaded), lambda name, _: loaded[name])  # a server that has not loaded the translator yet
    hidden = Session.using("tiny")
    ask(hidden, later, document, 1, shown=False)
    assert hidden.model.languages == {}  # they have not been checked
    *_, brought = select.choose(hidden, later, "nllb")
    assert brought.model is not None and brought.model["languages"]["target"] == "fra_Latn"
    select.translate(hidden, later, "fr", "en")
    *_, again_brought = [*select.choose(hidden, later, "tiny"), *select.choose(hidden, later, "nllb")]
    assert (
        again_brought.model is not None and again_brought.model["languages"]["target"] == "eng_Latn"
    )  # as chosen since


@pytest.mark.parametrize(
    "content",
    [
        {},
        {"text": 3},
        {"text": "x" * 20_001},
        {"answer": None},
        {"answer": {"role": "user"}},
        {"answer": {"tokens": [["a", 0.5]] * 5000}},
    ],
)
def test_what_is_no_translation_is_refused(both: Models, content: dict[str, Any]) -> None:
    session = translated(both, NAME)
    before, document = session.translation, kept(session, both)
    answer = {**document["content"]["answer"], **(content.get("answer") or {})} if content.get("answer") else None
    changed = {**document["content"], **content, **({"answer": answer} if "answer" in content else {})}
    with pytest.raises(AttendError, match="can't be opened"):
        open_document(session, both, {**document, "content": changed if content else {}}, open_translation)
    assert session.translation is before


def test_without_its_run_the_words_stay(both: Models) -> None:
    document = kept(translated(both, NAME), both)
    session = Session.using(NAME)
    open_document(session, both, {**document, "runs": {}}, open_translation)
    update = overview(session, both)
    assert update.translation is not None and update.translation["turns"][0]["text"]
    assert update.alignment == no_alignment() and not session.runs
    assert kept(session, both) == {**document, "runs": {}}  # it names the run that the browser still has
    with pytest.raises(AttendError, match="no longer stored"):
        translate.open_token(session, both, 0)
