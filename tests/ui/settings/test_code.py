"""A run as code: both blocks are executed, and say what the page says."""

from __future__ import annotations

import shlex
from dataclasses import replace
from pathlib import Path

import pytest

import generate
from decoding.settings import DecodingSettings
from model import catalog
from model.device import DeviceConfig
from model.inspection.intervention import Intervention
from model.loaded import LoadedModel
from ui.chat import chat_actions as chat
from ui.chat.chat_reproduction import chat_reproduction
from ui.runs.documents.kept_document import open_document
from ui.runs.models import Models
from ui.runs.run import RunRecord
from ui.runs.session import Session
from ui.settings import code
from ui.translate import translate_actions as translate
from ui.translate.translate_reproduction import translate_reproduction
from ui.write import write_actions as write
from ui.write.kept_text import open_text, write_document
from ui.write.write_reproduction import write_reproduction

SETTINGS = DecodingSettings(temperature=0.7, top_k=30, max_new_tokens=8)
ODD = DecodingSettings(
    frequency_penalty=-0.5,
    banned_words=("it's", "-x, y"),
    logit_bias=((5, -2.0), (9, 1.5)),
    order=DecodingSettings.from_dict({"order": "top_p, temperature"}).order,
    top_p=0.9,
    temperature=1.2,
    seed=4,
    max_new_tokens=8,
)
BEAMS = DecodingSettings(strategy="beam", num_beams=3, length_penalty=-0.5, max_new_tokens=8)
HEAD = {"layer": 1, "part": "head", "head": 2}
MESSAGE = "It's \"you\" & $HOME,\nisn't it? \\ `ls`"


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """No time is spent on finding the best number of threads."""
    monkeypatch.setattr("model.threads.fastest_threads", lambda model: 1)


def executed(reproduction: code.Reproduction, capsys: pytest.CaptureFixture[str]) -> tuple[str, str]:
    """What the command prints, and what the lines print."""
    words = shlex.split(code.command(reproduction))
    assert words[:2] == ["python", "generate.py"]
    capsys.readouterr()
    assert generate.main(words[2:]) == 0
    by_command = capsys.readouterr().out
    exec(compile(code.lines(reproduction), "copied", "exec"), {})
    return by_command.removesuffix("\n"), capsys.readouterr().out.removesuffix("\n")


@pytest.mark.parametrize(
    "settings",
    [
        SETTINGS,
        ODD,
        BEAMS,
        DecodingSettings(strategy="greedy", max_new_tokens=8),
        DecodingSettings(strategy="contrastive", penalty_alpha=0.4, max_new_tokens=8),
        DecodingSettings(strategy="beam_sample", num_beams=2, temperature=1.5, max_new_tokens=8),
        DecodingSettings(strategy="diverse_beam", num_beams=4, diversity_penalty=1.0, max_new_tokens=8),
        DecodingSettings(strategy="dola", dola_layers=(0, 1), temperature=0.5, max_new_tokens=8),
    ],
    ids=lambda settings: settings.strategy,
)
@pytest.mark.usefixtures("counted_seeds", "quick")
def test_both_give_the_answer_of_the_page(
    models: Models, tiny: LoadedModel, settings: DecodingSettings, capsys: pytest.CaptureFixture[str]
) -> None:
    session = Session()
    list(chat.send(session, models, models.default, MESSAGE, settings.seeded()))
    reproduction = chat_reproduction(session, tiny, " ", settings)
    assert executed(reproduction, capsys) == (session.turns[-1].text, session.turns[-1].text)


@pytest.mark.parametrize("prompt", [MESSAGE, "-1 is a number, --help is not"])
@pytest.mark.usefixtures("counted_seeds", "quick")
def test_both_give_the_continuation_of_the_page(
    models: Models, tiny: LoadedModel, prompt: str, capsys: pytest.CaptureFixture[str]
) -> None:
    session = Session()
    list(write.write(session, models, models.default, prompt, SETTINGS.seeded()))
    text = session.draft.text
    reproduction = write_reproduction(session, tiny, text, SETTINGS)
    assert reproduction.prompt == prompt
    assert executed(reproduction, capsys) == (text.removeprefix(prompt), text.removeprefix(prompt))


