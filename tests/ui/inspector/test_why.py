"""The questions of "Why?": the numbers are those of `model.inspection`, and nobody reaches another visitor's run."""

from __future__ import annotations

import base64
import json
import math
import string
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import gradio as gr
import numpy as np
import pytest
import torch

from decoding.generate import generate
from decoding.settings import DecodingSettings
from model import catalog, names
from model.errors import AttendError
from model.inspection.ablation import switch_off_each
from model.inspection.attribution import attribute_directly, attribute_inputs
from model.inspection.heads import PATTERNS, score_heads, score_induction
from model.inspection.inspector import Inspector, opened
from model.inspection.intervention import Intervention
from model.inspection.lens import read_layers, read_position
from model.inspection.words import leave_out
from model.loaded import LoadedModel
from tests.ui.inspector.test_trace import SAMPLE, answered, to_the_end, trace_of, written
from ui.inspector.toolbar import record, replay
from ui.inspector.why import events
from ui.inspector.why.answers import spans_of
from ui.inspector.why.asked import Asked
from ui.inspector.why.heads import thumbnails
from ui.runs.models import Models
from ui.runs.run import RunRecord
from ui.runs.session import Session
from ui.translate import actions as translate
from ui.write import actions as write

TOKEN = 4  # of an answer
HEAD = {"layer": 1, "part": "head", "head": 2, "action": "zero"}


def ask(session: Session, models: Models, question: str, run: RunRecord, **fields: Any) -> Any:
    return answer_to(question, session, models, {"run": run.id, "index": TOKEN, **fields})


def answer_to(question: str, session: Session, models: Models, fields: Mapping[str, Any]) -> Any:
    *_, last = events.QUESTIONS[question](Asked(session, models, fields))
    assert "answer" in last
    return json.loads(json.dumps(last["answer"]))


def inspector_of(loaded: LoadedModel) -> Inspector:
    return opened(loaded.model).inspector()


@pytest.fixture
def session() -> Session:
    return Session()


@pytest.fixture
def run(models: Models, session: Session) -> RunRecord:
    return answered(models, "How are you today?", SAMPLE, session)


@pytest.fixture
def before(run: RunRecord) -> tuple[int, ...]:
    return run.ids[: run.first + TOKEN]


def test_the_last_layer_says_what_the_table_says(models: Models, session: Session, run: RunRecord) -> None:
    answer = ask(session, models, "lens", run)
    choices = [token.choice for token in run.tokens[run.first :]]
    assert answer["columns"] == ["0", "1", "2"] and answer["first"] == 0
    for row, choice in zip(answer["rows"], choices, strict=True):
        assert choice is not None and row["id"] == choice.token
        assert row["chosen"][-1] == pytest.approx(choice.probability, abs=1e-6)
        assert row["top"][-1] == choice.candidates[0].id


def test_every_layers_guesses_are_those_of_the_lens(
    models: Models, tiny: LoadedModel, session: Session, run: RunRecord
) -> None:
    answer = ask(session, models, "lens", run, middle=True)
    read = read_layers(inspector_of(tiny), run.ids, sublayers=True)
    assert answer["columns"] == list(read.columns) == ["0", "1 attention", "1", "2 attention", "2"]
    for number, row in enumerate(answer["rows"], start=run.first - 1):
        assert row["top"] == read.top[:, number].tolist()
        assert row["chosen"] == pytest.approx(read.chosen[:, number].tolist(), abs=1e-6)
        assert row["decided"] == read.decided[number]
    assert set(answer["labels"].values()) >= {tiny.tokenizer.label(row["id"]) for row in answer["rows"]}


def test_a_cell_opens_the_best_guesses_and_the_pinned_curves(
    models: Models, tiny: LoadedModel, session: Session, run: RunRecord, before: tuple[int, ...]
) -> None:
    answer = ask(session, models, "lens_cell", run, pinned=[7, 9])
    read = read_position(inspector_of(tiny), before, len(before) - 1, ids=(run.ids[len(before)], 7, 9))
    assert answer["top"] == read.top.tolist()
    assert answer["ids"] == [run.ids[len(before)], 7, 9]
    assert answer["curves"] == [pytest.approx(curve, rel=1e-3) for curve in read.curves.T.tolist()]
    with pytest.raises(AttendError, match="At most 3 tokens can be pinned"):
        ask(session, models, "lens_cell", run, pinned=[1, 2, 3, 4])
    with pytest.raises(AttendError, match="There is no token 400"):
        ask(session, models, "lens_cell", run, pinned=[400_000])


