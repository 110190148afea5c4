"""Saved runs: the same file as the terminal writes, hostile files refused, and shown without a model."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import generate
from decoding.settings import DecodingSettings
from model.errors import AttendError
from model.loaded import LoadedModel
from tests.helpers.paths import ROOT
from tests.ui.inspector.test_trace import BEAM, GREEDY, SAMPLE, answered, flags, written
from ui.inspector.inspector_value import inspector_value
from ui.inspector.toolbar import record, replay
from ui.runs.models import Models
from ui.runs.session import Session
from ui.write import write_actions as write

CONTRASTIVE = DecodingSettings(strategy="contrastive", max_new_tokens=6)
DOLA = DecodingSettings(strategy="dola", seed=3, max_new_tokens=6)
EARLIER = ROOT / "tests" / "helpers" / "earlier"  # what was written before the second form of the run document
NO_BEAMS: dict[str, Any] = {"beams": [], "best": None, "returned": [], "dropped": []}
BEAM_ENTRY = {
    "id": 1,
    "parent": 0,
    "score": -1.0,
    "step_score": -1.0,
    "log_probability": -1.0,
    "final_score": None,
    "finish_reason": None,
    "group": 0,
}


@pytest.fixture(scope="module")
def file(tiny: LoadedModel) -> str:
    """A saved run."""
    session, models = Session(), Models((tiny.name,), lambda *_: tiny)
    return record.saved(session, models, answered(models, "Hello", SAMPLE, session).id)[1]


@pytest.fixture
def document(file: str) -> dict[str, Any]:
    return json.loads(file)


# --- saving ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("settings", [SAMPLE, GREEDY, BEAM], ids=lambda one: one.strategy)
def test_the_file_is_the_one_that_the_terminal_writes_and_has_the_attention(
    models: Models, tiny_checkpoint: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, settings: DecodingSettings
) -> None:
    session = Session()
    run = answered(models, "How are you?", settings, session)
    monkeypatch.setattr("model.threads.fastest_threads", lambda model: 1)
    file = tmp_path / "run.json"
    arguments = ["How are you?", "--chat", *flags(settings), "--model", str(tiny_checkpoint), "--json", str(file)]
    assert generate.main(arguments) == 0
    saved, written = json.loads(record.saved(session, models, run.id)[1]), json.loads(file.read_text(encoding="utf-8"))
    attention = saved.pop("attention")
    assert saved == written
    assert len(attention["rows"]) == len(written["steps"])


def test_its_name_has_model_words_strategy_and_seed(models: Models) -> None:
    session = Session()
    parts, _ = record.saved(session, models, answered(models, "Hello", SAMPLE, session).id)
    assert parts == ["tiny-chat", "Hello", "sample", "7"]


def test_attention_that_is_computed_for_a_file_is_not_kept(models: Models) -> None:
    session = Session()
    run = answered(models, "Hello", SAMPLE, session)
    run.forget_attention()
    assert "attention" in json.loads(record.saved(session, models, run.id)[1])
    assert all(token.row is None for token in run.tokens)


@pytest.mark.parametrize("identifier", ["", "chat-99"])
def test_only_ones_own_runs_can_be_saved(models: Models, identifier: str) -> None:
    session = Session()
    answered(models, "Hello", SAMPLE, session)
    with pytest.raises(AttendError, match="no longer stored"):
        record.saved(session, models, identifier)


def test_nothing_is_saved_while_the_model_writes_or_of_a_text_that_was_only_typed(models: Models) -> None:
    session = Session()
    write.preview(session, models, models.default, "The quick")
    with pytest.raises(AttendError, match="are not stored"):
        record.saved(session, models, session.draft.run or "")
    session.begin()
    with pytest.raises(AttendError, match="still writing"):
        record.saved(session, models, session.draft.run or "")


# --- opening ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("settings", [SAMPLE, GREEDY, BEAM, CONTRASTIVE, DOLA], ids=lambda one: one.strategy)
def test_what_was_saved_is_shown_again_with_the_numbers_of_the_page(
    models: Models, tiny: LoadedModel, settings: DecodingSettings
) -> None:
    session = Session()
    run = written(models, session, "The quick", settings)
    saved = record.saved(session, models, run.id)[1]
    other = Session()
    value = replay.opened(other, saved, 1)
    steps = inspector_value(run, tiny.tokenizer, busy=False)["steps"]
    assert value["document"] == {**json.loads(saved), "steps": steps}
    assert replay.is_replay(value["run"])
    assert other.runs == {} and other.inspected_run is None


@pytest.mark.parametrize("name", ["sample", "beam"])
def test_files_of_the_first_form_are_opened_for_ever(name: str) -> None:
    """Written by generate.py as it was on 2026-11-25, before the second form."""
    text = (EARLIER / f"{name}.trace.json").read_text(encoding="utf-8")
    before, document = json.loads(text), replay.opened(Session(), text, 1)["document"]
    assert document["prompt"]["text"] == "Once upon"
    assert document["ids"] == before["ids"]
    for step, old in zip(document["steps"], before["steps"], strict=True):
        assert [each["id"] for each in step["candidates"]] == [each["id"] for each in old["candidates"]]
        assert step["entropy"] == pytest.approx(old["stage_entropy"], rel=1e-5)
    if name == "sample":
        assert "search" not in document
        return
    search = document.get("search", [])
    for entry, old in zip(search, before["beams"], strict=True):
        assert sorted(beam["score"] for beam in entry["beams"]) == sorted(beam["score"] for beam in old)
    place, ids = search[-1]["best"], []
    while place is not None and place["step"] >= 0:  # the leading text, read back along its parents
        beam = search[place["step"]]["beams"][place["index"]]
        ids.insert(0, beam["id"])
        place = {"step": place["step"] - 1, "index": beam["parent"]}
    assert ids == before["ids"]


def test_the_page_names_the_run_of_each_file_by_its_number(document: dict[str, Any]) -> None:
    session, text = Session(), json.dumps(document)
    assert [replay.opened(session, text, number)["run"] for number in (2, 1)] == ["replay-2", "replay-1"]


@pytest.mark.parametrize(
    "text",
    [
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
def test_what_is_no_run_is_refused(text: str) -> None:
    session = Session(inspected_run="chat-1")
    with pytest.raises(AttendError, match="Not a valid run file"):
        replay.opened(session, text, 1)
    assert session.inspected_run == "chat-1"


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
        put("steps", 0, "id", value="a"),
        put("steps", 0, "id", value=399),
        put("steps", 0, "id", value=-1),
        put("labels", value={}),
        put("labels", "7", value="x" * 201),
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
        put("steps", 0, "entropy", value=[float("inf")] * 4),
        put("steps", 0, "candidates", value=[]),
        put("steps", 0, "candidates", 0, "probabilities", value=[0.5]),
        put("steps", 0, "candidates", 0, "probabilities", value=["a"] * 4),
        put("steps", 0, "candidates", 0, "id", value=None),
        put("settings", value=7),
        put("steps", 0, "contrastive", value={}),
        put("steps", 0, "contrastive", value=[{"id": 1, "confidence": 2, "degeneration": 0, "score": 0}]),
        put("steps", 0, "contrast", value=[]),
        put("steps", 0, "contrast", value={"layer": 2, "divergences": [{"layer": 1, "bits": 0.5}]}),
        put("steps", 0, "contrast", value={"layer": 1, "divergences": [{"layer": 1, "bits": 1.5}]}),
        put("search", value=[{"beams": [], "best": {"step": 0, "index": 0}, "returned": [], "dropped": []}]),
        put("search", value=[{**NO_BEAMS, "beams": [{**BEAM_ENTRY, "parent": 1}]}]),
        put("search", value=[{**NO_BEAMS, "beams": [{**BEAM_ENTRY, "score": float("nan")}]}]),
        put("search", value=[{**NO_BEAMS, "beams": [BEAM_ENTRY], "returned": [{"step": 1, "index": 0}]}]),
        put("search", value=[{**NO_BEAMS, "beams": [BEAM_ENTRY] * 65}]),
        put("attention", value={"layers": -1, "heads": 1, "rows": []}),
        put("attention", value={"layers": 2, "heads": 4, "rows": []}),
        put("attention", "layers", value=3),
        put("attention", "rows", 0, value="?" * 4),
        put("attention", "rows", 0, value="é" * 4),
        put("attention", "rows", 0, value="AAAA" * 1000),
        put("attention", "rows", 1, value=""),
    ],
    ids=lambda change: change.__name__,
)
def test_a_forged_run_is_refused_in_one_sentence(
    document: dict[str, Any], change: Callable[[dict[str, Any]], None]
) -> None:
    assert len(document["steps"][0]["stages"]) == 4  # what the wrong lists above are as long as
    change(document)
    session = Session(inspected_run="chat-1")
    with pytest.raises(AttendError) as refused:
        replay.opened(session, json.dumps(document), 1)
    assert len(str(refused.value)) < 300
    assert session.inspected_run == "chat-1"


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (put("schema", value=None), "not saved by Attend"),
        (put("steps", 0, "kept", value=[1]), "steps.0 has numbers for more or fewer than its 4 filters"),
        (
            put("steps", 0, "candidates", 0, "id", value=None),
            "steps.0.candidates.0.id can't be None: input should be a valid integer",
        ),
        (put("steps", 0, "rank", value=0), "steps.0.rank can't be 0: input should be greater than or equal to 1"),
    ],
    ids=lambda value: getattr(value, "__name__", None),
)
def test_what_is_wrong_is_explained(
    document: dict[str, Any], change: Callable[[dict[str, Any]], None], reason: str
) -> None:
    change(document)
    with pytest.raises(AttendError) as refused:
        replay.opened(Session(), json.dumps(document), 1)
    way_out = "Choose one saved here or by generate.py --json."
    assert str(refused.value) == f"Not a valid run file ({reason}). {way_out}"


def test_nothing_is_opened_while_the_model_writes(document: dict[str, Any]) -> None:
    session = Session()
    session.begin()
    with pytest.raises(AttendError, match="still writing"):
        replay.opened(session, json.dumps(document), 1)