@pytest.mark.usefixtures("quick")
def test_continuations_with_one_set_of_settings_are_repeated_as_one(
    models: Models, tiny: LoadedModel, capsys: pytest.CaptureFixture[str]
) -> None:
    session, settings = Session(), replace(SETTINGS, seed=5)  # with which the model doesn't end the text
    for _ in range(2):
        list(write.write(session, models, models.default, session.draft.text or MESSAGE, settings))
    text = session.draft.text
    reproduction = write_reproduction(session, tiny, text, settings)
    assert reproduction.settings.max_new_tokens == 2 * settings.max_new_tokens
    assert executed(reproduction, capsys) == (text.removeprefix(MESSAGE), text.removeprefix(MESSAGE))


def test_a_note_says_that_an_edited_text_is_not_repeated_whole(models: Models, tiny: LoadedModel) -> None:
    session, greedy = Session(), replace(SETTINGS, strategy="greedy")
    for settings in (greedy, replace(SETTINGS, seed=5)):
        list(write.write(session, models, models.default, session.draft.text or MESSAGE, settings))
    reproduction = write_reproduction(session, tiny, session.draft.text, greedy)
    assert reproduction.prompt == MESSAGE
    assert all(
        block["note"].startswith("This repeats only the first continuation") for block in code.blocks(reproduction)
    )


def test_a_note_says_that_a_token_chosen_by_hand_is_not_repeated(models: Models, tiny: LoadedModel) -> None:
    session, settings = Session(), replace(SETTINGS, seed=5)
    list(write.write(session, models, models.default, MESSAGE, settings))
    list(chat.send(session, models, models.default, MESSAGE, settings))
    answer = session.newest_answer
    assert answer is not None
    write.take(session, models, *_another(session.run(session.draft.run), tiny))
    list(chat.branch(session, models, answer.id, *_another(answer, tiny), settings))
    in_write = write_reproduction(session, tiny, session.draft.text, settings)
    for reproduction in (in_write, chat_reproduction(session, tiny, "", settings)):
        notes = [block["note"] for block in code.blocks(reproduction)]
        assert notes == ["You chose a token by hand, which this doesn't repeat."] * 2
    assert chat_reproduction(session, tiny, "Another message", settings).note == ""


def _another(run: RunRecord, loaded: LoadedModel) -> tuple[int, int]:
    """The index of the run's last token, and another of its candidates."""
    choice = run.tokens[-1].choice
    assert choice is not None
    others = (each.id for each in choice.candidates if each.id != choice.token)
    return len(run.tokens) - 1, next(each for each in others if not loaded.tokenizer.is_special(each))


def test_a_restored_text_is_repeated_with_its_own_settings(models: Models, tiny: LoadedModel) -> None:
    written, session, settings = Session(), Session(), replace(SETTINGS, seed=5)
    list(write.write(written, models, models.default, MESSAGE, settings))
    document = write_document(written)
    assert document is not None
    kept = {name: value for name, value in document.value(models, ()).items() if name not in ("title", "names")}
    open_document(session, models, kept, open_text)
    panel = replace(DecodingSettings(), seed=7, max_new_tokens=20)
    assert write_reproduction(session, tiny, session.draft.text, panel).settings == settings


def test_an_answer_and_a_translation_are_repeated_with_their_own_settings(
    models: Models, tiny: LoadedModel, tiny_translator: LoadedModel
) -> None:
    session, settings = Session(), replace(SETTINGS, seed=5)
    panel = replace(DecodingSettings(), seed=7, max_new_tokens=20)
    list(chat.send(session, models, models.default, MESSAGE, settings))
    assert chat_reproduction(session, tiny, "", panel).settings == settings
    assert chat_reproduction(session, tiny, "Another message", panel).settings == panel
    translators = Models((tiny_translator.name,), lambda *_: tiny_translator)
    list(translate.translate(session, translators, tiny_translator.name, "Le chat.", settings))
    assert translate_reproduction(session, tiny_translator, "Le chat.", panel).settings == settings
    assert translate_reproduction(session, tiny_translator, "Le chien.", panel).settings == panel


