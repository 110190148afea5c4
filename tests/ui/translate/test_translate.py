"""Translate without a browser: what the page is told, held equal to the model's own steps."""

from __future__ import annotations

import base64
import json
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from decoding.generate import generate
from decoding.request import Request
from decoding.run.trace import Trace
from decoding.settings import DecodingSettings
from model import catalog, names
from model.errors import AttendError
from model.interface import Want
from model.loaded import LoadedModel
from tests.helpers.translators import nllb
from ui.models import select
from ui.page.switch import Switch
from ui.runs.models import Models
from ui.runs.session import Choosing, Session
from ui.tabs import TABS
from ui.translate import alignment
from ui.translate import translate_actions as translate
from ui.translate.alignment import no_alignment
from ui.translate.translate_actions import TranslateUpdate
from ui.translate.translate_contract import AlignmentValue, HeadsValue
from ui.translate.translate_endpoint import translate_endpoint

SOURCE = "Le chat est grand."
BEAMS = DecodingSettings(strategy="beam", num_beams=3, max_new_tokens=9)
ROUNDING = 0.005  # of a weight near 1: its square root is half a byte's step off, 2 · 1/510 and a little
EMBEDDED = Path(names.EMBEDDED / "attend-translate" / "model.safetensors")


@pytest.fixture
def both(tiny: LoadedModel, tiny_translator: LoadedModel) -> Models:
    loaded = {each.name: each for each in (tiny, tiny_translator)}
    return Models(tuple(loaded), lambda name, _: loaded[name])


def run(
    session: Session, models: Models, name: str, text: str, settings: DecodingSettings = BEAMS
) -> list[TranslateUpdate]:
    return list(translate.translate(session, models, name, text, settings))


def weights(heads: HeadsValue | None) -> Iterator[np.ndarray]:
    """Each row's weights (layers, heads, keys), as the page reads them."""
    assert heads is not None
    for row in heads["rows"]:
        numbers = np.frombuffer(base64.b64decode(row), dtype=np.uint8)
        yield (numbers.reshape(heads["layers"], heads["heads"], -1) / 255) ** 2


def last_alignment(updates: list[TranslateUpdate]) -> AlignmentValue:
    value = updates[-1].alignment
    assert value
    return value


def test_the_text_is_that_of_the_plain_loop(both: Models, tiny_translator: LoadedModel) -> None:
    session = Session()
    updates = run(session, both, tiny_translator.name, SOURCE)
    ids = tiny_translator.prompt(SOURCE)
    request = Request.of(tiny_translator, ids)
    plain = Trace("", SOURCE, request, BEAMS, tiny_translator.tokenizer)
    plain.collect(generate(tiny_translator.model, ids, BEAMS.strategy_for(request)))
    assert session.translation is not None
    text = session.translation.answer.text
    assert text == plain.text.removeprefix(" ") != ""  # a text of its own, which no space begins
    assert [answer["state"] for update in updates if (answer := update.answer)][-1] == "done"
    assert updates[0].alignment == no_alignment() and not session.busy


@pytest.fixture(params=["ours", "nllb"])
def translator(
    request: pytest.FixtureRequest, tiny_translator: LoadedModel, tmp_path_factory: pytest.TempPathFactory
) -> tuple[LoadedModel, str]:
    """A model and a text for it. NLLB's answers begin with two tokens: its own start, and the language."""
    if request.param == "ours":
        return tiny_translator, SOURCE
    loaded = catalog.load(str(nllb(tmp_path_factory.mktemp("nllb") / "nllb"))).with_languages("eng_Latn", "fra_Latn")
    assert len(loaded.model.decoder_start) == 2
    return loaded, "the cat sat on the mat"


