"""A model goes with its last user; what it wrote stays, and runs keep it until they end."""

from __future__ import annotations

import gc
import weakref
from dataclasses import replace
from pathlib import Path

import pytest

from decoding.settings import DecodingSettings
from model import catalog
from model.arguments import ModelArguments
from model.errors import AttendError
from model.loaded import LoadedModel
from model.text.conversation import Message
from tests.helpers.folders import bert, gpt2
from tests.helpers.waiting import eventually
from tests.ui.models.conftest import SAMPLE, Slow, model_value, use, visitor
from ui.chat import chat_actions as chat
from ui.chat.chat_update import overview
from ui.compare import compare_actions as comparing
from ui.models import select as choosing
from ui.runs.models import Models
from ui.runs.run_values import meter_value
from ui.write import write_actions as write


def test_a_model_goes_with_its_last_user(slow: Slow, page: Models) -> None:
    first, second = visitor(page), visitor(page)
    use(first, page, slow, "second")
    use(second, page, slow, "second")
    ours = page.cached("second")
    assert ours is not None
    network = weakref.ref(ours.model)
    del ours
    list(chat.send(first, page, "second", "Hi", SAMPLE))
    list(write.write(first, page, "second", "Once", SAMPLE))
    use(first, page, slow, "first")
    assert page.cached("second") is not None  # the other visitor has it
    choosing.leave(second)
    assert page.cached("second") is None
    eventually(lambda: gc.collect() >= 0 and network() is None)
    assert page.cached("first") is not None


def test_an_encoder_is_looked_into_while_the_model_that_writes_waits(tiny_checkpoint: Path, tmp_path: Path) -> None:
    folder = str(bert(tmp_path / "reads"))
    private = Models(
        (str(tiny_checkpoint),), lambda *arguments: catalog.load_another(ModelArguments(), *arguments), any_name=True
    )
    session = visitor(private)
    list(chat.send(session, private, session.model.name, "Hi", SAMPLE))
    answer, writes = session.turns[1].text, session.model.kept
    value = model_value(list(choosing.choose(session, private, folder))[-1])
    assert session.model.encoder is not None and session.model.encoder.address == value["name"] == folder
    assert session.model.changed and {choice["name"] for choice in value["choices"]} >= {session.model.name, folder}
    assert (session.model.name, session.model.kept) == (str(tiny_checkpoint), writes)
    with pytest.raises(AttendError, match="choose one of"):
        private.get(folder)  # programs cannot have it generate
    with pytest.raises(AttendError, match="is an encoder, which can't generate"):
        Models((folder,), lambda *arguments: catalog.load_another(ModelArguments(), *arguments)).get(folder)

    reads, session.model.changed = weakref.ref(session.model.encoder), False
    value = model_value(list(choosing.choose(session, private, session.model.name))[-1])
    assert (session.model.encoder, session.model.changed, value["name"]) == (None, True, session.model.name)
    assert session.turns[1].text == answer and chat.open_token(session, private, 1, 0).inspector is not None
    eventually(lambda: gc.collect() >= 0 and reads() is None)


def test_a_run_keeps_its_model_until_it_ends(slow: Slow, page: Models) -> None:
    session = visitor(page)
    use(session, page, slow, "second")
    running = chat.send(session, page, "second", "Hi", DecodingSettings(seed=1, max_new_tokens=100))
    next(running)
    use(session, page, slow, "first")
    assert page.cached("second") is not None
    list(running)
    assert session.turns[1].state == "done"
    del running
    eventually(lambda: page.cached("second") is None)


def test_texts_of_a_model_that_is_gone_stay_and_say_so(slow: Slow, page: Models) -> None:
    session = visitor(page)
    use(session, page, slow, "second")
    list(chat.send(session, page, "second", "Hi", SAMPLE))
    answer = session.turns[1].text
    use(session, page, slow, "first")
    gc.collect()
    update = overview(session, page, "first")
    assert update.conversation is not None and update.conversation["turns"][1]["text"] == answer
    assert update.inspector is not None and update.inspector["ids"] == []
    assert update.inspector.get("unloaded") == "second"
    assert overview(visitor(page), page, "first").inspector == {**update.inspector, "unloaded": ""}
    with pytest.raises(AttendError, match=r"second wrote this.*choose it again"):
        chat.open_token(session, page, 1, 0)
    use(session, page, slow, "second")
    assert chat.open_token(session, page, 1, 0).inspector is not None


def test_the_context_is_as_full_as_the_model_that_is_chosen_will_find_it(
    slow: Slow, page: Models, tiny_writer: LoadedModel, tmp_path: Path
) -> None:
    session = visitor(page)
    use(session, page, slow, "second")
    for text in ("Hi", "And you?"):
        list(chat.send(session, page, "second", text, SAMPLE))
    run = session.newest_answer
    assert run is not None
    other = catalog.load(str(gpt2(tmp_path / "gpt2")))
    messages = [Message(turn.role, turn.text) for turn in session.turns]
    prompt = other.chat_prompt(messages[:-1], reserve=1)
    used = len(prompt.ids) + len(other.tokenizer.encode(messages[-1].text))
    others = {"other": replace(other, name="other"), "writer": tiny_writer}
    elsewhere = Models(tuple(others), lambda name, _: others[name])
    update = overview(session, elsewhere, "other")
    assert update.meter == meter_value(used, other.model.context_length) and used != run.length
    assert overview(session, page, "second").meter == meter_value(run.length, 128)
    assert overview(session, elsewhere, "writer").meter == meter_value(0, 128)  # which knows no conversations


def test_a_comparison_stays_when_its_model_goes(slow: Slow, page: Models) -> None:
    session = visitor(page)
    use(session, page, slow, "second")
    cards = [{"strategy": "greedy"}, {"temperature": 2}]
    options = {"answer": False, "history": False, "common": True, "shared": SAMPLE}
    list(comparing.compare(session, page, "second", "Once", cards, **options))
    use(session, page, slow, "first")
    gc.collect()
    update = comparing.overview(session, page, "first")
    assert update.comparison is not None and len(update.comparison.get("cards", [])) == 2
    assert page.cached("second") is None