def test_a_note_says_that_the_link_has_other_settings(
    models: Models, tiny: LoadedModel, tiny_translator: LoadedModel
) -> None:
    session, settings = Session(), replace(SETTINGS, seed=5)
    list(chat.send(session, models, models.default, MESSAGE, settings))
    list(write.write(session, models, models.default, MESSAGE, settings))
    translators = Models((tiny_translator.name,), lambda *_: tiny_translator)
    list(translate.translate(session, translators, tiny_translator.name, "Le chat.", settings))

    def notes(panel: DecodingSettings) -> set[str]:
        runs = (
            chat_reproduction(session, tiny, "", panel),
            write_reproduction(session, tiny, session.draft.text, panel),
            translate_reproduction(session, tiny_translator, "Le chat.", panel),
        )
        return {block["note"] for run in runs for block in code.blocks(run)}

    other = "This uses the settings of the text on the page. The link uses the panel's current settings, which differ."
    assert notes(replace(settings, top_k=20)) == {other}
    assert notes(settings) == {""}
    assert notes(replace(settings, seed=-1)) == {""}  # whose link has the seed of the run


@pytest.mark.usefixtures("counted_seeds", "quick")
def test_the_lines_hold_the_whole_conversation(
    models: Models, tiny: LoadedModel, capsys: pytest.CaptureFixture[str]
) -> None:
    session = Session()
    for message in ("Hi!", "And then?"):
        list(chat.send(session, models, models.default, message, SETTINGS.seeded()))
    reproduction = chat_reproduction(session, tiny, "", SETTINGS)
    assert executed(reproduction, capsys)[1] == session.turns[-1].text
    terminal, python = code.blocks(reproduction)
    assert "only the last message" in terminal["note"] and python["note"] == ""


