"""What a run document says of a run."""

from __future__ import annotations

import itertools
import json
import math
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from decoding.generate import generate
from decoding.request import Request, RequestOptions
from decoding.run.reader import checked, read_run_document, read_trace
from decoding.run.run_document import MAX_STEPS, InvalidDocument, RunDocument, StepEntry
from decoding.run.trace import Trace
from decoding.settings import DecodingSettings
from model.errors import AttendError
from tests.helpers.tiny import NumberedTokens, TinyModel, make_request, random_model, table_model


def trace_of(
    settings: DecodingSettings, *, model: TinyModel, request: Request | None = None, stop_after: int | None = None
) -> Trace:
    request, settings = request or make_request((3, 1), [2]), settings.seeded()
    strategy = settings.strategy_for(request)
    trace = Trace(
        model="tiny",
        prompt="3 1",
        request=request,
        settings=settings,
        tokenizer=NumberedTokens(),
    )
    return trace.collect(itertools.islice(generate(model, request.prompt, strategy), stop_after))


def test_the_document_is_as_designed() -> None:
    settings = DecodingSettings(temperature=0.7, top_k=5, top_p=0.9, seed=7, max_new_tokens=6, top_candidates=4)
    trace = trace_of(settings, model=random_model(12, seed=1), request=make_request((3, 1), []))
    assert "messages" not in trace.document()["prompt"]
    trace.messages = [{"role": "user", "content": "3 1"}]
    document = trace.document()
    assert checked(RunDocument, json.loads(json.dumps(document, allow_nan=False))) == document
    assert (document["schema"], document["model"]) == ("attend.trace/2", "tiny")
    assert document["prompt"] == {"text": "3 1", "ids": [3, 1], "messages": trace.messages}
    assert document["settings"] == settings.to_dict() and document["seed"] == 7
    assert document["text"] == " ".join(map(str, document["ids"])) and len(document["ids"]) == 6
    assert document["finish_reason"] == "length"
    assert document["labels"]["3"] == "<3>" and "search" not in document
    for token, step in zip(document["ids"], document["steps"], strict=True):
        check_step(step, token)
        assert step["stages"] == ["model", "temperature", "top_k", "top_p"]
        assert step["kept"][:3] == [12, 12, 5] and 1 <= step["kept"][3] <= 5
        assert step["draw"] is not None and 0 <= step["draw"] < 1


def test_the_control_tokens_of_the_text_are_named_but_not_those_of_other_candidates() -> None:
    """The control token is 1: in the prompt, written, or one of the candidates alone."""
    greedy = DecodingSettings(strategy="greedy", max_new_tokens=1, top_candidates=12)
    writes_it = table_model({(3,): {1: 5.0}}, 12)
    for model, prompt, special in ((random_model(12, seed=1), (1, 3), [1]), (writes_it, (3,), [1])):
        document = trace_of(greedy, model=model, request=make_request(prompt, [])).document()
        assert document.get("special") == special
    document = trace_of(
        greedy, model=table_model({(3,): {5: 5.0, 1: 4.0}}, 12), request=make_request((3,), [])
    ).document()
    assert "1" in document["labels"] and document.get("special") == []


def check_step(step: StepEntry, token: int) -> None:
    assert step["id"] == token
    candidates = step["candidates"]
    chosen = next(candidate for candidate in candidates if candidate["id"] == token)
    assert chosen["probabilities"][-1] > 0
    probabilities = [candidate["probabilities"][0] for candidate in candidates]
    assert probabilities == sorted(probabilities, reverse=True)
    if step["rank"] <= len(candidates):
        assert candidates[step["rank"] - 1] == chosen
    for stage in range(len(step["stages"])):
        total = sum(candidate["probabilities"][stage] for candidate in candidates) + step["rest"][stage]
        assert total == pytest.approx(1.0)
    for kept, mass, entropy in zip(step["kept"], step["mass"], step["entropy"], strict=True):
        assert 0 <= entropy <= math.log2(kept) + 1e-9
        assert 0 < mass <= 1
    assert step["mass"][0] == 1


def test_ids_end_with_the_end_token_when_it_ended_the_text() -> None:
    model = TinyModel(lambda text: [0.0, 1.0, 5.0 if len(text) == 4 else 0.0])
    document = trace_of(DecodingSettings(strategy="greedy"), model=model).document()
    assert (document["ids"], document["finish_reason"]) == ([1, 1, 2], "stop")


