"""What a browser keeps of a conversation: read back, it is the same, and behaves like one just written."""

from __future__ import annotations

import base64
import json
import tracemalloc
import zlib
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from decoding.run.reader import unpack
from decoding.settings import DecodingSettings
from decoding.step import Hypothesis, Step
from model import catalog
from model.errors import AttendError
from model.loaded import LoadedModel
from tests.helpers.paths import ROOT
from tests.ui.chat.test_chat import GREEDY, SAMPLE, last, texts_of
from ui.chat import chat_actions as chat
from ui.chat.kept_chat import chat_document, open_chat
from ui.limits import Limits
from ui.runs.documents.kept_document import MAX_BYTES, complete_runs, open_document, read_document
from ui.runs.memory import Ledger
from ui.runs.models import Models
from ui.runs.run import RunRecord, TokenRecord
from ui.runs.session import Session

LONG = replace(SAMPLE, max_new_tokens=12, min_new_tokens=12)
SETTINGS = {
    "greedy": GREEDY,
    "sample": SAMPLE,
    "samples": replace(SAMPLE, num_return_sequences=2),
    "beam": DecodingSettings(strategy="beam", num_beams=3, num_return_sequences=2, max_new_tokens=8),
    "diverse": DecodingSettings(strategy="diverse_beam", num_beams=4, num_beam_groups=2, max_new_tokens=6),
    "contrastive": DecodingSettings(strategy="contrastive", max_new_tokens=6),
    "dola": DecodingSettings(strategy="dola", seed=3, max_new_tokens=6),
}


def answered(models: Models, settings: DecodingSettings, *texts: str) -> Session:
    session = Session()
    for text in texts or ("Hello",):
        last(chat.send(session, models, models.default, text, settings))
    return session


def kept(session: Session, models: Models, known: tuple[str, ...] = ()) -> dict[str, Any]:
    """The document as the browser has it."""
    document = chat_document(session)
    assert document is not None
    return json.loads(json.dumps(document.value(models, known)))


@pytest.fixture(scope="module")
def hello(tiny: LoadedModel) -> str:
    """A conversation as the browser has it."""
    models = Models((tiny.name,), lambda *_: tiny)
    return json.dumps(kept(answered(models, SAMPLE), models))


def reopened(document: object, models: Models) -> Session:
    session = Session()
    open_document(session, models, document, open_chat)
    return session


def without_attention(run: RunRecord) -> list[TokenRecord]:
    return [replace(token, row=None) for token in run.tokens]


def described(step: Step) -> Any:
    """All of a step but the choices of texts that were not returned, and what it fed next.

    The scores of a single text are sums that are computed again: to nine digits.
    """

    def text(one: Hypothesis | None) -> Any:
        if one is None:
            return None
        scores = (one.score, one.step_score, one.log_probability, one.final_score)
        rounded = [None if score is None else round(score, 9) for score in scores]
        return one.tokens, rounded, one.parent, one.finish_reason, one.group

    return (
        [text(one) for one in step.hypotheses],
        text(step.best),
        [text(one) for one in step.returned],
        step.dropped,
    )


@pytest.mark.parametrize("settings", SETTINGS.values(), ids=SETTINGS)
def test_a_run_read_back_is_the_same(models: Models, settings: DecodingSettings) -> None:
    session = answered(models, settings)
    again = reopened(kept(session, models), models)
    for before, after in zip(session.runs.values(), again.runs.values(), strict=True):
        assert without_attention(before) == without_attention(after) == after.tokens
        assert before.trace is not None and after.trace is not None
        assert [described(step) for step in before.trace.steps] == [described(step) for step in after.trace.steps]
        assert before.trace.choices() == after.trace.choices()
        assert before.trace.document() == after.trace.document()
        assert replace(before, id="", tokens=[], trace=None) == replace(after, id="", tokens=[], trace=None)
    assert kept(session, models) == kept(again, models)


def test_all_versions_come_back_in_order(models: Models) -> None:
    session = answered(models, SAMPLE, "One", "Two")
    last(chat.retry(session, models, models.default, 3, replace(SAMPLE, seed=8)))
    last(chat.edit(session, models, models.default, 0, "Other", SAMPLE))
    session.system = "Be brief."
    again = reopened(kept(session, models), models)
    assert again.system == "Be brief."
    for number in (1, 0):
        for one in (session, again):
            chat.show_version(one, models, models.default, 0, number)
        assert texts_of(session) == texts_of(again)
        assert session.conversation.versions == again.conversation.versions
        assert [turn.tokens for turn in session.turns] == [turn.tokens for turn in again.turns]


