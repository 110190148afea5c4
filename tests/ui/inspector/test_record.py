"""Saved runs: the same file as the terminal writes, hostile files refused, and shown without a model."""

from __future__ import annotations

import copy
import itertools
import json
import math
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import generate
from decoding.settings import DecodingSettings
from model.errors import AttendError
from model.loaded import LoadedModel
from tests.ui.inspector.test_trace import BEAM, GREEDY, SAMPLE, answered, flags, written
from ui.compare import cards as compare
from ui.inspector.beams.search import search_value
from ui.inspector.inspector_contract import SearchValue
from ui.inspector.toolbar import record, replay
from ui.inspector.values import inspector_value
from ui.runs.models import Models
from ui.runs.session import Session
from ui.write import actions as write

CONTRASTIVE = DecodingSettings(strategy="contrastive", max_new_tokens=6)
DOLA = DecodingSettings(strategy="dola", seed=3, max_new_tokens=6)


@pytest.fixture
def document(models: Models) -> dict[str, Any]:
    session = Session()
    run = answered(models, "Hello", SAMPLE, session)
    return json.loads(record.saved(session, run.id)[1])


# --- saving ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("settings", [SAMPLE, GREEDY, BEAM], ids=lambda one: one.strategy)
def test_the_file_is_the_one_that_the_terminal_writes(
    models: Models, tiny_checkpoint: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, settings: DecodingSettings
) -> None:
    session = Session()
    run = answered(models, "How are you?", settings, session)
    monkeypatch.setattr("model.threads.fastest_threads", lambda model: 1)
    file = tmp_path / "run.json"
    arguments = ["How are you?", "--chat", *flags(settings), "--model", str(tiny_checkpoint), "--json", str(file)]
    assert generate.main(arguments) == 0
    assert record.saved(session, run.id)[1] == file.read_text(encoding="utf-8")


def test_its_name_has_model_words_strategy_and_seed(models: Models) -> None:
    session = Session()
    parts, _ = record.saved(session, answered(models, "Hello", SAMPLE, session).id)
    assert parts == ["tiny-chat", "Hello", "sample", "7"]


def test_a_compared_cards_run_is_saved_like_any_other(models: Models, tiny: LoadedModel) -> None:
    comparison = compare.prepare(tiny, compare.text_prompt(tiny, "The quick"), [SAMPLE, replace(GREEDY, seed=7)])
    session = Session(runs={card.run.id: card.run for card in comparison.cards})
    for _ in compare.run_cards(comparison, models, stop=session.begin(), attention=False):
        pass
    session.cancel()
    for card in comparison.cards:
        assert json.loads(record.saved(session, card.run.id)[1]) == json.loads(json.dumps(card.trace.document()))


@pytest.mark.parametrize("identifier", [None, "", "chat-99", 7, ["chat-1"], {"run": 1}])
def test_only_ones_own_runs_can_be_saved(models: Models, identifier: object) -> None:
    session = Session()
    answered(models, "Hello", SAMPLE, session)
    with pytest.raises(AttendError, match="no longer stored"):
        record.saved(session, identifier)


def test_nothing_is_saved_while_the_model_writes_or_of_a_text_that_was_only_typed(models: Models) -> None:
    session = Session()
    write.preview(session, models, models.default, "The quick")
    with pytest.raises(AttendError, match="are not stored"):
        record.saved(session, session.draft.run)
    session.begin()
    with pytest.raises(AttendError, match="still writing"):
        record.saved(session, session.draft.run)


# --- opening ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("settings", [SAMPLE, GREEDY, BEAM, CONTRASTIVE, DOLA], ids=lambda one: one.strategy)
def test_what_was_saved_is_shown_again(models: Models, tiny: LoadedModel, settings: DecodingSettings) -> None:
    session = Session()
    run = written(models, session, "The quick", settings)
    shown = inspector_value(run, tiny.tokenizer, busy=False)
    prompt = len(run.tokens) - len(run.trace.ids) if run.trace else 0
    other = Session()
    value = replay.opened(other, record.saved(session, run.id)[1])
    assert value["tokens"][0] == ("The quick", "prompt", None)
    for before, again in zip(shown["tokens"][prompt:], value["tokens"][1:], strict=True):
        assert (before[0], before[2]) == (again[0], again[2])
    assert value["steps"] == shown["steps"][prompt - shown["first"] :]
    assert (value["first"], value["layers"], value["rows"], value["busy"]) == (1, 0, [], False)
    assert replay.is_replay(value["run"])
    assert other.runs == {} and other.shown is None