@pytest.mark.usefixtures("counted_seeds")
def test_a_run_that_was_stopped_is_a_cancelled_document() -> None:
    for strategy in ("greedy", "sample", "beam"):
        settings = DecodingSettings.from_dict({"strategy": strategy, "max_new_tokens": 20})
        trace = trace_of(settings, model=random_model(30, seed=1), request=make_request(), stop_after=3)
        assert trace.finish_reason == "cancelled"
        assert len(trace.ids) == len(trace.document()["steps"]) == 3
    nothing = trace_of(DecodingSettings(), model=random_model(30, seed=1), stop_after=0).document()
    assert (nothing["ids"], nothing["steps"], nothing["text"], nothing["finish_reason"]) == ([], [], "", "cancelled")


def test_under_beams_the_steps_are_those_of_the_returned_text() -> None:
    """Hypotheses may swap ranks on the way and may end before the last step."""
    earlier = 0
    for seed in range(30):
        settings = DecodingSettings(strategy="beam", num_beams=3, max_new_tokens=8, length_penalty=0.0)
        model, request = random_model(8, seed, scale=2), make_request((3, 1), [2, 5])
        trace = trace_of(settings, model=model, request=request)
        document = trace.document()
        assert len(document.get("search", [])) == len(trace.steps)
        earlier += len(document["ids"]) < len(trace.steps)
        rows = model.logits(request.prompt, document["ids"]).double().softmax(-1)
        for row, token, step in zip(rows, document["ids"], document["steps"], strict=True):
            check_step(step, token)
            share = next(each["probabilities"][0] for each in step["candidates"] if each["id"] == token)
            assert share == pytest.approx(float(row[token]), abs=1e-9)  # of this very path
    assert earlier > 0


@pytest.mark.parametrize("stop_after", [None, 3])
def test_a_search_names_parents_the_leading_text_and_those_returned(stop_after: int | None) -> None:
    settings = DecodingSettings(strategy="beam", num_beams=3, max_new_tokens=6, num_return_sequences=2)
    model, request = random_model(8, seed=4), make_request((3, 1), [2, 5])
    document = trace_of(settings, model=model, request=request, stop_after=stop_after).document()
    search = document.get("search", [])
    texts: list[list[tuple[int, ...]]] = []
    for entry in search:  # the parents alone say which tokens each text has
        before = texts[-1] if texts else [()]
        texts.append([(*before[beam["parent"]], beam["id"]) for beam in entry["beams"]])
        unfinished = [beam["finish_reason"] is None for beam in entry["beams"]]
        assert unfinished == sorted(unfinished, reverse=True)  # so that a parent is an index into them
    best = search[-1]["best"]
    assert best is not None and texts[best["step"]][best["index"]] == tuple(document["ids"])
    returned = [list(texts[place["step"]][place["index"]]) for place in search[-1]["returned"]]
    assert returned == [sequence["ids"] for sequence in document.get("sequences", [])]
    assert len(returned) == (0 if stop_after else 2)


def test_a_run_without_recorded_candidates_has_no_document() -> None:
    beams = DecodingSettings(strategy="beam", num_beams=2, max_new_tokens=3)
    request = replace(make_request((3, 1), [2]), options=RequestOptions(explained=False))
    bare = trace_of(beams, model=random_model(12, seed=1), request=request)
    with pytest.raises(AttendError, match=r"^The candidates for token \d+ were not recorded, .* explained=True\.$"):
        bare.document()


def test_more_tokens_than_a_run_can_have_are_not_read() -> None:
    """Each of its steps would hold all tokens before it: 100,000 steps, which fit into a page's document, 40 GB."""
    model, count = random_model(12, seed=1), MAX_STEPS + 1
    document = trace_of(DecodingSettings(strategy="greedy", max_new_tokens=1), model=model).document()
    document["ids"], document["steps"] = document["ids"] * count, document["steps"] * count
    loaded: Any = SimpleNamespace(model=model)
    with pytest.raises(InvalidDocument, match="it has 4,097 generated tokens, but a run has at most 4,096"):
        read_trace(read_run_document(document), loaded, "tiny")


@pytest.mark.parametrize("where", ["prompt", "labels", "candidates", "beams"])
def test_tokens_that_the_model_does_not_have_are_not_read(where: str) -> None:
    model = random_model(12, seed=1)
    settings = DecodingSettings(strategy="beam", num_beams=2, max_new_tokens=3, top_candidates=4)
    document: Any = trace_of(settings, model=model, request=make_request((3, 1), [])).document()
    entries = {
        "prompt": lambda: document["prompt"]["ids"].append(12),
        "labels": lambda: document["labels"].update({"12": "<12>"}),
        "candidates": lambda: document["steps"][0]["candidates"][-1].update(id=12),
        "beams": lambda: document["search"][0]["beams"][-1].update(id=12),
    }
    entries[where]()
    loaded: Any = SimpleNamespace(model=model)
    with pytest.raises(InvalidDocument, match="it has tokens that its model doesn't have"):
        read_trace(read_run_document(document), loaded, "tiny")