def test_a_row_belongs_to_the_pass_that_chose_its_token(translator: tuple[LoadedModel, str]) -> None:
    """Decoded once more, one token a step: the pass whose logits chose token i looked where row i says."""
    loaded, sentence = translator
    session, models = Session(), Models((loaded.name,), lambda *_: loaded)
    value = last_alignment(run(session, models, loaded.name, sentence))
    model, label, source = loaded.model, loaded.tokenizer.label, loaded.prompt(sentence)
    (ran,) = session.runs.values()
    text = ran.ids[ran.first :]
    assert value["source"] == [label(token) for token in source]
    assert value["text"] == [label(token) for token in (*model.decoder_start, *text)]
    assert value["first"] == len(model.decoder_start)
    forward = model.prefill(source, want=Want(attention=True))
    for cross, self_attention, token in zip(weights(value["cross"]), weights(value["decoder"]), text, strict=True):
        assert forward.attention is not None and forward.attention.cross is not None
        for drawn, expected in ((cross, forward.attention.cross), (self_attention, forward.attention.decoder)):
            np.testing.assert_allclose(drawn, expected[0, :, :, -1].numpy(), atol=ROUNDING)
        forward = model.step([token], forward.cache, want=Want(attention=True))
    inside = model.inspect((*model.decoder_start, *text[:-1]), source=source).attention.encoder
    assert inside is not None
    for query, row in enumerate(weights(value["encoder"])):
        np.testing.assert_allclose(row, inside[0, :, :, query].numpy(), atol=ROUNDING)


def test_of_texts_too_long_to_be_read_there_are_no_maps(both: Models, tiny_translator: LoadedModel) -> None:
    long = "Le chat 1 est grand. " * 10
    length = len(tiny_translator.prompt(long))
    assert length > alignment.MAX_DRAWN
    value = last_alignment(run(Session(), both, tiny_translator.name, long))
    assert str(length) in value["reason"] and value["cross"] is None
    with pytest.raises(AttendError, match="context holds 128"):
        run(Session(), both, tiny_translator.name, long * 2)


def test_the_next_translation_replaces_the_last_and_clear_empties(both: Models, tiny_translator: LoadedModel) -> None:
    session, name = Session.using(tiny_translator.name), tiny_translator.name
    run(session, both, name, SOURCE)
    run(session, both, name, "Le chien est petit.")
    assert len(session.runs) == 1
    opened = translate.open_token(session, both, 0).inspector
    assert opened is not None and opened.get("selected") == opened["first"]
    again = translate.overview(session, both, name)
    assert again.alignment and again.alignment["cross"] and again.translation and again.translation["turns"]
    emptied = translate.clear(session, both, name)
    assert emptied.source == "" and emptied.alignment == no_alignment()
    assert session.cleared_translation is not None and len(session.runs) == 1  # for the history, until the next one
    assert emptied.translation is not None and not emptied.translation["turns"]
    with pytest.raises(AttendError, match="no longer stored"):
        translate.open_token(session, both, 0)


def test_another_models_translation_stays(both: Models, tiny: LoadedModel, tiny_translator: LoadedModel) -> None:
    session = Session()
    before = last_alignment(run(session, both, tiny_translator.name, SOURCE))
    later = translate.overview(session, both, tiny.name)
    assert later.translation is not None and later.translation["turns"][0]["model"] == tiny_translator.name
    assert later.alignment == before  # its own model's, which is still in memory


def test_clearing_ends_what_is_being_written(both: Models, tiny_translator: LoadedModel) -> None:
    session = Session()
    going = translate.translate(session, both, tiny_translator.name, SOURCE, BEAMS)
    next(going)
    translate.clear(session, both, tiny_translator.name)
    rest = list(going)
    assert all(update.translation is update.answer is None and update.alignment is None for update in rest)
    assert not session.busy


