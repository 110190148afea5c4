"""Languages on the page: every visitor's own, brought to Chat, Compare, the code, the endpoints and back again."""

from __future__ import annotations

import shlex

import pytest

import generate
from decoding.settings import DecodingSettings
from model import catalog
from model.errors import AttendError
from model.loaded import LoadedModel
from tests.helpers.translators import nllb
from ui.chat import chat_actions as chat
from ui.chat.chat_reproduction import chat_reproduction
from ui.chat.prompt_value import prompt_value
from ui.compare.compare_endpoint import compare_endpoint
from ui.inspector.toolbar import counterfactual as whatif
from ui.models import select as choosing
from ui.runs.models import Models
from ui.runs.session import Session
from ui.settings import code
from ui.write.write_endpoint import generate_endpoint

SOURCE = "the cat sat on the mat"
GREEDY = DecodingSettings(strategy="greedy", max_new_tokens=6)


@pytest.fixture(scope="module")
def translator(tmp_path_factory: pytest.TempPathFactory) -> LoadedModel:
    return catalog.load(str(nllb(tmp_path_factory.mktemp("page") / "nllb")))


@pytest.fixture
def page(translator: LoadedModel, tiny: LoadedModel) -> Models:
    loaded = {each.name: each for each in (translator, tiny)}
    return Models(tuple(loaded), lambda name, _: loaded[name])


def answer(session: Session, page: Models) -> str:
    *_, last = chat.send(session, page, page.current(session), SOURCE, GREEDY)
    assert last.answer and last.answer["state"] == "done"
    return session.turns[-1].text


def alone(translator: LoadedModel, source: str, target: str) -> list[int]:
    """What the same model says between these languages when nobody else is there."""
    translator_with_languages = translator.with_languages(source, target)
    models = Models(["it"], lambda *_: translator_with_languages)
    return generate_endpoint(models)(SOURCE, "it", GREEDY.to_dict())["ids"]


def test_two_visitors_translate_between_their_own_languages(page: Models, translator: LoadedModel) -> None:
    first, second = Session.using("nllb"), Session.using("nllb")
    update = choosing.translate(first, page, "en", "fr")
    assert update.model is not None and update.model["languages"]["target"] == "fra_Latn"
    choosing.translate(second, page, "fr", "zho_Hant")
    for _ in range(2):  # neither changes the other's
        for session, source, target in ((first, "eng_Latn", "fra_Latn"), (second, "fra_Latn", "zho_Hant")):
            answer(session, page)
            run = session.newest_answer
            assert run is not None and run.trace is not None
            assert run.model == f"nllb [{source}→{target}]"
            assert list(run.trace.ids) == alone(translator, source, target)
            value = prompt_value(session, page.get(page.current(session)))
            assert value["manner"] == f"each message on its own, {source}→{target}"
            assert (source, True) in value["parts"] and (target, True) in value["parts"]
    chosen = choosing.picker_value(Session.using("nllb"), page)["languages"]
    assert (chosen["source"], chosen["target"]) == ("eng_Latn", "")  # of a third one, as it comes


def test_of_two_choices_the_last_one_counts_even_if_the_first_arrives_second(page: Models) -> None:
    session = Session.using("nllb")
    (last,) = choosing.choose_languages(session, page, "fra_Latn", "eng_Latn", 2)
    assert last.model is not None and last.model["languages"]["count"] == 2
    assert list(choosing.choose_languages(session, page, "eng_Latn", "fra_Latn", 1)) == []
    assert page.current(session) == "nllb [fra_Latn→eng_Latn]"


def test_a_translation_is_inspected_in_its_own_languages(page: Models) -> None:
    session = Session.using("nllb")
    choosing.translate(session, page, "en", "fr")
    answer(session, page)
    run = session.newest_answer
    assert run is not None
    choosing.translate(session, page, "fr", "en")
    result = whatif.answer(session, page, run.id, {})  # its own settings
    assert result["first_difference"] is None and len(result["tokens"]) == len(run.tokens) - run.first
    assert chat.open_token(session, page, 1, 0).inspector is not None
    list(choosing.choose(session, page, "tiny-chat"))
    assert page.current(session) == "tiny-chat"
    list(choosing.choose(session, page, "nllb"))
    assert page.current(session) == "nllb [fra_Latn→eng_Latn]"  # as it was left


@pytest.mark.parametrize("text", [("", ""), ("en", "fr"), ("", "fr")])
def test_a_model_that_translates_nothing_refuses_languages_in_a_sentence(page: Models, text: tuple[str, str]) -> None:
    session = Session.using("tiny-chat")
    with pytest.raises(AttendError, match="tiny-chat takes no languages"):
        choosing.translate(session, page, *text)
    assert not session.model.languages and page.current(session) == "tiny-chat"


@pytest.mark.parametrize("name", ["nllb [en->fr]", "nllb [eng_Latn→fra_Latn]"])
def test_a_program_names_the_languages_with_the_model(name: str, page: Models, translator: LoadedModel) -> None:
    assert generate_endpoint(page)(SOURCE, name, GREEDY.to_dict())["ids"] == alone(translator, "en", "fr")


def test_a_comparison_of_a_program_names_the_languages_with_the_model(page: Models, translator: LoadedModel) -> None:
    compared = compare_endpoint(page)(SOURCE, "nllb [fr->es]", [GREEDY.to_dict()] * 2, True, True, [])
    assert compared["cards"][1]["trace"]["ids"] == alone(translator, "fr", "es")
    for name, sentence in (
        ("nllb [en->xx]", "doesn't know the language 'xx': choose one of its 5, such as"),
        ("tiny-chat [en->fr]", "tiny-chat takes no languages: leave them out"),
        ("nowhere [en->fr]", "There is no model nowhere here".replace("nowhere", "'nowhere'")),
    ):
        with pytest.raises(AttendError, match=sentence):
            generate_endpoint(page)(SOURCE, name, {})


def test_the_code_translates_between_the_same_languages(
    page: Models, translator: LoadedModel, capsys: pytest.CaptureFixture[str]
) -> None:
    session = Session.using("nllb")
    choosing.translate(session, page, "fr", "es")
    text = answer(session, page)
    result = chat_reproduction(session, page.get(page.current(session)), "", GREEDY)
    command, lines = code.command(result), code.lines(result)
    assert generate.main(shlex.split(command)[2:]) == 0
    assert capsys.readouterr().out == f"{text}\n"
    assert "from_language='fra_Latn', to_language='spa_Latn'" in lines
    exec(compile(lines, "<code>", "exec"), {})
    assert capsys.readouterr().out == f"{text}\n"
