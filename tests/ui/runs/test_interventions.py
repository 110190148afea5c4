"""Runs with a part of the model switched off: as generated directly, beside others, kept, opened again, continued."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
import torch

from decoding.call import DecodeCall
from decoding.generate import generate
from decoding.request import Request, RequestOptions
from decoding.run.run_document import InvalidDocument
from decoding.run.trace import Trace
from decoding.settings import DecodingSettings
from model.errors import AttendError
from model.inspection.inspector import opened
from model.inspection.intervention import Intervention
from model.loaded import LoadedModel
from tests.helpers.tiny import NumberedTokens
from tests.helpers.waiting import steps_of
from ui.chat import chat_actions as chat
from ui.chat.answering import answer_last
from ui.chat.conversation_value import conversation_value
from ui.inspector.toolbar import counterfactual as whatif
from ui.inspector.toolbar.replay import opened as opened_file
from ui.runs.answer_text import AnswerText
from ui.runs.attention_rows import attention_row, restore_attention
from ui.runs.documents.runs import parsed_run, read_run, run_document
from ui.runs.generation import run_for_program
from ui.runs.live_run import LiveRun
from ui.runs.models import Models
from ui.runs.run import RunRecord
from ui.runs.session import Session
from ui.runs.traces import new_trace
from ui.runs.versions.conversation import Turn
from ui.runs.versions.resume import resumed_trace, trace_from_here
from ui.write import write_actions as write
from ui.write.draft import draft_run

SAMPLE = DecodingSettings(temperature=1.5, seed=11, max_new_tokens=24)
OFF = (Intervention(1, "head", 2), Intervention(0, "feed_forward", action="scale", factor=40.0))


def direct(loaded: LoadedModel, prompt: tuple[int, ...], interventions: tuple[Intervention, ...]) -> Trace:
    """The plain way: the loop, over the changed model."""
    model = opened(loaded.model).with_interventions(interventions) if interventions else loaded.model
    request = Request.of(loaded, prompt)
    trace = Trace(loaded.name, "", request, SAMPLE, NumberedTokens())
    return trace.collect(generate(model, request.input_ids, SAMPLE.strategy_for(request)))


def draws(trace: Trace) -> list[float | None]:
    return [choice.draw for choice in trace.choices()]


def test_a_run_is_that_of_the_changed_model_with_the_same_draws(models: Models, tiny: LoadedModel) -> None:
    prompt = tiny.prompt("The quick")
    plain, expected = direct(tiny, prompt, ()), direct(tiny, prompt, OFF)
    trace = new_trace(tiny, prompt, SAMPLE, text="The quick", interventions=OFF)
    run_for_program(models, trace)
    assert trace.ids == expected.ids != plain.ids
    assert draws(trace) == draws(expected)
    shorter = min(len(plain.ids), len(trace.ids))
    assert draws(trace)[:shorter] == draws(plain)[:shorter]
    for choice, other in zip(trace.choices(), expected.choices(), strict=True):
        assert choice.probability == pytest.approx(other.probability, abs=1e-6)


def test_another_visitors_run_at_the_same_time_stays_as_it_is(models: Models, tiny: LoadedModel) -> None:
    prompt = tiny.prompt("The quick")
    visitors = {"a": OFF, "b": ()}
    calls = [
        DecodeCall(tiny.name, prompt, (SAMPLE,), RequestOptions(interventions=off), name)
        for name, off in visitors.items()
    ]
    running = [models.decode(call) for call in calls]
    passes: list[list[Any]] = [[], []]
    living = [0, 1]
    while living:  # one pass of each in turn
        for number in list(living):
            next_pass = next(running[number], "over")
            living.remove(number) if next_pass == "over" else passes[number].append(next_pass)
    for run_passes, off in zip(passes, (OFF, ()), strict=True):
        best = steps_of(run_passes)[-1].best
        assert best is not None and best.tokens == direct(tiny, prompt, off).ids


def kept_and_read(run: RunRecord, loaded: LoadedModel) -> RunRecord:
    document = run_document(run, loaded.tokenizer)
    document.pop("attention", None)
    kept = {"key": run.key, "dropped": 0, "layers": run.shape[0], "heads": run.shape[1], "run": document}
    return read_run(parsed_run(json.dumps(kept).encode()), "again", run.mode, loaded)


def written(models: Models, session: Session, tiny: LoadedModel, settings: DecodingSettings) -> RunRecord:
    """A text in Write that was generated under `OFF`, as one that was opened from the history is."""
    run = draft_run(session, tiny, "The quick")
    run.trace = trace_from_here(run.tokens, tiny, settings, text="The quick", interventions=OFF)
    steps = steps_of(models.decode(run.trace.call()))
    live = LiveRun(run, run.trace, AnswerText(tiny.tokenizer, prompt=run.trace.request.prompt, begins=True))
    live.add(steps)
    session.draft.text = tiny.tokenizer.decode(run.ids, begins=True)
    return run


def test_a_run_that_was_kept_is_opened_with_its_interventions(models: Models, tiny: LoadedModel) -> None:
    run = written(models, Session(), tiny, SAMPLE)
    document = json.loads(json.dumps(run_document(run, tiny.tokenizer)))
    assert document["interventions"] == [
        {"layer": 1, "part": "head", "head": 2, "action": "zero"},
        {"layer": 0, "part": "feed_forward", "action": "scale", "factor": 40.0},
    ]
    again = kept_and_read(run, tiny)
    assert again.interventions == OFF
    assert run_document(again, tiny.tokenizer)["interventions"] == document["interventions"]  # pyright: ignore[reportTypedDictNotRequiredAccess]
    restore_attention(again, tiny.model, tiny.lock)
    changed = opened(tiny.model).with_interventions(OFF).inspect(run.ids[:-1]).attention.decoder[0]
    last = len(run.tokens) - 1
    assert again.tokens[last].row == attention_row(changed[:, :, last - 1, :last])
    plain = tiny.model.inspect(run.ids[:-1]).attention.decoder[0]
    assert again.tokens[last].row != attention_row(plain[:, :, last - 1, :last])
    assert torch.allclose(plain[0], changed[0])  # the first layer attends before anything is changed


def test_what_if_and_continue_go_on_under_them(models: Models, tiny: LoadedModel) -> None:
    session = Session()
    whole = written(models, Session(), tiny, SAMPLE)
    begun = written(models, session, tiny, replace(SAMPLE, max_new_tokens=8))
    value = whatif.answer(session, models, begun.id, {})
    assert value["first_difference"] is None and len(value["tokens"]) == 8  # the model without them would choose others
    resumed = resumed_trace(begun, replace(SAMPLE, max_new_tokens=16))
    assert resumed is not None and resumed.request.options.interventions == OFF
    for _ in write.write(session, models, tiny.name, session.draft.text, replace(SAMPLE, max_new_tokens=16)):
        pass
    gone_on = session.run(session.draft.run)
    assert gone_on.ids == whole.ids and gone_on.interventions == OFF
    for _ in write.write(session, models, tiny.name, session.draft.text, replace(SAMPLE, top_k=3, max_new_tokens=4)):
        pass
    assert session.run(session.draft.run).interventions == OFF  # in a new trace, of other settings


def test_retry_writes_without_the_same_parts_and_says_so(models: Models, tiny: LoadedModel) -> None:
    session = Session()
    for _ in answer_last(session, models, tiny.name, [Turn("user", "Hi")], SAMPLE, system=None, interventions=OFF):
        pass
    session.run(session.turns[1].run).forget_trace()  # as the memory limit does; what was off is still known
    for _ in chat.retry(session, models, tiny.name, 1, replace(SAMPLE, seed=12)):
        pass
    run = session.run(session.turns[1].run)
    assert run.trace is not None and run.trace.settings.seed == 12
    strategy = run.trace.settings.strategy_for(run.trace.request)
    steps = generate(opened(tiny.model).with_interventions(OFF), run.trace.request.prompt, strategy)
    assert run.trace.ids == replace(run.trace, steps=[]).collect(steps).ids
    assert session.conversation.versions[1] == (1, 2)
    for version in (0, 1):
        session.conversation.show(1, version)
        assert conversation_value(session)["turns"][1].get("without") == "2.3, feed-forward 1 x 40"
    run.model = "another model"  # whose layers and heads are others
    for _ in chat.retry(session, models, tiny.name, 1, SAMPLE):
        pass
    assert session.run(session.turns[1].run).interventions == ()
    session.conversation.show(1, 0)  # behind which a new message is answered by the whole model
    for _ in chat.send(session, models, tiny.name, "And you?", SAMPLE):
        pass
    answers = conversation_value(session)["turns"][1::2]
    assert ["without" in answer for answer in answers] == [True, False]


@pytest.mark.parametrize(
    ("entry", "sentence"),
    [
        ({"part": "head", "head": 1, "action": "zero"}, "interventions.0.layer is missing"),
        ({"layer": 1, "part": "tail", "action": "zero"}, "interventions.0.part can't be 'tail'"),
        ({"layer": 1, "part": "layer", "action": "mean"}, "interventions.0.action can't be 'mean'"),
        ({"layer": 1, "part": "layer", "action": "scale", "factor": float("inf")}, "interventions.0.factor can't be"),
        ({"layer": 1, "part": "layer", "head": 2, "action": "zero"}, "name a head if the part is one, and only then"),
    ],
)
def test_a_document_with_impossible_interventions_is_refused(
    models: Models, tiny: LoadedModel, entry: dict[str, Any], sentence: str
) -> None:
    run = written(models, Session(), tiny, SAMPLE)
    document: Any = run_document(run, tiny.tokenizer)
    document["interventions"] = [entry]
    kept = {"key": "k", "dropped": 0, "layers": 0, "heads": 0, "run": document}
    with pytest.raises(InvalidDocument, match=sentence):
        read_run(parsed_run(json.dumps(kept).encode()), "again", "write", tiny)
    if "name a head" not in sentence:  # which is known once the model is there
        with pytest.raises(AttendError, match=sentence):
            opened_file(Session(), json.dumps(document), 1)


def test_parts_that_the_model_lacks_are_refused_before_anything_runs(tiny: LoadedModel) -> None:
    with pytest.raises(AttendError, match="There is no layer 3"):
        new_trace(tiny, tiny.prompt("The"), SAMPLE, text="The", interventions=(Intervention(2, "layer"),))