def test_words_are_left_out_one_at_a_time(
    models: Models, tiny: LoadedModel, session: Session, run: RunRecord, before: tuple[int, ...]
) -> None:
    chosen, rival = run.ids[len(before)], 11
    answer = ask(session, models, "words", run, chosen=chosen, rival=rival)
    label = tiny.tokenizer.label
    assert "".join(word["text"] for word in answer["words"]) == "".join(map(label, before))
    spans = spans_of(before, tiny.tokenizer)
    ordinary = [span for span in spans if not tiny.tokenizer.is_special(before[span[0]])]
    expected = leave_out(inspector_of(tiny), before, ordinary, chosen, rival).tolist()
    changes = [word["change"] for word in answer["words"] if word["change"] is not None]
    assert changes == pytest.approx(expected, rel=1e-3, abs=1e-6) and len(changes) < len(spans)


def test_words_by_hand(tiny: LoadedModel) -> None:
    ids = [tiny.tokenizer.special_token_id("<user>"), *tiny.tokenizer.encode("Hi! How are you, then?")]
    texts = ["".join(map(tiny.tokenizer.label, ids[slice(*span)])) for span in spans_of(ids, tiny.tokenizer)]
    assert texts == ["<user>", "Hi", "!", " How", " are", " you", ",", " then", "?"]


def test_parts_add_up_to_the_difference(
    models: Models, tiny: LoadedModel, session: Session, run: RunRecord, before: tuple[int, ...]
) -> None:
    chosen, rival = run.ids[len(before)], 11
    answer = ask(session, models, "parts", run, chosen=chosen, rival=rival)
    found = attribute_directly(inspector_of(tiny), before, chosen, rival)
    assert answer["total"] == pytest.approx(found.total, rel=1e-5)
    parts = answer["embedding"] + sum(map(sum, answer["sublayers"])) + answer["constant"]
    assert parts == pytest.approx(answer["total"], abs=2e-3)  # in four digits each
    assert answer["gap"] <= 1e-4
    assert found.heads is not None and np.array(answer["heads"]) == pytest.approx(found.heads.numpy(), rel=1e-3)
    for steps in (0, 30):
        inputs = ask(session, models, "inputs", run, chosen=chosen, rival=rival, steps=steps)
        scored = attribute_inputs(inspector_of(tiny), before, chosen, rival, steps=steps)
        assert inputs["scores"] == pytest.approx(scored.scores.tolist(), rel=1e-3, abs=1e-6)
        assert inputs["gap"] == pytest.approx(scored.gap, rel=0.05)


def cells_of(answer: dict[str, Any], heads: int, *, is_triangular: bool = True) -> Iterator[np.ndarray]:
    """The maps of all heads, as the page unpacks them; -1 where there is no cell."""
    packed = np.frombuffer(base64.b64decode(answer["cells"]), dtype=np.uint8)
    values = iter(np.stack([packed >> 4, packed & 15], axis=1).flatten().tolist())
    for _ in range(heads):
        cells = np.full((answer["rows"], answer["columns"]), -1)
        for row in range(answer["rows"]):
            for column in range(row + 1 if is_triangular else answer["columns"]):
                cells[row, column] = next(values)
        yield cells