def check_same(tokens: Sequence[TokenRecord], others: Sequence[TokenRecord]) -> None:
    """Equal but for rounding: of one, more was still in the model's memory, so its prompt was read in other pieces."""
    assert [(token.id, token.origin) for token in tokens] == [(token.id, token.origin) for token in others]
    for token, other in zip(tokens, others, strict=True):
        if token.choice is None or other.choice is None:
            assert token.choice is other.choice
            continue
        assert (token.choice.draw, token.choice.kept) == (other.choice.draw, other.choice.kept)
        assert token.choice.probability == pytest.approx(other.choice.probability, abs=1e-6)
        assert token.choice.final_probability == pytest.approx(other.choice.final_probability, abs=1e-6)


def test_what_came_back_goes_on_like_the_original(models: Models) -> None:
    session = answered(models, replace(LONG, max_new_tokens=12))
    again = reopened(kept(session, models), models)
    for one in (session, again):
        last(chat.proceed(one, models, 1, LONG))
    assert session.turns[1].text == again.turns[1].text and len(again.turns[1].tokens or ()) == 24
    for one in (session, again):
        run = one.run(one.turns[1].run)
        choice = run.tokens[run.first + 3].choice
        assert choice is not None
        other = next(candidate.id for candidate in choice.candidates if candidate.id != choice.token)
        last(chat.branch(one, models, run.id, run.first + 3, other, LONG))
    assert session.turns[1].text == again.turns[1].text
    check_same(session.run(session.turns[1].run).tokens, again.run(again.turns[1].run).tokens)
    branched = session.run(session.turns[1].run)  # with tokens that another run chose, and one taken by hand
    third = reopened(kept(session, models), models)
    assert without_attention(branched) == third.run(third.turns[1].run).tokens
    assert {token.origin for token in branched.tokens} == {"given", "chosen", "taken"}


def test_its_attention_is_computed_again(models: Models) -> None:
    session = answered(models, SAMPLE)
    before = session.run(session.turns[1].run)
    again = reopened(kept(session, models), models)
    update = chat.open_token(again, models, 1, 2)
    assert update.inspector is not None and update.inspector.get("selected") == before.first + 2
    assert len(update.inspector["rows"]) == len(before.tokens) - before.first
    assert update.inspector["steps"] == chat.open_token(session, models, 1, 2).inspector["steps"]  # pyright: ignore


def test_only_runs_that_the_browser_lacks_are_sent(models: Models) -> None:
    session = answered(models, LONG, "One", "Two")
    first = kept(session, models)
    assert sorted(first["runs"]) == sorted(first["names"]) and len(first["names"]) == 2
    assert kept(session, models, tuple(first["names"]))["runs"] == {}
    last(chat.proceed(session, models, 3, LONG))
    later = kept(session, models, tuple(first["names"]))
    assert list(later["runs"]) == later["names"][1:]  # it has grown


def test_without_its_run_an_answer_keeps_its_words(models: Models, hello: str) -> None:
    document = json.loads(hello)
    again = reopened({**document, "runs": {}}, models)
    assert again.turns[1].text == document["content"]["messages"][1]["text"]
    later = kept(again, models)
    (name,) = document["names"]
    assert later["names"] == [name] == [later["content"]["messages"][1]["run"]]  # the browser still has it
    with pytest.raises(AttendError, match="no longer stored"):
        chat.open_token(again, models, 1, 0)


def test_without_its_model_the_tokens_and_tables_are_shown(models: Models, tiny: LoadedModel) -> None:
    session = answered(models, SAMPLE)
    with_model = chat.open_token(session, models, 1, 2).inspector
    others = Models(("tiny-writer",), lambda name, _: models.get(name))
    again = Session.using("tiny-writer")
    open_document(again, others, kept(session, models), open_chat)
    assert again.run(again.turns[1].run).model == tiny.name and not others.is_loaded(tiny.name)
    without = chat.open_token(again, others, 1, 2).inspector
    assert with_model is not None and without is not None
    assert without["steps"] == with_model["steps"] and without["ids"] == with_model["ids"]
    assert without["rows"] == [] and without.get("selected") == with_model.get("selected")
    with pytest.raises(AttendError, match="no longer loaded"):
        last(chat.proceed(again, others, 1, SAMPLE))
    complete_runs(again, models, None)  # where it is loaded
    run, before = again.run(again.turns[1].run), session.run(session.turns[1].run)
    assert run.stored is None and run.trace is not None and before.trace is not None
    assert run.trace.document() == before.trace.document()


