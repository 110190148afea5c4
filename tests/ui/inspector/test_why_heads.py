"""The questions of "Why?" about heads: thumbnails, parts switched off, a text written again, two texts patched."""

from __future__ import annotations

import base64
import math
import string
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from decoding.generate import generate
from model import catalog, names
from model.errors import AttendError
from model.inspection.ablation import switch_off_each
from model.inspection.heads import PATTERNS, score_heads, score_induction
from model.inspection.inspector import opened
from model.inspection.intervention import Intervention
from model.loaded import LoadedModel
from model.text.conversation import Message
from tests.conftest import make_checkpoint
from tests.ui.inspector.conftest import TOKEN
from tests.ui.inspector.test_trace import SAMPLE, answered, trace_of
from tests.ui.inspector.test_why import HEAD, ask, cells_of, inspector_of
from ui.inspector.why import why_events
from ui.inspector.why.heads import thumbnails
from ui.inspector.why.question import Question
from ui.runs.models import Models
from ui.runs.run import RunRecord
from ui.runs.session import Session


def test_thumbnails_are_the_attention_and_labels_those_of_the_detector(
    models: Models, tiny: LoadedModel, session: Session, run: RunRecord
) -> None:
    answer = ask(session, models, "heads", run)
    attention = inspector_of(tiny).inspect(run.ids).attention.decoder[0]  # (L, H, T, T)
    assert (answer["layers"], answer["heads"], answer["block"]) == (2, 4, 1)
    for weights, cells in zip(attention.flatten(0, 1), cells_of(answer, 8), strict=True):
        thumbnail = np.tril(cells / 15) ** 2
        assert np.abs(np.sqrt(thumbnail) - weights.sqrt().numpy()).max() <= 1 / 30 + 1e-6
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


def test_heads_of_a_model_with_a_short_context_are_scored(tmp_path: Path) -> None:
    narrow = catalog.load(str(make_checkpoint(tmp_path / "narrow", context_length=40)))
    models, session = Models((narrow.name,), lambda name, _: narrow), Session()
    answer = ask(session, models, "heads", answered(models, "Hi!", SAMPLE, session))
    induction = score_induction(inspector_of(narrow), seed=1, length=20)
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
    *reports, last = why_events.answered("rank_heads", Question(session, models, fields))
    assert reports and reports[-1] == {"progress": (8, 8)} and "answer" in last
    *_, expected = switch_off_each(inspector_of(tiny), before, run.ids[len(before)])
    assert np.array(last["answer"]["effects"]) == pytest.approx(expected.effects.numpy(), rel=1e-3, abs=1e-6)


@pytest.mark.skipif("attend-chat" not in names.embedded(), reason="attend-chat is not there")
def test_the_example_of_a_patch_finds_the_head_that_looks_the_name_up() -> None:
    loaded = catalog.load("attend-chat")
    models, session = Models((loaded.name,), lambda name, _: loaded), Session()
    run = answered(models, "My dog is called Tom. What is my dog called?", replace(SAMPLE, seed=5), session)
    form = ask(session, models, "patch_form", run)
    answer = ask(session, models, "patch_texts", run, **form["example"])
    heads, positions = np.array(answer["heads"]), np.array(answer["positions"])
    differing = [one != other for one, other in zip(answer["clean"], answer["corrupted"], strict=True)]
    name = differing.index(True)
    layer, head = np.unravel_index(heads.argmax(), heads.shape)
    begun = loaded.tokenizer.encode(form["example"]["beginning"], begins=True)
    clean = [*loaded.chat_prompt([Message("user", form["example"]["clean"])], reserve=1).ids, *begun]
    assert [loaded.tokenizer.label(token) for token in clean] == answer["clean"]
    weights = inspector_of(loaded).inspect(clean).attention.decoder[0, layer, head, -1]  # (T,)
    assert heads.max() > 0.2 and weights.argmax() == name  # the head that restores most looks at the name
    assert answer["clean"][name] == answer["answer"] == " Tom" and sum(differing) == 1
    assert positions[0, name] == pytest.approx(1, abs=0.05)  # the only place that differs
    assert positions[-1, -1] == pytest.approx(1, abs=1e-3)  # the last layer's stream is what is read
    assert answer["differences"][0] > 0 > answer["differences"][1]
    unequal = {**form["example"], "corrupted": "My dog is called Bartholomew. What is my dog called?"}
    refused = ask(session, models, "patch_texts", run, **unequal)
    assert refused["positions"] is None and len(refused["clean"]) < len(refused["corrupted"])


def test_an_answer_without_tokens_is_refused(
    models: Models, tiny: LoadedModel, session: Session, run: RunRecord, monkeypatch: pytest.MonkeyPatch
) -> None:
    encode = tiny.tokenizer.encode
    monkeypatch.setattr(tiny.tokenizer, "encode", lambda text, **options: encode(text.strip("\u200b"), **options))
    form = {"clean": "Hello", "corrupted": "Hi", "answer": "\u200b", "rival": "x"}
    with pytest.raises(AttendError, match=r"^The answer '\\u200b' has no tokens in this model: enter another answer"):
        ask(session, models, "patch_texts", run, **form)