@pytest.mark.parametrize("stopped", [False, True], ids=["ended", "stopped"])
def test_the_beams_of_a_saved_search_are_drawn_again(models: Models, tiny: LoadedModel, stopped: bool) -> None:
    session = Session()
    run = written(models, session, "The quick", replace(BEAM, num_return_sequences=2))
    if stopped:
        assert run.trace is not None
        del run.trace.steps[-1]
    shown, again = search_value(run.trace, tiny.tokenizer.label), saved_search(session, run.id)
    assert shown is not None and again is not None and shown["steps"] and shown["dropped"]
    assert shown["best"] is not None and again["best"] is not None
    assert text(shown, *shown["best"]) == text(again, *again["best"])
    assert [text(shown, *spot) for spot in shown["returned"]] == [text(again, *spot) for spot in again["returned"]]
    assert (again["over"], len(again["returned"])) == ((False, 0) if stopped else (True, 2))
    for number, (before, other) in enumerate(zip(shown["steps"], again["steps"], strict=True)):
        texts, others = ([text(value, number, index) for index in range(len(before))] for value in (shown, again))
        assert sorted(texts) == sorted(others)
        assert [beam[2] for beam in other] == sorted((beam[2] for beam in other), reverse=True)
    all_dropped = [
        sorted((text(value, *dropped[:2]), dropped[2]) for dropped in value["dropped"]) for value in (shown, again)
    ]
    assert all_dropped[0] == all_dropped[1]


def text(value: SearchValue, step: int, index: int) -> list[tuple[str, float]]:
    """One text of a search: its tokens and what each added, the oldest first."""
    token, added, _, _, parent, _ = value["steps"][step][index]
    return [*(text(value, step - 1, parent) if step else []), (token, round(added, 4))]


def saved_search(session: Session, run: str) -> SearchValue | None:
    return replay.opened(Session(), record.saved(session, run)[1])["search"]


def test_a_search_that_was_saved_without_texts_still_opens(models: Models) -> None:
    session = Session()
    document = json.loads(record.saved(session, written(models, session, "The quick", BEAM).id)[1])
    for beam in itertools.chain(*document["beams"]):
        del beam["text"], beam["leads"], beam["returned"]
    value = replay.opened(Session(), json.dumps(document))
    assert value["search"] is None and value["steps"]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *(("text", 7), ("parent", 99), ("parent", -1), ("score", "0"), ("score", float("nan")), ("leads", True)),
        *(("final_score", None), ("final_score", math.inf)),
        *(("returned", 0), ("dropped", {"reason": "<b>"}), ("dropped", []), ("dropped", {"reason": ["ended"]})),
    ],
)
def test_forged_beams_are_refused(models: Models, name: str, value: object) -> None:
    session = Session()
    document = json.loads(record.saved(session, written(models, session, "The quick", BEAM).id)[1])
    for beam in itertools.chain(*document["beams"]):
        beam[name] = value
    with pytest.raises(AttendError, match="Not a valid run file"):
        replay.opened(Session(), json.dumps(document))


def test_every_file_is_another_run(document: dict[str, Any]) -> None:
    session = Session()
    text = json.dumps(document)
    assert replay.opened(session, text)["run"] != replay.opened(session, text)["run"]


@pytest.mark.parametrize(
    "text",
    [
        None,
        7,
        "",
        "invalid JSON",
        "[]",
        "7",
        "null",
        '"attend.trace/1"',
        "{}",
        '{"schema": "attend.trace/2"}',
        "[" * 100_000,
        '{"schema": ' * 900 + "1" + "}" * 900,
        "9" * 10_000,
    ],
)
def test_what_is_no_run_is_refused(text: object) -> None:
    session = Session(shown="chat-1")
    with pytest.raises(AttendError, match="Not a valid run file"):
        replay.opened(session, text)
    assert session.shown == "chat-1"


