"""The questions of "Why?": the numbers are those of `model.inspection`, and nobody reaches another visitor's run."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from decoding.request import RequestOptions
from decoding.settings import DecodingSettings
from model.causes.reading import words
from model.errors import AttendError
from model.inspection import lens
from model.inspection.attribution import attribute_directly, attribute_inputs
from model.inspection.inspector import Inspector, opened
from model.inspection.intervention import Intervention
from model.inspection.lens import read_layers, read_position
from model.inspection.words import leave_out
from model.loaded import LoadedModel
from tests.ui.inspector.conftest import TOKEN
from tests.ui.inspector.test_trace import SAMPLE, answered, to_the_end, trace_of, written
from ui.inspector.toolbar import record, replay
from ui.inspector.why import why_events
from ui.inspector.why.question import Question
from ui.runs.models import Models
from ui.runs.run import RunRecord
from ui.runs.session import Session
from ui.translate import translate_actions as translate
from ui.write import write_actions as write

HEAD = {"layer": 1, "part": "head", "head": 2, "action": "zero"}


def ask(session: Session, models: Models, question: str, run: RunRecord, **fields: Any) -> Any:
    return answer_to(question, session, models, {"run": run.id, "index": TOKEN, **fields})


def answer_to(question: str, session: Session, models: Models, fields: Mapping[str, Any]) -> Any:
    *_, last = why_events.answered(question, Question(session, models, fields))
    assert "answer" in last
    return json.loads(json.dumps(last["answer"]))


def inspector_of(loaded: LoadedModel) -> Inspector:
    return opened(loaded.model).inspector()


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


@pytest.mark.parametrize(("positions", "size"), [(0, 16), (17.5, 17)])
def test_of_a_long_answer_the_positions_around_the_token_are_read(
    models: Models, tiny: LoadedModel, session: Session, positions: float, size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The slow twin reads the whole answer."""
    run = answered(models, "How are you today?", replace(SAMPLE, max_new_tokens=40, min_new_tokens=40), session)
    whole = ask(session, models, "lens", run)
    assert whole["first"] == 0 and len(whole["rows"]) == whole["total"] == 40
    width = inspector_of(tiny).embed([0]).shape[-1]
    monkeypatch.setattr(lens, "_MULTIPLICATIONS", int(positions * 3 * tiny.model.vocabulary_size * width))
    for index, first in ((0, 0), (20, 20 - size // 2), (39, 40 - size)):
        part = answer_to("lens", session, models, {"run": run.id, "index": index})
        assert (part["first"], len(part["rows"]), part["total"]) == (first, size, 40)
        for row, expected in zip(part["rows"], whole["rows"][first : first + size], strict=True):
            assert (row["id"], row["top"], row["decided"]) == (expected["id"], expected["top"], expected["decided"])
            assert row["chosen"] == pytest.approx(expected["chosen"], rel=1e-4)


def test_a_text_that_fills_the_context_is_explained_up_to_the_last_token_that_was_read(
    models: Models, tiny: LoadedModel, session: Session
) -> None:
    run = answered(models, "Hello", replace(SAMPLE, max_new_tokens=128, min_new_tokens=128), session)
    last, context = len(run.ids) - run.first - 1, tiny.model.context_length
    assert len(run.ids) == context + 1  # of which the model never read the last one
    for index in (last - 1, last):
        fields = {"run": run.id, "index": index, "layer": 0, "head": 0}
        lens = answer_to("lens", session, models, fields)
        assert lens["rows"][-1]["id"] == run.ids[-2] and len(lens["rows"]) == lens["total"] - 1
        assert answer_to("lens_cell", session, models, fields)["ids"] == [run.ids[run.first + index]]
        heads, head = (answer_to(question, session, models, fields) for question in ("heads", "open_head"))
        assert heads["block"] * heads["rows"] >= context == head["rows_from"] + len(head["rows"])
        assert head["ids"] == list(run.ids)  # the last of which names the last row


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
    spans = words(tiny.tokenizer, before)
    ordinary = [span for span in spans if not tiny.tokenizer.is_special(before[span[0]])]
    *_, left_out = leave_out(inspector_of(tiny), before, ordinary, chosen, rival)
    expected = left_out.changes.tolist()
    changes = [word["change"] for word in answer["words"] if word["change"] is not None]
    assert changes == pytest.approx(expected, rel=1e-3, abs=1e-6) and len(changes) < len(spans)


def test_words_by_hand(tiny: LoadedModel) -> None:
    ids = [tiny.tokenizer.special_token_id("<user>"), *tiny.tokenizer.encode("Hi! How are you, then?")]
    texts = ["".join(map(tiny.tokenizer.label, ids[slice(*span)])) for span in words(tiny.tokenizer, ids)]
    assert texts == ["<user>", "Hi", "!", " How", " are", " you", ",", " then", "?"]


def test_parts_add_up_to_the_difference(
    models: Models, tiny: LoadedModel, session: Session, run: RunRecord, before: tuple[int, ...]
) -> None:
    chosen, rival = run.ids[len(before)], 11
    answer = ask(session, models, "parts", run, chosen=chosen, rival=rival)
    attribution = attribute_directly(inspector_of(tiny), before, chosen, rival)
    assert answer["total"] == pytest.approx(attribution.total, rel=1e-5)
    parts = answer["embedding"] + sum(map(sum, answer["sublayers"])) + answer["constant"]
    assert parts == pytest.approx(answer["total"], abs=2e-3)  # in four digits each
    assert answer["gap"] <= 1e-4
    assert attribution.heads is not None
    assert np.array(answer["heads"]) == pytest.approx(attribution.heads.numpy(), rel=1e-3)
    for steps in (0, 30):
        inputs = ask(session, models, "inputs", run, chosen=chosen, rival=rival, steps=steps)
        scored = attribute_inputs(inspector_of(tiny), before, chosen, rival, steps=steps)
        assert inputs["scores"] == pytest.approx(scored.scores.tolist(), rel=1e-3, abs=1e-6)
        assert inputs["gap"] == pytest.approx(scored.gap, rel=0.05, abs=1e-5)


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
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("ui.inspector.why.answers._GRADIENT_TOKENS", len(run.source) - 1)
        with pytest.raises(AttendError, match=f"has {len(run.source)} tokens, but gradients"):
            ask(session, models, "inputs", run, steps=0, index=0)


def test_what_cannot_be_asked(models: Models, session: Session, run: RunRecord) -> None:
    def refused(question: str, **fields: Any) -> str:
        with pytest.raises(AttendError) as error:
            list(why_events.answered(question, Question(session, models, {"run": run.id, "index": TOKEN, **fields})))
        return str(error.value)

    assert "Nothing predicted this token" in refused("lens", index=-1)
    assert "Nothing predicted this token" in refused("lens", index=9_999)
    assert "out of date" in refused("lens", index="1")
    assert "Both tokens are the same" in refused("parts", chosen=5, rival=5)
    assert "Nothing is switched off" in refused("switch_off", changes=[])
    assert "must be a list" in refused("switch_off", changes="all")
    assert "There are 1,001 interventions" in refused("switch_off", changes=[HEAD] * 1001)
    assert "There is no layer 8" in refused("switch_off", changes=[{"layer": 7, "part": "layer"}])
    assert "no cross-attention" in refused("heads", kind="cross")
    assert "no longer open" in refused("lens", run="replay-1")
    assert "must be 0 or 30" in refused("inputs", steps=10_000)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("ui.inspector.why.question.LONGEST", 3)
        assert "at most 3 of this model's" in refused("lens")
    session.begin()
    assert "still writing" in refused("lens")


def test_another_visitors_run_cannot_be_reached(models: Models, run: RunRecord) -> None:
    for question in why_events.QUESTIONS:
        with pytest.raises(AttendError, match="no longer stored"):
            ask(Session(), models, question, run, changes=[HEAD], steps=0)


def test_a_text_under_interventions_is_only_explained_by_its_own_layers(models: Models, tiny: LoadedModel) -> None:
    session = Session()
    run = written(models, session, "The quick", SAMPLE)
    trace = trace_of(run)
    options = RequestOptions(interventions=(Intervention.of(HEAD),))
    run.trace = replace(trace, request=replace(trace.request, options=options))
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
    name = replay.opened(other, saved, 1)["run"]
    fields = {"run": name, "index": TOKEN, "changes": [HEAD]}
    assert answer_to("lens", other, models, fields) == expected
    assert answer_to("write_without", other, models, fields) == ask(
        session, models, "write_without", run, changes=[HEAD]
    )
    forged = json.loads(saved)
    forged["prompt"]["ids"][0] = 399_999
    forged["labels"]["399999"] = "?"
    fields["run"] = replay.opened(other, json.dumps(forged), 2)["run"]
    with pytest.raises(AttendError, match="can't have written the run"):
        list(why_events.answered("lens", Question(other, models, fields)))
    fields["run"] = replay.opened(other, json.dumps({**forged, "model": "another"}), 3)["run"]
    with pytest.raises(AttendError, match="another"):
        list(why_events.answered("lens", Question(other, models, fields)))


def test_an_answer_ends_where_the_visitor_goes_on(models: Models, session: Session, run: RunRecord) -> None:
    fields = {"run": run.id, "index": TOKEN}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("model.inspection.inspector.BATCH", 1)  # one head a pass
        replies = why_events.answer(session, models, 3, "rank_heads", fields)
        assert next(replies) == {"progress": (1, 8)}
        why_events.go_on(session, 4)
        assert list(replies) == []
    assert "answer" in list(why_events.answer(session, models, 5, "rank_heads", fields))[-1]
