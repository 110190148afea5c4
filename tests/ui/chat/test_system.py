"""The system prompt on the page, in a terminal and for programs: who gets it, what keeps it, and where it is told."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import generate
from decoding.settings import DecodingSettings
from model import catalog
from model.errors import AttendError
from model.loaded import LoadedModel
from model.text.conversation import Message
from tests.helpers.folders import CHATML, gpt2
from tests.ui.settings.test_code import executed
from ui.chat import chat_actions as chat
from ui.chat.chat_endpoint import chat_endpoint
from ui.chat.chat_reproduction import chat_reproduction
from ui.chat.prompt_value import prompt_value
from ui.compare import compare_actions as comparing
from ui.compare.compare_endpoint import compare_endpoint
from ui.compare.results import metrics
from ui.inspector.toolbar import record
from ui.kit.validation import MAX_CHARACTERS
from ui.runs.models import Models
from ui.runs.session import Session
from ui.settings import code

FOX, OWL = "You are a small fox.", "You are an old owl."
GREEDY = DecodingSettings(strategy="greedy", max_new_tokens=6)
CARDS = [{"strategy": "greedy", "max_new_tokens": 4}, {"strategy": "beam", "num_beams": 2, "max_new_tokens": 4}]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return gpt2(tmp_path_factory.mktemp("system") / "tiny-fox", CHATML, n_positions=512)


@pytest.fixture(scope="module")
def chatml(folder: Path) -> LoadedModel:
    return catalog.load(str(folder))


@pytest.fixture
def both(chatml: LoadedModel, tiny: LoadedModel) -> Models:
    """A model that takes a system prompt, and one that takes none."""
    loaded = {chatml.name: chatml, tiny.name: tiny}
    return Models(tuple(loaded), lambda name, _: loaded[name])


def prompt_ids(loaded: LoadedModel, session: Session, system: str, turns: int) -> tuple[int, ...]:
    """The prompt that these many first turns make under this system prompt."""
    messages = [Message(turn.role, turn.text) for turn in session.turns[:turns]]
    return loaded.chat_prompt(messages, system=system, reserve=GREEDY.max_new_tokens).ids


def read_by(session: Session, turn: int) -> tuple[int, ...]:
    run = session.run(session.turns[turn].run)
    return run.ids[: run.first]


def test_it_applies_from_the_next_message_and_earlier_answers_stay(both: Models, chatml: LoadedModel) -> None:
    session = Session()
    chat.set_system(session, both, chatml.name, FOX)
    list(chat.send(session, both, chatml.name, "Hi!", GREEDY))
    first = chat.open_token(session, both, 1, 2).inspector
    chat.set_system(session, both, chatml.name, OWL)
    list(chat.send(session, both, chatml.name, "And you?", GREEDY))
    assert read_by(session, 1) == prompt_ids(chatml, session, FOX, 1)
    assert read_by(session, 3) == prompt_ids(chatml, session, OWL, 3)
    assert chat.open_token(session, both, 1, 2).inspector == first
    chat.set_system(session, both, chatml.name, "")
    list(chat.retry(session, both, chatml.name, 3, GREEDY))
    assert read_by(session, 3) == prompt_ids(chatml, session, "", 3)
    list(chat.edit(session, both, chatml.name, 2, "And now?", GREEDY))
    assert read_by(session, 3) == prompt_ids(chatml, session, "", 3)


def test_it_outlives_a_new_conversation_and_a_model_that_takes_none(
    both: Models, chatml: LoadedModel, tiny: LoadedModel
) -> None:
    session = Session()
    chat.set_system(session, both, chatml.name, FOX)
    list(chat.send(session, both, tiny.name, "Hi!", GREEDY))
    assert read_by(session, 1) == prompt_ids(tiny, session, "", 1)
    chat.clear(session, both, tiny.name)
    list(chat.send(session, both, chatml.name, "Hi!", GREEDY))
    assert read_by(session, 1) == prompt_ids(chatml, session, FOX, 1)


def test_the_prompt_that_is_shown_has_it(both: Models, chatml: LoadedModel, tiny: LoadedModel) -> None:
    session = Session()
    chat.set_system(session, both, chatml.name, FOX)
    texts = [text for text, _ in prompt_value(session, chatml)["parts"]]
    assert texts[:2] == ["<|im_start|>", f"system\n{FOX}"]
    assert not any(FOX in text for text, _ in prompt_value(session, tiny)["parts"])
    list(chat.send(session, both, chatml.name, "Hi!", GREEDY))
    chat.set_system(session, both, chatml.name, OWL)
    value = prompt_value(session, chatml)
    assert (value["of"], value["parts"][1][0]) == ("Prompt of the latest answer", f"system\n{FOX}")


@pytest.mark.parametrize(
    ("system", "sentence"),
    [
        (7, "The system prompt must be text"),
        ("x" * (MAX_CHARACTERS + 1), f"The system prompt has {MAX_CHARACTERS + 1:,} characters"),
    ],
)
@pytest.mark.usefixtures("counted_seeds")
def test_what_is_no_system_prompt_changes_nothing(
    both: Models, chatml: LoadedModel, system: object, sentence: str
) -> None:
    session = Session(system=FOX)
    with pytest.raises(AttendError, match=sentence):
        chat.set_system(session, both, chatml.name, system)
    assert session.system == FOX
    with pytest.raises(AttendError, match=sentence):
        list(chat_endpoint(both)("Hi!", [], chatml.name, {}, system))
    chat.set_system(session, both, chatml.name, " \n")
    assert session.system == ""


@pytest.mark.parametrize(
    ("text", "settings", "sentence"),
    [
        (" ", GREEDY, "empty"),
        ("word " * 2000, GREEDY, "this model's context holds 512"),
        ("Hi!", replace(GREEDY, logit_bias=((99_999, 3.0),)), "logit_bias names token 99999"),
    ],
)
def test_a_refused_message_leaves_it_as_it_was(
    both: Models, chatml: LoadedModel, text: str, settings: DecodingSettings, sentence: str
) -> None:
    session = Session(system=FOX)
    list(chat.send(session, both, chatml.name, "Hi!", GREEDY))
    for attempt in (
        chat.send(session, both, chatml.name, text, settings, system=OWL),
        chat.edit(session, both, chatml.name, 0, text, settings, system=OWL),
    ):
        with pytest.raises(AttendError, match=sentence):
            list(attempt)
    assert session.system == FOX and len(session.turns) == 2
    list(chat.send(session, both, chatml.name, "Hi!", GREEDY, system=OWL))
    assert session.system == OWL


def test_a_saved_run_and_a_comparison_carry_it(both: Models, chatml: LoadedModel) -> None:
    session = Session(system=FOX)
    list(chat.send(session, both, chatml.name, "Hi!", GREEDY))
    document = json.loads(record.saved(session, both, session.turns[1].run or "")[1])
    conversation = [{"role": "system", "content": FOX}, {"role": "user", "content": "Hi!"}]
    assert document["prompt"]["messages"] == conversation
    options: dict[str, Any] = {"answer": True, "history": False, "common": True, "shared": GREEDY}
    list(comparing.compare(session, both, chatml.name, "Hi!", CARDS, **options))
    assert session.comparison is not None
    result = metrics.document(session.comparison)
    assert result["prompt"]["ids"] == document["prompt"]["ids"]
    assert [card["trace"]["prompt"]["messages"] for card in result["cards"]] == [conversation] * 2
    list(comparing.compare(session, both, chatml.name, "Hi!", CARDS, **{**options, "answer": False}))
    assert metrics.document(session.comparison)["prompt"]["ids"] == list(chatml.prompt("Hi!"))


@pytest.mark.parametrize("system", [FOX, '-1 "quoted" $HOME\n\\ `ls`', ""])
def test_the_code_gives_the_answer_of_the_page(
    system: str, both: Models, chatml: LoadedModel, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("model.threads.fastest_threads", lambda model: 1)
    session = Session(system=system)
    list(chat.send(session, both, chatml.name, "Hi!", GREEDY))
    chat.set_system(session, both, chatml.name, OWL)  # the answer was written without it
    copied = chat_reproduction(session, chatml, "", GREEDY)
    assert ("--system" in code.command(copied), "'system'" in code.lines(copied)) == (bool(system), bool(system))
    assert executed(copied, capsys) == (session.turns[1].text,) * 2


def test_the_code_for_a_model_that_takes_none_has_none(tiny: LoadedModel) -> None:
    copied = chat_reproduction(Session(system=FOX), tiny, "Hi!", GREEDY)
    assert FOX not in code.command(copied) + code.lines(copied)


@pytest.mark.usefixtures("counted_seeds")
def test_programs_send_it(both: Models, chatml: LoadedModel, tiny: LoadedModel) -> None:
    history = [{"role": "user", "content": "Hi!"}, {"role": "assistant", "content": "Hello"}]
    *_, last = chat_endpoint(both)("And you?", history, chatml.name, CARDS[0], FOX)
    assert last["trace"]["prompt"]["messages"][0] == {"role": "system", "content": FOX}
    messages = [Message("user", "Hi!"), Message("assistant", "Hello"), Message("user", "And you?")]
    assert last["trace"]["prompt"]["ids"] == list(chatml.chat_prompt(messages, system=FOX, reserve=4).ids)
    result = compare_endpoint(both)("And you?", chatml.name, CARDS, True, True, history, FOX)
    assert result["prompt"]["ids"] == last["trace"]["prompt"]["ids"]
    with pytest.raises(AttendError, match="tiny-chat doesn't support system prompts, because it was trained"):
        list(chat_endpoint(both)("Hi!", [], tiny.name, {}, FOX))
    with pytest.raises(AttendError, match=r"A system prompt needs a message to answer.*set chat to true"):
        compare_endpoint(both)("Hi!", chatml.name, CARDS, True, False, [], FOX)


@pytest.mark.usefixtures("counted_seeds")
def test_a_terminal_takes_it_with_chat_alone(
    folder: Path, tiny_checkpoint: Path, chatml: LoadedModel, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def run(*flags: str, model: Path = folder) -> str:
        generate.main(["Hi!", "--model", str(model), "--max-new-tokens", "2", "--system", *flags])
        return capsys.readouterr().err

    run(FOX, "--chat", "--json", str(tmp_path / "run.json"))
    document = json.loads((tmp_path / "run.json").read_text())
    assert document["prompt"]["messages"] == [{"role": "system", "content": FOX}, {"role": "user", "content": "Hi!"}]
    assert document["prompt"]["ids"] == list(chatml.chat_prompt([Message("user", "Hi!")], system=FOX, reserve=2).ids)
    assert run(FOX) == "--system is for conversations: add --chat, or leave it out.\n"
    assert "tiny-chat doesn't support system prompts" in run(FOX, "--chat", model=tiny_checkpoint)
    assert "support system prompts" not in run(" ", "--chat", model=tiny_checkpoint)
