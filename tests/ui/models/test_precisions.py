"""The precision of a visitor's model: the choices, that each is a model of its own, and where there is no choice."""

from __future__ import annotations

import gc
from pathlib import Path

import pytest
import torch

from decoding.settings import DecodingSettings
from model import catalog, names
from model.arguments import ModelArguments
from model.errors import AttendError
from model.loaded import LoadedModel
from tests.helpers.folders import bert, gpt2
from tests.helpers.waiting import eventually
from ui.chat import chat_actions as chat
from ui.models import select
from ui.runs.models import Models
from ui.runs.session import Session

GREEDY = DecodingSettings(strategy="greedy", max_new_tokens=4)
EIGHT, SIXTEEN = "tiny-chat [8 bits]", "tiny-chat [16 bits]"


def page_of(folder: Path, dtype: str = "auto", engine: str = "auto", *, any_name: bool = False) -> Models:
    """The models of a page that was started with this folder, as `app.serve` makes them."""
    arguments = ModelArguments(str(folder), engine, "cpu", dtype)
    first = catalog.load_arguments(arguments)
    return Models(
        (first.name,),
        lambda name, progress: first if name == first.name else catalog.load_another(arguments, name, progress),
        any_name=any_name,
    )


@pytest.fixture
def page(tiny_checkpoint: Path) -> Models:
    return page_of(tiny_checkpoint)


def visitor(page: Models, name: str = "") -> Session:
    session = Session.using(page.default)
    if name:
        list(select.choose(session, page, name))
    return session


def offered(session: Session, page: Models) -> list[str]:
    return [one["name"] for one in select.picker_value(session, page)["precisions"]]


def logits_of(loaded: LoadedModel) -> torch.Tensor:
    """Those of one token (1, V), fed by the compiled step."""
    forward = loaded.model.prefill(loaded.prompt("Hi"))
    return loaded.model.step([5], forward.cache).logits


@pytest.mark.parametrize("name", ["a", "a [4 bits]", "a[8 bits]", "[8 bits]", "a [8 bits] [fr→en]"])
def test_a_name_without_a_valid_precision_at_its_end_stays_as_it_is(name: str) -> None:
    assert names.without_precision(name) == (name, "")


def test_a_precision_is_the_end_of_a_name() -> None:
    assert names.without_precision(names.with_precision("owner/name@main", 8)) == ("owner/name@main", "int8")
    assert names.without_precision("a [16 bits]") == ("a", "bfloat16")
    assert names.task("attend-translate [8 bits]") == "translation"


def test_a_folder_is_never_called_like_a_precision(tmp_path: Path) -> None:
    folder = tmp_path / "fox [8 bits]"
    folder.mkdir()
    with pytest.raises(AttendError, match=r"names a precision: rename .*fox \[8 bits\]'\.$"):
        names.locate(str(folder))


@pytest.mark.parametrize(
    ("dtype", "expected"),
    [
        ("auto", ["tiny-chat", SIXTEEN, EIGHT]),
        ("bfloat16", ["tiny-chat [32 bits]", "tiny-chat", EIGHT]),
        ("int8", ["tiny-chat [32 bits]", SIXTEEN, "tiny-chat"]),
    ],
)
def test_that_of_the_command_line_has_the_plain_name(tiny_checkpoint: Path, dtype: str, expected: list[str]) -> None:
    page = page_of(tiny_checkpoint, dtype=dtype)
    assert offered(visitor(page), page) == expected
    for name in expected:  # whichever is in use, the choices are the same
        assert offered(visitor(page, name), page) == expected


def test_visitors_with_different_precisions_of_one_model_do_not_meet(page: Models) -> None:
    sessions = {name: visitor(page, name) for name in ("tiny-chat", SIXTEEN, EIGHT)}
    logits = {}
    for name, session in sessions.items():
        list(chat.send(session, page, page.current(session), "Hi", GREEDY))
        logits[name] = logits_of(page.require_loaded(name))
        run = session.newest_answer
        assert run is not None and run.model == name
    full = logits["tiny-chat"]
    changes = [(logits[name] - full).abs().max().item() / full.abs().max().item() for name in (SIXTEEN, EIGHT)]
    assert all(0 < change < 0.05 for change in changes)  # rounded, each in its own way, and the first not at all
    assert not torch.equal(logits[SIXTEEN], logits[EIGHT])
    select.leave(sessions[EIGHT])
    eventually(lambda: gc.collect() >= 0 and page.cached(EIGHT) is None)
    assert page.cached(SIXTEEN) is not None and page.cached("tiny-chat") is not None


def test_the_list_shows_a_model_once_in_the_precision_in_use(page: Models) -> None:
    session = visitor(page, EIGHT)
    value = select.picker_value(session, page)
    assert (value["name"], [choice["name"] for choice in value["choices"]]) == (EIGHT, [EIGHT])
    assert value["choices"][0]["title"] == page.display_name(EIGHT) == EIGHT


def test_a_folder_in_a_precision_is_listed_by_its_name_and_its_path(tiny_checkpoint: Path) -> None:
    page = page_of(tiny_checkpoint, any_name=True)
    name = names.with_precision(str(tiny_checkpoint), 8)
    (choice,) = select.picker_value(visitor(page, name), page)["choices"][1:]
    assert choice["title"] == page.display_name(name) == EIGHT
    assert choice["about"] == str(tiny_checkpoint.parent)


def test_without_a_compiled_step_there_is_no_choice(tmp_path: Path, tiny: LoadedModel) -> None:
    page = page_of(gpt2(tmp_path / "gpt2"), engine="adapter", any_name=True)
    session = visitor(page)
    assert offered(session, page) == []
    with pytest.raises(AttendError, match=r"gpt2 can't run in int8 \(8 bits\), which works only"):
        list(select.choose(session, page, "gpt2 [8 bits]"))
    assert session.model.name == page.default
    list(select.choose(session, page, str(bert(tmp_path / "reads"))))
    assert session.model.encoder is not None and offered(session, page) == []
    half = page_of(Path(tiny.address), dtype="float16")
    assert offered(visitor(half), half) == []


def test_a_public_page_offers_its_models_in_every_precision_and_no_others(page: Models) -> None:
    session = visitor(page)
    for name in ("tiny-chat [4 bits]", "owner/name [8 bits]"):
        with pytest.raises(AttendError, match="choose one of tiny-chat"):
            list(select.choose(session, page, name))
    assert page.get(EIGHT).dtype == "int8"  # programs, too
    assert page.is_at_hand(SIXTEEN) and not page.is_at_hand("owner/name [8 bits]")