def test_a_refused_text_takes_the_translation_of_another_away(both: Models, tiny_translator: LoadedModel) -> None:
    session, name = Session.using(tiny_translator.name), tiny_translator.name
    run(session, both, name, SOURCE)
    kept = translate.withdraw(session, both, name, f" {SOURCE}\n")  # its own text, refused for a setting
    assert kept == TranslateUpdate() and session.translation is not None
    gone = translate.withdraw(session, both, name, "Another text")
    assert gone.source is None  # what was typed stays
    assert gone.translation is not None and not gone.translation["turns"] and gone.alignment == no_alignment()
    assert session.translation is None and session.cleared_translation is not None  # for the history


def test_programs_are_given_the_translator_of_the_page(tiny: LoadedModel, tiny_translator: LoadedModel) -> None:
    by_name = {"attend-chat": tiny, "attend-translate": tiny_translator}
    endpoint = translate_endpoint(Models(tuple(by_name), lambda name, _: by_name[name]))
    settings = {"max_new_tokens": 3}
    assert endpoint(SOURCE, settings=settings) == endpoint(SOURCE, "attend-translate", settings)


def test_what_cannot_be_translated_is_refused_in_words(
    both: Models, tiny: LoadedModel, tiny_translator: LoadedModel
) -> None:
    session = Session()
    for text, name, words in (
        ("  ", tiny_translator.name, "is empty"),
        ("x" * 20_001, tiny_translator.name, "20,001 characters"),
        (
            "chat " * 200,
            tiny_translator.name,
            r"^The text has \d+ tokens, but this model's context holds 128: shorten",
        ),
        (SOURCE, tiny.name, "can't translate"),
    ):
        with pytest.raises(AttendError, match=words):
            run(session, both, name, text)
    assert session.translation is None and not session.busy


def test_the_switch_has_every_tab_for_which_there_is_a_model(tiny: LoadedModel, tiny_translator: LoadedModel) -> None:
    by_name = {"attend-chat": tiny, "attend-translate": tiny_translator, "opus-mt-fr-en": tiny_translator}

    def entries(*offered: str) -> list[str]:
        models = Models(offered, lambda name, _: by_name[name])
        return Switch([tab() for tab in TABS], models).entries(Session.using(offered[0]))

    every = ["Chat", "Write", "Translate", "Compare", "Learn"]
    assert entries("attend-chat") == ["Chat", "Write", "Compare", "Learn"]
    assert entries("attend-translate") == ["Translate", "Compare", "Learn"]
    assert entries("attend-chat", "attend-translate") == entries("attend-translate", "attend-chat") == every
    assert "Translate" not in entries("attend-chat", "opus-mt-fr-en")  # no tab downloads anything unasked


@pytest.mark.parametrize("is_loading", [False, True])
def test_a_model_chosen_while_the_tab_waits_for_another_wins(
    tiny: LoadedModel, tiny_translator: LoadedModel, is_loading: bool
) -> None:
    by_name = {"attend-chat": tiny, "attend-translate": tiny_translator}
    models = Models(tuple(by_name), lambda name, _: by_name[name])
    switch, session = Switch([tab() for tab in TABS], models), Session.using("attend-chat")
    models.current(session)
    switch.request(session, "Translate")
    assert switch.awaited(session) == "attend-translate"
    if is_loading:
        session.model.coming = Choosing("attend-translate", for_tab=True)
    list(select.choose(session, models, "attend-chat"))
    assert switch.awaited(session) == "" and session.model.coming is None and session.model.changed
    assert switch.possible(tiny, session.tab.requested).name == "Chat"
    list(select.choose(session, models, "attend-translate"))
    assert session.model.name == "attend-translate"