def test_thumbnails_are_the_attention_and_labels_those_of_the_detector(
    models: Models, tiny: LoadedModel, session: Session, run: RunRecord
) -> None:
    answer = ask(session, models, "heads", run)
    attention = inspector_of(tiny).inspect(run.ids).attention.decoder[0]  # (L, H, T, T)
    assert (answer["layers"], answer["heads"], answer["block"]) == (2, 4, 1)
    for weights, cells in zip(attention.flatten(0, 1), cells_of(answer, 8), strict=True):
        shown = np.tril(cells / 15) ** 2
        assert np.abs(np.sqrt(shown) - weights.sqrt().numpy()).max() <= 1 / 30 + 1e-6
    labels = {token: tiny.tokenizer.label(token).strip(" ") for token in run.ids}
    marks = frozenset(token for token, label in labels.items() if label and not label.strip(string.punctuation))
    marks = frozenset(token for token in marks if not tiny.tokenizer.is_special(token))
    assert marks
    found = score_heads(attention, run.ids, marks)
    assert answer["patterns"] == list(PATTERNS) and answer["strongest"] == found.strongest().tolist()
    for name in ("previous", "duplicate", "first", "separators"):
        assert np.array(answer["scores"][name]) == pytest.approx(getattr(found, name).numpy(), rel=1e-3, abs=1e-6)
    induction = score_induction(inspector_of(tiny), seed=1)
    assert np.array(answer["scores"]["induction"]) == pytest.approx(induction.numpy(), rel=1e-3, abs=1e-6)


@pytest.mark.parametrize(("layers", "heads", "length"), [(6, 8, 128), (12, 12, 128), (30, 9, 128), (2, 4, 600)])
def test_thumbnails_of_any_model_fit_into_120_kb(layers: int, heads: int, length: int) -> None:
    attention = torch.rand(layers, heads, length, length, generator=torch.Generator().manual_seed(1)).tril()
    cells, block = thumbnails(attention, is_triangular=True)
    assert len(cells) <= 120_000 and math.ceil(length / block) <= 64
    side = math.ceil(length / block)
    first = next(cells_of({"cells": cells, "rows": side, "columns": side}, 1))
    assert first[-1, 0] == round(math.sqrt(attention[0, 0, (side - 1) * block :, :block].max()) * 15)


def test_a_head_opens_with_all_of_its_weights(
    models: Models, tiny: LoadedModel, session: Session, run: RunRecord
) -> None:
    answer = ask(session, models, "open_head", run, layer=1, head=3)
    weights = inspector_of(tiny).inspect(run.ids).attention.decoder[0, 1, 3]
    assert answer["rows_from"] == 0 and answer["offset"] == -run.first and answer["ids"] == list(run.ids)
    for query, row in enumerate(answer["rows"]):
        bytes_of = np.frombuffer(base64.b64decode(row), dtype=np.uint8)
        assert bytes_of.tolist() == [round(255 * math.sqrt(weight)) for weight in weights[query, : query + 1].tolist()]
    with pytest.raises(AttendError, match=r"no head 3\.1"):
        ask(session, models, "open_head", run, layer=2, head=0)


def test_a_table_without_a_head_is_that_of_the_changed_model(
    models: Models, tiny: LoadedModel, session: Session, run: RunRecord, before: tuple[int, ...]
) -> None:
    answer = ask(session, models, "switch_off", run, changes=[HEAD])
    logits = inspector_of(tiny).predictions([before] * 2, interventions=[[], [Intervention.of(HEAD)]])
    shares = logits.softmax(dim=-1)
    assert answer["before"] == pytest.approx(shares[0, answer["ids"]].tolist(), abs=1e-6)
    assert answer["after"] == pytest.approx(shares[1, answer["ids"]].tolist(), abs=1e-6)
    assert answer["before"] != answer["after"] and run.ids[len(before)] in answer["ids"]
    same = ask(session, models, "switch_off", run, changes=[{**HEAD, "action": "scale", "factor": 1.0}])
    assert same["after"] == pytest.approx(same["before"], abs=1e-6)


def test_the_text_is_written_again_with_the_same_draws(
    models: Models, tiny: LoadedModel, session: Session, run: RunRecord
) -> None:
    trace = trace_of(run)
    answer = ask(session, models, "write_without", run, changes=[HEAD])
    changed = opened(tiny.model).with_interventions([Intervention.of(HEAD)])
    steps = generate(changed, trace.request.prompt, trace.settings.strategy_for(trace.request))
    expected = replace(trace, steps=[]).collect(steps)
    assert answer["again"] == list(expected.ids) != answer["ids"] == list(trace.ids)
    first = next(number for number, (one, two) in enumerate(zip(trace.ids, expected.ids, strict=False)) if one != two)
    assert answer["first_difference"] == first
    same = ask(session, models, "write_without", run, changes=[{**HEAD, "action": "scale", "factor": 1.0}])
    assert same["again"] == same["ids"] and same["first_difference"] is None


