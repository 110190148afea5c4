"""The attention of a long text, which is left out where it would take too much memory."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from decoding.settings import DecodingSettings
from model.interface import Inspection
from model.loaded import LoadedModel
from ui.runs import attention_rows
from ui.runs.attention_rows import explain, restore_attention
from ui.runs.models import Models
from ui.runs.run import RunRecord, TokenRecord
from ui.runs.session import Session
from ui.translate import translate_actions as translate
from ui.write import write_actions as write


def probabilities(tokens: list[TokenRecord]) -> list[float]:
    return [token.choice.probability for token in tokens if token.choice is not None]


def test_a_text_whose_attention_would_not_fit_is_explained_without(
    tiny: LoadedModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    ids = tiny.prompt("The quick brown fox jumps over the lazy dog.")
    whole, shape = explain(ids, tiny.model, tiny.lock, candidates=5)
    heads = shape[0] * shape[1]
    monkeypatch.setattr(attention_rows, "_SHORT", 4)
    monkeypatch.setattr(attention_rows, "_MAX_WEIGHTS", heads * len(ids) ** 2)
    assert explain(ids, tiny.model, tiny.lock, candidates=5)[0] == whole
    monkeypatch.setattr(attention_rows, "_MAX_WEIGHTS", heads * len(ids) ** 2 - 1)
    without, no_shape = explain(ids, tiny.model, tiny.lock, candidates=5)
    assert no_shape == (0, 0) and all(token.row is None for token in without)
    assert tuple(token.id for token in without) == ids
    assert probabilities(without) == pytest.approx(probabilities(whole), abs=1e-5)
    assert explain(ids, tiny.model, tiny.lock, candidates=5, known=without[:5])[0][:5] == without[:5]


def test_a_long_typed_text_is_never_inspected_whole(
    tiny: LoadedModel, models: Models, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(attention_rows, "_SHORT", 4)
    monkeypatch.setattr(attention_rows, "_MAX_WEIGHTS", 1)
    lengths: list[int] = []
    inspect = type(tiny.model).inspect

    def counted(model: Any, tokens: Sequence[int], *, source: Sequence[int] = ()) -> Inspection:
        lengths.append(len(tokens))
        return inspect(model, tokens, source=source)

    monkeypatch.setattr(type(tiny.model), "inspect", counted)
    session = Session()
    write.preview(session, models, models.default, "The quick brown fox jumps over")
    run = session.run(session.draft.run)
    assert lengths == [1] and len(run.tokens) > 4
    assert all(token.row is None for token in run.tokens) and len(probabilities(run.tokens)) == len(run.tokens) - 1


def test_attention_that_was_dropped_and_would_not_fit_stays_dropped(
    tiny: LoadedModel, models: Models, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = Session()
    write.preview(session, models, models.default, "The quick brown fox")
    run: RunRecord = session.run(session.draft.run)
    rows = [token.row for token in run.tokens]
    shape = run.shape
    run.forget_attention()
    monkeypatch.setattr(attention_rows, "_SHORT", 2)
    for claimed in (shape, (1, 1)):  # a document may claim any shape
        run.shape = claimed
        monkeypatch.setattr(attention_rows, "_MAX_WEIGHTS", shape[0] * shape[1] * len(run.tokens) ** 2 - 1)
        restore_attention(run, tiny.model, tiny.lock)
        assert all(token.row is None for token in run.tokens)
    monkeypatch.undo()
    restore_attention(run, tiny.model, tiny.lock)
    assert [token.row for token in run.tokens] == rows and run.shape == shape


def test_the_attention_of_a_long_translation_comes_back(
    tiny_translator: LoadedModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    session, models = Session(), Models((tiny_translator.name,), lambda *_: tiny_translator)
    settings = DecodingSettings(strategy="greedy", max_new_tokens=6)
    list(translate.translate(session, models, tiny_translator.name, "Le chat est grand.", settings))
    (run,) = session.runs.values()
    shape = run.shape
    run.forget_attention()
    monkeypatch.setattr(attention_rows, "_SHORT", 2)
    restore_attention(run, tiny_translator.model, tiny_translator.lock)
    assert all(token.row is not None for token in run.tokens[run.first :]) and run.shape == shape != (0, 0)
