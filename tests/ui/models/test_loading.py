"""Loading models: one load for all who want it, nobody else waits, and unused models are dropped."""

from __future__ import annotations

import gc
import threading
import weakref
from collections.abc import Generator
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

import pytest

from decoding.settings import DecodingSettings
from model import catalog
from model.arguments import ModelArguments
from model.errors import AttendError
from model.loaded import LoadedModel
from model.progress import Progress
from model.text.conversation import Message
from tests.helpers.folders import bert, gpt2
from tests.helpers.waiting import eventually
from ui.chat import actions as chat
from ui.chat.screen import overview
from ui.compare import actions as comparing
from ui.models import select as choosing
from ui.models.models_contract import ModelValue
from ui.models.select import PickerScreen
from ui.runs.models import Models
from ui.runs.models.cache import LoadProgress, ModelCache
from ui.runs.session import Session
from ui.runs.values import meter_value
from ui.write import actions as write

T = TypeVar("T")
SAMPLE = DecodingSettings(seed=5, max_new_tokens=8)


class Slow:
    """Loads a folder's model under any name, once it is let; records which names were requested."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.requested: list[str] = []
        self.ended: list[str] = []  # loads that were broken off
        self.reports = 0  # of progress, each of which may break a load off
        self.go = threading.Event()

    def __call__(self, name: str, progress: Progress) -> LoadedModel:
        self.requested.append(name)
        if name == "broken":
            raise AttendError("The weights of broken are cut short: copy them again.")
        if name != "first":
            try:
                for done in range(10**6):
                    progress(min(done, 99), 100)
                    self.reports += 1
                    if self.go.wait(0.01):
                        break
            except Exception:
                self.ended.append(name)
                raise
        return catalog.load(str(self.folder))


@pytest.fixture
def slow(tiny_checkpoint: Path) -> Slow:
    return Slow(tiny_checkpoint)


@pytest.fixture
def page(slow: Slow) -> Models:
    return Models(["first", "second", "third", "broken"], slow)


def result(loading: Generator[LoadProgress, None, T]) -> T:
    while True:
        try:
            next(loading)
        except StopIteration as ended:
            return ended.value


def visitor(page: Models) -> Session:
    session = Session(model=page.default)
    page.current(session)
    return session


def model_value(screen: PickerScreen) -> ModelValue:
    assert screen.model is not None
    return screen.model


def there(screen: PickerScreen) -> dict[str, str]:
    """What the list says of whether each model is here."""
    return {choice["name"]: choice["availability"] for choice in model_value(screen)["choices"]}


def use(session: Session, page: Models, slow: Slow, name: str) -> None:
    slow.go.set()
    list(choosing.choose(session, page, name))
    assert session.model == name


def test_two_who_ask_for_the_same_model_wait_for_one_load(slow: Slow, page: Models) -> None:
    first, second = page.load("second"), page.load("second")
    assert next(first).total == 100 and next(second).total == 100
    slow.go.set()
    assert result(first) is result(second)
    assert slow.requested == ["second"]


def test_others_chat_on_while_a_model_loads(slow: Slow, page: Models) -> None:
    session, other = visitor(page), visitor(page)
    screens = choosing.choose(session, page, "second")
    value = model_value(next(screens))
    assert value["title"] == "Downloading second" and value["share"] == pytest.approx(0.99, abs=0.99)
    list(chat.send(other, page, page.current(other), "Hi", SAMPLE))
    list(chat.send(session, page, page.current(session), "Hi", SAMPLE))  # with the model of before
    assert other.turns[1].text == session.turns[1].text != ""
    assert not slow.go.is_set() and session.model == "first"
    slow.go.set()
    last = list(screens)[-1]
    assert (session.model, model_value(last)["name"], model_value(last)["title"], session.model_changed) == (
        "second",
        "second",
        "",
        True,
    )


def test_a_load_that_is_cancelled_ends_and_the_model_of_before_stays(slow: Slow, page: Models) -> None:
    session = visitor(page)
    screens = choosing.choose(session, page, "second")
    next(screens)
    choosing.cancel(session)
    assert [model_value(screen)["name"] for screen in screens] == ["first"]
    eventually(lambda: slow.ended == ["second"])
    assert session.model == "first" and session.choosing is None


def test_it_goes_on_for_those_who_still_wait(slow: Slow, page: Models) -> None:
    session = visitor(page)
    waiting = page.load("second")
    next(waiting)
    screens = choosing.choose(session, page, "second")
    next(screens)
    choosing.cancel(session)
    list(screens)
    before = slow.reports
    eventually(lambda: slow.reports > before + 1)
    assert slow.ended == []
    slow.go.set()
    assert result(waiting).name == "second" and slow.requested == ["first", "second"]


def test_whoever_chooses_another_meanwhile_gets_that_one(slow: Slow, page: Models) -> None:
    session = visitor(page)
    overtaken = choosing.choose(session, page, "second")
    next(overtaken)
    screens = choosing.choose(session, page, "third")
    next(screens)
    assert list(overtaken) == []
    slow.go.set()
    list(screens)
    assert session.model == "third"


def test_what_is_chosen_already_is_not_chosen_again(slow: Slow, page: Models) -> None:
    """The list sends its value even when it only loses the focus."""
    session = visitor(page)
    screens = choosing.choose(session, page, "second")
    next(screens)
    assert list(choosing.choose(session, page, " second ")) == [PickerScreen()]
    assert session.choosing is not None and not session.choosing.cancelled
    assert [model_value(screen)["name"] for screen in choosing.choose(session, page, "first")] == ["first"]
    assert [model_value(screen)["name"] for screen in screens] == ["first"]  # given up by that
    assert list(choosing.choose(session, page, "first")) == [PickerScreen()]
    assert slow.requested == ["first", "second"]


def test_a_model_being_loaded_is_listed_as_loading(slow: Slow, page: Models) -> None:
    session = visitor(page)
    screens = choosing.choose(session, page, "second")
    assert there(next(screens)) == {"first": "", "second": "loading", "third": "", "broken": ""}
    slow.go.set()
    assert there(list(screens)[-1])["second"] == ""


def test_the_box_for_a_name_is_emptied_once_its_model_is_there(slow: Slow, page: Models) -> None:
    session = visitor(page)
    slow.go.set()
    with pytest.raises(AttendError):
        for screen in choosing.choose(session, page, "broken", typed=True):
            assert not model_value(screen)["clears_input"]
    assert [model_value(screen)["clears_input"] for screen in choosing.choose(session, page, "second", typed=True)][-1]
    assert not any(model_value(screen)["clears_input"] for screen in choosing.choose(session, page, "third"))


def test_what_cannot_be_loaded_is_one_sentence_and_the_model_of_before_stays(page: Models) -> None:
    session = visitor(page)
    screens = choosing.choose(session, page, "broken")
    with pytest.raises(AttendError, match="cut short: copy them again"):
        for screen in screens:
            assert model_value(screen)["name"] in ("broken", "first")
    assert (session.model, session.choosing) == ("first", None)
    list(chat.send(session, page, page.current(session), "Hi", SAMPLE))
    assert session.turns[1].state == "done"


@pytest.mark.parametrize("name", ["../../etc", "/etc", "owner/name", "", None, 7, "second@main"])
def test_only_a_private_page_loads_what_is_not_offered(slow: Slow, page: Models, name: object) -> None:
    session = visitor(page)
    with pytest.raises(AttendError, match=r"choose one of first|must be text"):
        list(choosing.choose(session, page, name))
    assert slow.requested == ["first"]
    private = Models(["first"], slow, any_name=True)
    slow.go.set()
    assert result(private.load("owner/name")).name == "owner/name"
    with pytest.raises(AttendError, match="choose one of first"):
        private.get("owner/other")  # programs are offered the list alone


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
    list(chat.send(session, private, session.model, "Hi", SAMPLE))
    answer, writes = session.turns[1].text, session.kept_model
    value = model_value(list(choosing.choose(session, private, folder))[-1])
    assert session.encoder is not None and session.encoder.address == value["name"] == folder
    assert session.model_changed and {choice["name"] for choice in value["choices"]} >= {session.model, folder}
    assert (session.model, session.kept_model) == (str(tiny_checkpoint), writes)
    with pytest.raises(AttendError, match="choose one of"):
        private.get(folder)  # programs cannot have it generate
    with pytest.raises(AttendError, match="is an encoder, which can't generate"):
        Models((folder,), lambda *arguments: catalog.load_another(ModelArguments(), *arguments)).get(folder)

    reads, session.model_changed = weakref.ref(session.encoder), False
    value = model_value(list(choosing.choose(session, private, session.model))[-1])
    assert (session.encoder, session.model_changed, value["name"]) == (None, True, session.model)
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
    screen = overview(session, page, "first")
    assert screen.conversation is not None and screen.conversation["turns"][1]["text"] == answer
    assert screen.inspector is not None and screen.inspector["ids"] == []
    assert screen.inspector.get("unloaded") == "second"
    assert overview(visitor(page), page, "first").inspector == {**screen.inspector, "unloaded": ""}
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
    screen = overview(session, elsewhere, "other")
    assert screen.meter == meter_value(used, other.model.context_length) and used != run.length
    assert overview(session, page, "second").meter == meter_value(run.length, 128)
    assert overview(session, elsewhere, "writer").meter == meter_value(0, 128)  # which knows no conversations


def test_a_comparison_stays_when_its_model_goes(slow: Slow, page: Models) -> None:
    session = visitor(page)
    use(session, page, slow, "second")
    cards = [{"strategy": "greedy"}, {"temperature": 2}]
    options = {"answer": False, "history": False, "common_draws": True, "panel": SAMPLE}
    list(comparing.compare(session, page, "second", "Once", cards, **options))
    use(session, page, slow, "first")
    gc.collect()
    screen = comparing.overview(session, page, "first")
    assert screen.comparison is not None and len(screen.comparison.get("cards", [])) == 2
    assert page.cached("second") is None


def test_a_cache_reports_the_progress_of_a_load(slow: Slow) -> None:
    loading = ModelCache(slow).load("second", heartbeat=0.02)
    seen = [next(loading) for _ in range(10)]
    assert seen[-1].total == 100 and [progress.done for progress in seen] == sorted(progress.done for progress in seen)
    assert seen[-1].done > seen[0].done
    loading.close()


def test_a_load_that_hangs_is_given_up_and_the_next_one_begins_anew(slow: Slow) -> None:
    """As from a disk that doesn't answer, which no check sees beforehand."""
    hanging, stuck = threading.Event(), list[str]()

    def load(name: str, progress: Progress) -> LoadedModel:
        stuck.append(name)
        if len(stuck) == 1:
            hanging.wait()
        return slow("first", progress)

    cache = ModelCache(load, patience=2.0)
    loading = cache.load("second", heartbeat=0.02)
    with pytest.raises(AttendError, match="second got nowhere for 2 seconds while it loaded"):
        result(loading)
    assert isinstance(result(cache.load("second")), LoadedModel) and stuck == ["second", "second"]
    hanging.set()


def test_a_panic_of_a_library_reaches_who_waits(slow: Slow) -> None:
    class PanicError(BaseException):
        """As that of Rust's libraries, which is no Exception."""

    def load(name: str, progress: Progress) -> LoadedModel:
        raise PanicError("assertion failed")

    with pytest.raises(RuntimeError, match="assertion failed"):
        result(ModelCache(load).load("second"))