@pytest.mark.parametrize("leaves", ["before it loads", "while it loads", "never"])
def test_the_model_of_a_tab_that_was_left_is_not_taken(
    tiny: LoadedModel, tiny_translator: LoadedModel, leaves: str
) -> None:
    by_name = {"attend-chat": tiny, "attend-translate": tiny_translator}
    arrived = threading.Event()

    def load(name: str, _: object) -> LoadedModel:
        assert name == "attend-chat" or arrived.wait(timeout=60)
        return by_name[name]

    models = Models(tuple(by_name), load)
    switch, session = Switch([tab() for tab in TABS], models), Session.using("attend-chat")
    models.current(session)
    switch.request(session, "Translate")
    coming = switch.bring(session)
    if leaves == "before it loads":  # the request was on its way already
        switch.request(session, "Chat")
    updates: list[Any] = [next(coming)]
    if leaves == "while it loads":
        switch.request(session, "Chat")
    arrived.set()
    updates += coming
    assert session.model.name == ("attend-translate" if leaves == "never" else "attend-chat")
    assert session.model.coming is None and switch.awaited(session) == ""
    if leaves == "while it loads":  # the picker shows the model that stays
        assert updates[-1].model["name"] == "attend-chat"


@pytest.mark.usefixtures("counted_seeds")
def test_programs_get_beams_unless_they_say_otherwise(
    both: Models, tiny: LoadedModel, tiny_translator: LoadedModel
) -> None:
    name = tiny_translator.name
    result = translate_endpoint(both)(SOURCE, name, {"max_new_tokens": 9}, True)
    assert result["trace"]["settings"]["strategy"] == "beam" and result["trace"]["settings"]["num_beams"] == 4
    assert result["text"] == result["trace"]["text"].strip()
    drawn = translate_endpoint(both)(SOURCE, name, {"temperature": 0.5, "max_new_tokens": 2}, True)
    assert drawn["trace"]["settings"]["strategy"] == "sample"
    json.dumps(result)
    assert set(translate_endpoint(both)(SOURCE, name, {"strategy": "greedy", "max_new_tokens": 2}, False)) == {
        "text",
        "finish_reason",
    }
    for text, model, settings, trace, words in (
        (SOURCE, tiny.name, {}, False, "can't translate"),
        ("", name, {}, False, "is empty"),
        (SOURCE, name, [], False, "settings"),
        (SOURCE, name, {}, "yes", "true or false"),
    ):
        with pytest.raises(AttendError, match=words):
            translate_endpoint(both)(text, model, settings, trace)


@pytest.fixture(scope="module")
def embedded() -> Models:
    if not EMBEDDED.is_file():
        pytest.skip("attend-translate is not installed")
    loaded = catalog.load("attend-translate")
    return Models(("attend-translate",), lambda *_: loaded)


def test_the_embedded_translator_attends_to_the_source_word(embedded: Models) -> None:
    value = last_alignment(run(Session(), embedded, embedded.default, "Je suis étudiant."))
    text = value["text"][value["first"] :]
    assert "".join(text).strip().startswith(("I am a student.", "I'm a student."))
    last = [row[-1].mean(axis=0) for row in weights(value["cross"])]  # the last layer's mean, which the page opens with
    looked = value["source"][int(last[text.index(" student")].argmax())]
    assert looked == " étudiant"
    assert translate.examples(embedded.get(embedded.default).address)  # in its language


@pytest.mark.parametrize(
    ("text", "is_hinted"),
    [
        *((text, False) for text in translate.EXAMPLES["French"]),
        ("Der Hund schläft unter dem Tisch.", True),
        ("The archer killed the deer.", True),
    ],
)
def test_a_text_of_another_language_gets_a_hint(embedded: Models, text: str, is_hinted: bool) -> None:
    session = Session.using(embedded.default)
    run(session, embedded, embedded.default, text, DecodingSettings(strategy="beam", max_new_tokens=40))
    note = session.translation and session.translation.answer.note
    assert note == ("low confidence: is this text in French?" if is_hinted else None)


def test_a_translation_says_where_the_others_of_its_run_are(both: Models, tiny_translator: LoadedModel) -> None:
    session = Session()
    run(session, both, tiny_translator.name, SOURCE, replace(BEAMS, num_return_sequences=3))
    assert session.translation is not None and session.translation.answer.note is not None
    assert session.translation.answer.note.endswith("2 more texts: press Save run to see them")