def test_while_runs_are_read_the_traces_of_the_oldest_give_way(models: Models) -> None:
    """Each step of a text holds all tokens before it, so those of a hostile document would take 1.7 GB together."""
    session = answered(models, LONG, "One", "Two")
    trace_bytes = [Ledger.of(Session(runs={"one": replace(run, tokens=[])})).total for run in session.runs.values()]
    other = Session(limits=Limits(session_mb=1.5 * max(trace_bytes) / 1e6))
    runs = read_document(other, models, kept(session, models)).runs.values()
    assert [run.trace is None for run in runs] == [True, False]
    assert all(run.tokens[-1].choice for run in runs)


@pytest.mark.parametrize("field", ["schema", "kind", "key", "model", "content", "runs"])
@pytest.mark.parametrize("value", [None, 7, [], "x" * 500])
def test_a_document_of_another_form_is_refused(models: Models, hello: str, field: str, value: object) -> None:
    document = {**json.loads(hello), field: value}
    with pytest.raises(AttendError, match="can't be opened"):
        reopened(document, models)


BEAM = {
    "id": 0,
    "parent": 0,
    "score": 0,
    "step_score": 0,
    "log_probability": 0,
    "final_score": None,
    "finish_reason": None,
    "group": 0,
}
ZEROS = [0] * 2**17  # as many tokens as a run may have


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("run", "ids"), ZEROS),
        (("run", "prompt", "ids", 0), 10**6),
        (("run", "prompt", "ids"), []),
        (("run", "settings", "temperature"), "hot"),
        (("run", "search"), [{"beams": [BEAM] * 64, "returned": [], "dropped": [], "best": None}] * 1000),
        (("run", "search"), [{"beams": [{**BEAM, "parent": 7}], "returned": [], "dropped": [], "best": None}]),
        (("run", "steps"), []),
        (("run", "labels"), {}),
        (("layers",), 10**9),
    ],
    ids=lambda value: ".".join(map(str, value)) if isinstance(value, tuple) else "",
)
def test_a_run_that_cannot_be_leaves_the_words(
    models: Models, hello: str, path: tuple[str | int, ...], value: object
) -> None:
    document = json.loads(hello)
    (name,) = document["runs"]
    run: Any = json.loads(unpack(document["runs"][name], 10**7))
    *outer, last_name = path
    holder = run
    for step in outer:
        holder = holder[step]
    holder[last_name] = value
    document["runs"][name] = base64.b64encode(zlib.compress(json.dumps(run).encode())).decode()
    tracemalloc.start()
    try:
        session = reopened(document, models)
        assert tracemalloc.get_traced_memory()[1] < 300_000_000  # bytes at the most
    finally:
        tracemalloc.stop()
    assert [turn.text for turn in session.turns] == [message["text"] for message in document["content"]["messages"]]
    assert session.turns[1].run is None and not session.runs


def test_runs_that_unpack_to_too_much_are_refused(models: Models, hello: str) -> None:
    document = json.loads(hello)
    (name,) = document["runs"]
    document["runs"][name] = base64.b64encode(zlib.compress(b" " * (MAX_BYTES + 1))).decode()
    with pytest.raises(AttendError, match="its runs are too large"):
        reopened(document, models)


@pytest.mark.parametrize("kind", ["chat", "write", "translate"])
def test_a_document_of_before_the_second_form_is_opened_with_its_runs(kind: str) -> None:
    """Exported from the history as it was on 2026-11-25."""
    document = json.loads((ROOT / "tests" / "helpers" / "earlier" / f"{kind}.document.json").read_text("utf-8"))
    one_loaded = Models(("attend-chat",), lambda name, _: catalog.load(name))
    read = read_document(Session(), one_loaded, document)
    assert sorted(read.runs) == sorted(document["names"])
    for run in read.runs.values():
        explained = run.tokens[run.first :]
        assert explained and all(token.choice and token.choice.token == token.id for token in explained)
        if kind == "translate":
            assert run.stored is not None and run.trace is None  # until its model is loaded
        else:
            assert run.trace is not None and run.trace.ids == run.ids[-len(run.trace.ids) :]


def test_a_conversation_that_was_cleared_before_it_was_kept_is_kept_all_the_same(models: Models) -> None:
    session = answered(models, SAMPLE)
    document = kept(session, models)
    chat.clear(session, models, models.default)
    assert kept(session, models) == document
    updates = chat.send(session, models, models.default, "Another", replace(LONG, max_new_tokens=100))
    next(updates)
    next(updates)
    chat.clear(session, models, models.default)
    growing = kept(session, models)
    assert growing["key"] != document["key"]
    assert [message["state"] for message in growing["content"]["messages"]] == ["done", "stopped"]
    assert texts_of(reopened(growing, models))[0] == "Another"
    assert not list(updates)[-1].answer