def test_heads_are_ranked_with_progress(
    models: Models, tiny: LoadedModel, session: Session, run: RunRecord, before: tuple[int, ...]
) -> None:
    fields = {"run": run.id, "index": TOKEN}
    *reports, last = events.QUESTIONS["rank_heads"](Asked(session, models, fields))
    assert reports and reports[-1] == {"progress": (8, 8)} and "answer" in last
    *_, found = switch_off_each(inspector_of(tiny), before, run.ids[len(before)])
    assert np.array(last["answer"]["effects"]) == pytest.approx(found.effects.numpy(), rel=1e-3, abs=1e-6)


def test_a_translation_is_explained_from_its_source(tiny: LoadedModel, tiny_translator: LoadedModel) -> None:
    models = Models((tiny_translator.name,), lambda name, _: tiny_translator)
    session = Session()
    settings = DecodingSettings(strategy="greedy", max_new_tokens=9)
    to_the_end(translate.translate(session, models, tiny_translator.name, "Le chat est grand.", settings))
    assert session.translation is not None
    run = session.run(session.translation.answer.run)
    rows = ask(session, models, "lens", run)["rows"]
    for row, token in zip(rows, run.tokens[run.first :], strict=True):
        assert token.choice is not None and row["chosen"][-1] == pytest.approx(token.choice.probability, abs=1e-6)
    words = ask(session, models, "words", run)["words"]
    assert "".join(word["text"] for word in words) == " Le chat est grand.<end>"
    cross = ask(session, models, "heads", run, kind="cross")
    position = len(run.ids) - len(run.source)
    assert (cross["rows"], cross["columns"], cross["has_source"]) == (position, len(run.source), True)
    expected = inspector_of(tiny_translator).inspect(run.ids[len(run.source) :], source=run.source).attention.cross
    assert expected is not None
    first = next(cells_of(cross, 1, is_triangular=False))
    assert np.abs(first / 15 - expected[0, 0, 0].sqrt().numpy()).max() <= 1 / 30 + 1e-6
    head = ask(session, models, "open_head", run, kind="cross", layer=0, head=1)
    assert head["source"] == list(run.source) and len(head["rows"]) == position


@pytest.mark.skipif("attend-chat" not in names.embedded(), reason="attend-chat is not there")
def test_the_example_of_a_patch_finds_the_head_that_looks_the_name_up() -> None:
    loaded = catalog.load("attend-chat")
    models, session = Models((loaded.name,), lambda name, _: loaded), Session()
    run = answered(models, "My dog is called Tom. What is my dog called?", replace(SAMPLE, seed=5), session)
    form = ask(session, models, "patch_form", run)
    answer = ask(session, models, "patch_texts", run, **form["example"])
    heads, positions = np.array(answer["heads"]), np.array(answer["positions"])
    assert np.unravel_index(heads.argmax(), heads.shape) == (5, 6) and heads.max() > 0.2
    differing = [one != other for one, other in zip(answer["clean"], answer["corrupted"], strict=True)]
    name = differing.index(True)
    assert answer["clean"][name] == answer["answer"] == " Tom" and sum(differing) == 1
    assert positions[0, name] == pytest.approx(1, abs=0.05)  # the only place that differs
    assert positions[-1, -1] == pytest.approx(1, abs=1e-3)  # the last layer's stream is what is read
    assert answer["differences"][0] > 0 > answer["differences"][1]
    unequal = {**form["example"], "corrupted": "My dog is called Bartholomew. What is my dog called?"}
    refused = ask(session, models, "patch_texts", run, **unequal)
    assert refused["positions"] is None and len(refused["clean"]) < len(refused["corrupted"])