def put(*path: Any, value: object) -> Callable[[dict[str, Any]], None]:
    """A change of the document at this path."""

    def change(document: dict[str, Any]) -> None:
        holder: Any = document
        for key in path[:-1]:
            holder = holder[key]
        holder[path[-1]] = value

    change.__name__ = f"{'.'.join(map(str, path))}={str(value)[:20]}"
    return change


@pytest.mark.parametrize(
    "change",
    [
        put("prompt", value="The"),
        put("prompt", "text", value=7),
        put("prompt", "text", value="x" * 20_001),
        put("steps", value=[]),
        put("steps", value={}),
        put("steps", value=[7]),
        put("steps", value=[{}] * 5000),
        put("steps", 0, "token", value="a"),
        put("steps", 0, "token", value={"id": 399, "text": "not among the candidates"}),
        put("steps", 0, "token", "id", value=-1),
        put("steps", 0, "token", "id", value=True),
        put("steps", 0, "token", "text", value=["a"]),
        put("steps", 0, "token", "text", value="x" * 201),
        put("steps", 0, "rank", value=0),
        put("steps", 0, "rank", value=10**400),
        put("steps", 0, "draw", value=2),
        put("steps", 0, "draw", value=float("nan")),
        put("steps", 0, "stages", value=[]),
        put("steps", 0, "stages", value=[7]),
        put("steps", 0, "kept", value=[1]),
        put("steps", 0, "kept", value="400"),
        put("steps", 0, "rest", value=None),
        put("steps", 0, "mass", value=[2.0] * 4),
        put("steps", 0, "stage_entropy", value=[float("inf")] * 4),
        put("steps", 0, "candidates", value=[]),
        put("steps", 0, "candidates", 0, "probabilities", value=[0.5]),
        put("steps", 0, "candidates", 0, "probabilities", value=["0.5"] * 4),
        put("steps", 0, "candidates", 0, "id", value=None),
        put("settings", value=None),
        put("settings", "strategy", value="best"),
        put("steps", 0, "weighed", value={}),
        put("steps", 0, "weighed", value=[{"id": 1, "text": "a", "confidence": 2, "degeneration": 0, "score": 0}]),
        put("steps", 0, "contrast", value=[]),
        put("steps", 0, "contrast", value={"layer": 2, "divergences": [{"layer": 1, "bits": 0.5}]}),
        put("steps", 0, "contrast", value={"layer": 1, "divergences": [{"layer": 1, "bits": 1.5}]}),
        put("steps", 0, "contrast", value={"layer": True, "divergences": [{"layer": 1, "bits": 0.5}]}),
    ],
    ids=lambda change: change.__name__,
)
def test_a_forged_run_is_refused_in_one_sentence(
    document: dict[str, Any], change: Callable[[dict[str, Any]], None]
) -> None:
    assert len(document["steps"][0]["stages"]) == 4  # what the wrong lists above are as long as
    forged = copy.deepcopy(document)
    change(forged)
    session = Session(shown="chat-1")
    with pytest.raises(AttendError) as refused:
        replay.opened(session, json.dumps(forged))
    assert len(str(refused.value)) < 300
    assert session.shown == "chat-1"


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (put("schema", value=None), "not saved by Attend"),
        (put("steps", value=[]), "its steps can't be empty"),
        (put("steps", value=[{}] * 5000), "its steps can't be more than 4,096"),
        (
            put("steps", 0, "kept", value=[1]),
            "the candidate counts of step 1 can't be 1 for 4 filters",
        ),
        (put("steps", 0, "candidates", 0, "id", value=None), "the id of a candidate of step 1 can't be empty"),
        (put("steps", 0, "rank", value=0), "the rank of step 1 can't be 0"),
    ],
    ids=lambda value: getattr(value, "__name__", None),
)
def test_what_is_wrong_is_explained(
    document: dict[str, Any], change: Callable[[dict[str, Any]], None], reason: str
) -> None:
    change(document)
    with pytest.raises(AttendError) as refused:
        replay.opened(Session(), json.dumps(document))
    way_out = "Choose one saved here or by generate.py --json."
    assert str(refused.value) == f"Not a valid run file ({reason}). {way_out}"


def test_nothing_is_opened_while_the_model_writes(document: dict[str, Any]) -> None:
    session = Session()
    session.begin()
    with pytest.raises(AttendError, match="still writing"):
        replay.opened(session, json.dumps(document))
