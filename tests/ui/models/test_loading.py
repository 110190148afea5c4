"""Loading models: one load for all who want it, nobody else waits, and unused models are dropped."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from model.errors import AttendError
from model.loaded import LoadedModel
from model.progress import Progress
from tests.helpers.waiting import eventually
from tests.ui.models.conftest import SAMPLE, Slow, model_value, result, there, visitor
from ui.chat import chat_actions as chat
from ui.models import select as choosing
from ui.models.select import PickerUpdate
from ui.runs.models import Models
from ui.runs.models.model_cache import ModelCache


def test_two_who_ask_for_the_same_model_wait_for_one_load(slow: Slow, page: Models) -> None:
    first, second = page.load("second"), page.load("second")
    assert next(first).total == 100 and next(second).total == 100
    slow.go.set()
    assert result(first) is result(second)
    assert slow.requested == ["second"]


def test_others_chat_on_while_a_model_loads(slow: Slow, page: Models) -> None:
    session, other = visitor(page), visitor(page)
    updates = choosing.choose(session, page, "second")
    value = model_value(next(updates))
    assert value["title"] == "Downloading second" and value["share"] == pytest.approx(0.99, abs=0.99)
    assert value["notes"] == ["Until it is ready, first writes."]
    list(chat.send(other, page, page.current(other), "Hi", SAMPLE))
    list(chat.send(session, page, page.current(session), "Hi", SAMPLE))  # with the model of before
    assert other.turns[1].text == session.turns[1].text != ""
    assert not slow.go.is_set() and session.model.name == "first"
    slow.go.set()
    last = list(updates)[-1]
    assert (session.model.name, model_value(last)["name"], model_value(last)["title"], session.model.changed) == (
        "second",
        "second",
        "",
        True,
    )


def test_a_load_that_is_cancelled_ends_and_the_model_of_before_stays(slow: Slow, page: Models) -> None:
    session = visitor(page)
    updates = choosing.choose(session, page, "second")
    next(updates)
    choosing.cancel(session)
    assert [model_value(update)["name"] for update in updates] == ["first"]
    eventually(lambda: slow.ended == ["second"])
    assert session.model.name == "first" and session.model.coming is None


def test_it_goes_on_for_those_who_still_wait(slow: Slow, page: Models) -> None:
    session = visitor(page)
    waiting = page.load("second")
    next(waiting)
    updates = choosing.choose(session, page, "second")
    next(updates)
    choosing.cancel(session)
    list(updates)
    before = slow.reports
    eventually(lambda: slow.reports > before + 1)
    assert slow.ended == []
    slow.go.set()
    assert result(waiting).name == "second" and slow.requested == ["first", "second"]


def test_whoever_chooses_another_meanwhile_gets_that_one(slow: Slow, page: Models) -> None:
    session = visitor(page)
    overtaken = choosing.choose(session, page, "second")
    next(overtaken)
    updates = choosing.choose(session, page, "third")
    next(updates)
    assert list(overtaken) == []
    slow.go.set()
    list(updates)
    assert session.model.name == "third"


def test_what_is_chosen_already_is_not_chosen_again(slow: Slow, page: Models) -> None:
    """The list sends its value even when it only loses the focus."""
    session = visitor(page)
    updates = choosing.choose(session, page, "second")
    next(updates)
    assert list(choosing.choose(session, page, " second ")) == [PickerUpdate()]
    assert session.model.coming is not None and not session.model.coming.cancelled
    assert [model_value(update)["name"] for update in choosing.choose(session, page, "first")] == ["first"]
    assert [model_value(update)["name"] for update in updates] == ["first"]  # given up by that
    assert list(choosing.choose(session, page, "first")) == [PickerUpdate()]
    assert slow.requested == ["first", "second"]


def test_a_model_being_loaded_is_listed_as_loading(slow: Slow, page: Models) -> None:
    session = visitor(page)
    updates = choosing.choose(session, page, "second")
    assert there(next(updates)) == {"first": "", "second": "loading", "third": "", "broken": ""}
    slow.go.set()
    assert there(list(updates)[-1])["second"] == ""


def test_the_box_for_a_name_is_emptied_once_its_model_is_there(slow: Slow, page: Models) -> None:
    session = visitor(page)
    slow.go.set()
    with pytest.raises(AttendError):
        for update in choosing.choose(session, page, "broken", typed=True):
            assert not model_value(update)["clears_input"]
    assert [model_value(update)["clears_input"] for update in choosing.choose(session, page, "second", typed=True)][-1]
    assert not any(model_value(update)["clears_input"] for update in choosing.choose(session, page, "third"))


def test_what_cannot_be_loaded_is_one_sentence_and_the_model_of_before_stays(page: Models) -> None:
    session = visitor(page)
    updates = choosing.choose(session, page, "broken")
    with pytest.raises(AttendError, match="cut short: copy them again"):
        for update in updates:
            assert model_value(update)["name"] in ("broken", "first")
    assert (session.model.name, session.model.coming) == ("first", None)
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


def test_the_encoders_used_last_are_remembered_even_if_they_were_in_memory() -> None:
    """The endpoint for embeddings takes the newest where a program names none."""

    class Encoder:
        """Stands in for one; only its kind matters."""

    def load(name: str, progress: Progress) -> Any:
        return Encoder()

    cache = ModelCache(load)
    kept = [result(cache.load(name)) for name in ("one", "two", "three", "four", "one", "five")]
    assert kept[4] is kept[0]
    assert cache.encoders() == ("three", "four", "one", "five")