@pytest.mark.usefixtures("counted_seeds", "quick")
def test_both_compute_in_the_precision_of_the_page(tiny_checkpoint: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rounded = catalog.load(str(tiny_checkpoint), device_config=DeviceConfig("cpu", "int8"))
    session, models = Session(), Models((rounded.name,), lambda *_: rounded)
    list(chat.send(session, models, models.default, MESSAGE, SETTINGS.seeded()))
    reproduction = chat_reproduction(session, rounded, " ", SETTINGS)
    assert executed(reproduction, capsys) == (session.turns[-1].text, session.turns[-1].text)
    assert "--dtype int8" in code.command(reproduction) and ", dtype='int8')" in code.lines(reproduction)


@pytest.mark.usefixtures("quick")
def test_both_switch_off_what_the_answer_was_written_without(
    models: Models, tiny: LoadedModel, capsys: pytest.CaptureFixture[str]
) -> None:
    session, settings = Session(), replace(SETTINGS, seed=5)
    list(chat.send(session, models, models.default, MESSAGE, settings))
    feed_forward = {"layer": 0, "part": "feed_forward", "action": "scale", "factor": 0.5}
    list(chat.write_without(session, models, session.turns[-1].run or "", [HEAD, feed_forward]))
    reproduction = chat_reproduction(session, tiny, " ", settings)
    assert "--without '2.3, feed-forward 1 x 0.5'" in code.command(reproduction)
    assert executed(reproduction, capsys) == (session.turns[-1].text, session.turns[-1].text)
    assert chat_reproduction(session, tiny, "Another message", settings).interventions == ()


@pytest.mark.parametrize(
    "changed",
    [Intervention(0, "head", 1, action="mean"), Intervention(0, "feed_forward", action="scale", factor=1e-5)],
)
def test_a_note_says_what_no_flag_can_name(changed: Intervention) -> None:
    settings = replace(SETTINGS, seed=5)
    reproduction = code.Reproduction("attend-chat", settings, settings, "Hi", interventions=(changed,))
    assert "--without" not in code.command(reproduction)
    assert [block["note"] for block in code.blocks(reproduction)] == [
        "No flag repeats the changes inside the model.",
        "",
    ]


def test_a_folder_is_named_by_the_path_that_was_typed(tiny: LoadedModel, tiny_checkpoint: Path) -> None:
    reproduction = write_reproduction(Session(), tiny, "Once", SETTINGS)
    assert shlex.split(code.command(reproduction))[3:5] == ["--model", str(tiny_checkpoint)]
    assert f"attend.load({str(tiny_checkpoint)!r})" in code.lines(reproduction)


def test_only_settings_that_differ_and_are_used_are_written() -> None:
    settings = replace(SETTINGS, num_beams=7, seed=3)
    reproduction = code.Reproduction("attend-chat", settings, settings, "Once")
    assert (
        code.command(reproduction) == "python generate.py Once --temperature 0.7 --top-k 30 --seed 3 --max-new-tokens 8"
    )
    by_default = code.Reproduction("attend-chat", DecodingSettings(), DecodingSettings(), "a b")
    assert code.command(by_default) == "python generate.py 'a b'"
    assert "run = model.generate('a b')" in code.lines(by_default)


@pytest.mark.parametrize("settings", [SETTINGS, BEAMS, DecodingSettings(seed=5)], ids=["sampled", "beams", "defaults"])
@pytest.mark.usefixtures("counted_seeds", "quick")
def test_a_translation_is_repeated_whatever_a_terminal_has_of_itself(
    tiny_translator: LoadedModel, settings: DecodingSettings, capsys: pytest.CaptureFixture[str]
) -> None:
    models = Models((tiny_translator.name,), lambda *_: tiny_translator)
    session, settings = Session(), replace(settings, max_new_tokens=8)
    list(translate.translate(session, models, tiny_translator.name, "Le chat est grand.", settings.seeded()))
    reproduction = translate_reproduction(session, tiny_translator, "Le chat est grand.", settings)
    assert session.translation is not None
    assert tuple(map(str.strip, executed(reproduction, capsys))) == (session.translation.answer.text.strip(),) * 2
    assert code.command(reproduction).count("--strategy") == 1


@pytest.mark.usefixtures("counted_seeds")
def test_the_text_in_the_box_comes_before_the_last_message(models: Models, tiny: LoadedModel) -> None:
    session = Session()
    assert chat_reproduction(session, tiny, "", SETTINGS).prompt == "Hi! How are you today?"
    assert write_reproduction(session, tiny, " ", SETTINGS).prompt == "Once upon a time"
    list(chat.send(session, models, models.default, "First", replace(SETTINGS, seed=9)))
    last, next_one = (chat_reproduction(session, tiny, text, SETTINGS) for text in ("", "Second"))
    assert (last.prompt, [turn.text for turn in last.turns]) == ("First", ["First"])
    assert (next_one.prompt, len(next_one.turns)) == ("Second", 3)
    assert last.settings.seed == 9  # that of the last run
    assert chat_reproduction(session, tiny, "Second", replace(SETTINGS, seed=2)).settings.seed == 2
    list(write.write(session, models, models.default, "A fox", SETTINGS.seeded()))
    assert write_reproduction(session, tiny, "A fox runs", SETTINGS).prompt == "A fox runs"
    assert write_reproduction(session, tiny, session.draft.text, SETTINGS).prompt == "A fox"


@pytest.mark.usefixtures("counted_seeds")
def test_a_random_seed_is_noted(tiny: LoadedModel) -> None:
    notes = [block["note"] for block in code.blocks(chat_reproduction(Session(), tiny, "Hi", SETTINGS))]
    assert notes == ["This uses a random seed."] * 2
    assert [block["note"] for block in code.blocks(chat_reproduction(Session(), tiny, "Hi", BEAMS))] == ["", ""]