def test_what_cannot_be_asked(models: Models, session: Session, run: RunRecord) -> None:
    def refused(question: str, **fields: Any) -> str:
        with pytest.raises(AttendError) as error:
            list(events.QUESTIONS[question](Asked(session, models, {"run": run.id, "index": TOKEN, **fields})))
        return str(error.value)

    assert "Nothing predicted this token" in refused("lens", index=-1)
    assert "Nothing predicted this token" in refused("lens", index=9_999)
    assert "out of date" in refused("lens", index="1")
    assert "Both tokens are the same" in refused("parts", chosen=5, rival=5)
    assert "Nothing is switched off" in refused("switch_off", changes=[])
    assert "There is no layer 8" in refused("switch_off", changes=[{"layer": 7, "part": "layer"}])
    assert "no cross-attention" in refused("heads", kind="cross")
    assert "no longer open" in refused("lens", run="replay-1")
    assert "must be 0 or 30" in refused("inputs", steps=10_000)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("ui.inspector.why.asked.LONGEST", 3)
        assert "at most 3 of this model's" in refused("lens")
    session.begin()
    assert "still writing" in refused("lens")


def test_another_visitors_run_cannot_be_reached(models: Models, run: RunRecord) -> None:
    for question in events.QUESTIONS:
        with pytest.raises(AttendError, match="no longer stored"):
            ask(Session(), models, question, run, changes=[HEAD], steps=0)


def test_a_text_under_interventions_is_only_explained_by_its_own_layers(models: Models, tiny: LoadedModel) -> None:
    session = Session()
    run = written(models, session, "The quick", SAMPLE)
    trace = trace_of(run)
    run.trace = replace(trace, request=replace(trace.request, interventions=(Intervention.of(HEAD),)))
    read = read_layers(inspector_of(tiny), run.ids, interventions=run.interventions)
    answer = ask(session, models, "lens", run)
    assert answer["rows"][-1]["chosen"] == pytest.approx(read.chosen[:, len(run.ids) - 2].tolist(), abs=1e-6)
    with pytest.raises(AttendError, match="switched off"):
        ask(session, models, "parts", run)


def test_a_typed_text_is_explained_too(models: Models, tiny: LoadedModel, session: Session) -> None:
    write.preview(session, models, models.default, "The quick brown fox")
    run = session.run(session.draft.run)
    answer = ask(session, models, "lens", run)
    assert [row["id"] for row in answer["rows"]] == list(run.ids[run.first :])
    with pytest.raises(AttendError, match="steps behind this text are not stored"):
        ask(session, models, "write_without", run, changes=[HEAD])


def test_a_run_opened_from_a_file_is_explained_by_the_model_that_it_names(
    models: Models, session: Session, run: RunRecord
) -> None:
    expected = ask(session, models, "lens", run)
    _, saved = record.saved(session, models, run.id)
    other = Session()
    name = replay.opened(other, saved)["run"]
    fields = {"run": name, "index": TOKEN, "changes": [HEAD]}
    assert answer_to("lens", other, models, fields) == expected
    assert answer_to("write_without", other, models, fields) == ask(
        session, models, "write_without", run, changes=[HEAD]
    )
    forged = json.loads(saved)
    forged["prompt"]["ids"][0] = 399_999
    forged["labels"]["399999"] = "?"
    fields["run"] = replay.opened(other, json.dumps(forged))["run"]
    with pytest.raises(AttendError, match="can't have written the run"):
        list(events.QUESTIONS["lens"](Asked(other, models, fields)))
    fields["run"] = replay.opened(other, json.dumps({**forged, "model": "another"}))["run"]
    with pytest.raises(AttendError, match="another"):
        list(events.QUESTIONS["lens"](Asked(other, models, fields)))


def test_an_answer_ends_where_the_visitor_goes_on(models: Models, session: Session, run: RunRecord) -> None:
    data = {"question": "rank_heads", "turn": 3, "number": 1, "run": run.id, "index": TOKEN}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("model.inspection.inspector.BATCH", 1)  # one head a pass
        replies = events.replies(session, models, gr.EventData(None, data))
        assert next(replies) == {"progress": (1, 8)}
        session.causes = 4  # as `leave` does
        assert list(replies) == []
    assert "answer" in list(events.replies(session, models, gr.EventData(None, {**data, "turn": 5})))[-1]
