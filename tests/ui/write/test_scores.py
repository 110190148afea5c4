"""The scored text of Write: its numbers are those of `attend.Model.score`, and it keeps to the limits of the page."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

import attend
from model.errors import AttendError
from model.loaded import LoadedModel
from ui.limits import Limits
from ui.models.select import leave
from ui.runs.models import Models
from ui.runs.session import Session
from ui.write.scores import answers
from ui.write.scores.answers import scored

SHORT = "The quick fox and the lazy dog. Über 狐."
LONG = "The quick brown fox jumps over the lazy dog. " * 24  # windows of the tiny models, which read 128 tokens


def last(replies: Iterator[Any]) -> dict[str, Any]:
    """The answer, as the page receives it."""
    *_, reply = replies
    return json.loads(json.dumps(reply["answer"]))


def score(models: Models, text: str, name: str = "") -> dict[str, Any]:
    return last(scored(Session.using(models.default), models, text, name, 1))


def page_of(*loaded: LoadedModel, limits: Limits = Limits()) -> Models:
    by_name = {one.name: one for one in loaded}
    return Models(tuple(by_name), lambda name, _: by_name[name], limits=limits)


@pytest.mark.parametrize("text", [SHORT, LONG])
@pytest.mark.parametrize("has_prefix", [True, False])
def test_the_numbers_are_those_of_a_program(tiny: LoadedModel, text: str, *, has_prefix: bool) -> None:
    loaded = tiny if has_prefix else replace(tiny, prefix_tokens=())
    answer, whole = score(page_of(loaded), text), attend.Model(loaded).score(text)
    assert (answer["perplexity"], answer["bits_per_byte"]) == (whole.perplexity, whole.bits_per_byte)
    assert answer["bits"] == pytest.approx(-whole.log_probability / math.log(2))
    assert [(token["id"], token["rank"]) for token in answer["tokens"]] == [
        (token.id, token.choice.rank) for token in whole.tokens
    ]
    surprises = [-math.log2(token.probability) for token in whole.tokens]
    assert [token["surprise"] for token in answer["tokens"]] == pytest.approx(surprises, rel=1e-5)
    assert (answer["total"], answer["ended"]) == (len(whole.tokens), "")


@pytest.mark.parametrize("has_prefix", [True, False])
def test_the_bytes_of_the_tokens_make_up_the_text(tiny: LoadedModel, *, has_prefix: bool) -> None:
    answer = score(page_of(tiny if has_prefix else replace(tiny, prefix_tokens=())), SHORT)
    assert (answer["skipped"] is None) == has_prefix
    first = 0 if has_prefix else answer["skipped"]["bytes"]
    assert first + sum(token["bytes"] for token in answer["tokens"]) == answer["bytes"] == len(SHORT.encode())


def test_only_a_text_longer_than_the_context_has_windows(models: Models) -> None:
    assert score(models, SHORT)["window"] is None
    answer = score(models, LONG)
    assert answer["window"] == {"context": 128, "before": 64}
    assert len(answer["tokens"]) > 2 * 128


def test_a_stopped_text_is_scored_up_to_there(models: Models) -> None:
    session, whole = Session.using(models.default), score(models, LONG)
    replies = scored(session, models, LONG, "", 1)
    assert [next(replies), next(replies)] == [{"progress": (0, whole["total"])}, {"progress": (64, whole["total"])}]
    session.scores = 2
    answer = last(replies)
    assert answer["ended"] == "stopped"
    assert answer["tokens"] == whole["tokens"][:64]
    assert list(scored(session, models, LONG, "", 1)) == [{"progress": (0, whole["total"])}]  # overtaken


def test_a_text_that_takes_too_long_is_scored_up_to_there(tiny: LoadedModel, monkeypatch: pytest.MonkeyPatch) -> None:
    times = iter([0.0, 9.0, 11.0])  # when it begins, and before each window but the first
    monkeypatch.setattr(answers, "monotonic", lambda: next(times))
    answer = score(page_of(tiny, limits=Limits(run_seconds=10)), LONG)
    assert (answer["ended"], len(answer["tokens"])) == ("late", 2 * 64)


def test_another_model_scores_the_same_text_and_stays_until_the_text_is_closed(
    models: Models, tiny: LoadedModel, tiny_writer: LoadedModel
) -> None:
    session = Session.using(tiny.name)
    own = last(scored(session, models, SHORT, "", 1))
    assert own["others"] == [{"name": tiny_writer.name, "title": tiny_writer.name}]
    assert session.model.scoring is None
    other = last(scored(session, models, SHORT, tiny_writer.name, 2))
    assert other["bits_per_byte"] == attend.Model(tiny_writer).score(SHORT).bits_per_byte
    assert session.model.scoring is tiny_writer
    leave(session)
    assert session.model.scoring is None


def test_another_model_is_loaded_first(tiny: LoadedModel, tiny_writer: LoadedModel) -> None:
    models = page_of(tiny, tiny_writer)
    replies: list[Any] = list(scored(Session.using(tiny.name), models, SHORT, tiny_writer.name, 1))
    assert replies[-1]["answer"]["model"] == tiny_writer.name
    waiting = [reply["loading"] for reply in replies if "loading" in reply]
    assert set(waiting) <= {tiny_writer.name}  # as often as it takes


def test_a_translator_is_no_choice(tiny: LoadedModel, tiny_translator: LoadedModel) -> None:
    models = page_of(tiny, tiny_translator)
    models.get(tiny_translator.name)
    assert score(models, SHORT)["others"] == []
    with pytest.raises(AttendError, match="can't score a text: choose a model that continues texts"):
        score(models, SHORT, tiny_translator.name)


def test_what_cannot_be_scored_is_refused(models: Models, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(AttendError, match="The text is empty"):
        score(models, " \n")
    with pytest.raises(AttendError, match="The text has 20,001 characters"):
        score(models, "x" * 20_001)
    with pytest.raises(AttendError, match="other is not on this machine: choose it in Settings first"):
        score(models, SHORT, "other")
    monkeypatch.setattr(answers, "MAX_TOKENS", 8)
    with pytest.raises(AttendError, match="at most 8 are scored here at once: score a part of it"):
        score(models, SHORT)


def test_a_single_token_without_one_before_it_is_refused(tiny: LoadedModel) -> None:
    with pytest.raises(AttendError, match="nothing to score"):
        score(page_of(replace(tiny, prefix_tokens=())), "a")
