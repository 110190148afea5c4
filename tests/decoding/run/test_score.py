"""Scored texts: each token once, exactly, in one pass or in windows."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import pytest
import torch

from decoding.run import scoring
from decoding.run.score import score_text, score_windows
from decoding.run.scoring import Window, windows
from model.errors import AttendError
from model.loaded import LoadedModel
from tests.helpers.waiting import eventually

SIZES = [(10, 1, 20, 20), (50, 1, 8, 4), (50, 3, 8, 7), (9, 9, 4, 2)]


@pytest.mark.parametrize(("length", "scored", "room", "stride"), SIZES)
def test_windows_score_each_token_once_with_as_much_before_it_as_fits(
    length: int, scored: int, room: int, stride: int
) -> None:
    passes = [*windows(length, scored, room, stride)]
    assert [token for each in passes for token in range(each.scored, each.end)] == [*range(scored, length)]
    for each in passes:
        assert each.end - each.first <= room and each.first < each.scored
        assert each.first == 0 or each.end - each.first == room
    assert [*windows(50, 1, 8, 4)][:2] == [Window(0, 1, 5), Window(1, 5, 9)]


def by_hand(loaded: LoadedModel, ids: list[int], token: int, first: int) -> float:
    """One token's log-probability behind those from `first` on, in a pass of its own."""
    before = [*loaded.prefix_tokens, *ids[first:token]]
    return float(loaded.model.logits(before, ids[token : token + 1]).log_softmax(dim=-1)[0, ids[token]])


def test_a_text_in_one_pass(tiny: LoadedModel) -> None:
    text = "The quick fox and the dog."
    ids, scored = tiny.tokenizer.encode(text, begins=True), score_text(tiny, text)
    expected = [by_hand(tiny, ids, token, 0) for token in range(len(ids))]
    document = scored.document()
    assert [each["log_probability"] for each in document["tokens"]] == pytest.approx(expected, abs=1e-5)
    assert document["log_probability"] == pytest.approx(sum(expected), abs=1e-4)
    assert document["perplexity"] == pytest.approx(math.exp(-sum(expected) / len(ids)), rel=1e-4)
    assert document["bits_per_byte"] == pytest.approx(-sum(expected) / math.log(2) / len(text), rel=1e-4)
    assert document["text"] == text and [each["id"] for each in document["tokens"]] == ids


@pytest.mark.parametrize("stride", [0, 10])
def test_a_text_longer_than_the_context_is_read_in_windows(tiny: LoadedModel, stride: int) -> None:
    text = "The quick fox and the dog. " * 40
    ids, room = tiny.tokenizer.encode(text, begins=True), tiny.model.context_length + 1 - len(tiny.prefix_tokens)
    assert len(ids) > 2 * tiny.model.context_length
    scored = score_text(tiny, text, stride=stride)
    assert [choice.token for choice in scored.choices] == ids
    chosen = stride or tiny.model.context_length // 2
    for token in (0, 5, chosen, 3 * chosen + 2, len(ids) - 1):
        end = min(len(ids), (token // chosen + 1) * chosen)  # of its window
        expected = by_hand(tiny, ids, token, max(0, end - room))
        assert math.log(scored.choices[token].probability) == pytest.approx(expected, abs=1e-4)


def test_a_translation_is_scored_behind_its_source(tiny_translator: LoadedModel) -> None:
    ids = tiny_translator.tokenizer.encode("Le chien 2 est grand.", begins=True)
    source = tiny_translator.prompt("Le chat 1 est petit.")
    logits = tiny_translator.model.logits(source, ids).log_softmax(dim=-1)
    scored = score_text(tiny_translator, "Le chien 2 est grand.", prompt="Le chat 1 est petit.")
    assert scored.log_probability == pytest.approx(float(logits[range(len(ids)), ids].sum()), abs=1e-4)
    with pytest.raises(AttendError, match="is a translator: give the source text"):
        score_text(tiny_translator, "Le chien.")


def test_nothing_to_score_is_refused_and_the_perplexity_of_the_all_but_impossible_is_a_number(
    tiny: LoadedModel,
) -> None:
    with pytest.raises(AttendError, match="There is nothing to score in ''"):
        score_text(tiny, "")
    scored = score_text(tiny, "fox")
    never = [choice.chosen._replace(probabilities=(0.0,)) for choice in scored.choices]
    choices = tuple(replace(choice, candidates=(one,)) for choice, one in zip(scored.choices, never, strict=True))
    assert 1e300 < replace(scored, choices=choices).perplexity < math.inf


class _Counting:
    """A lock that counts how often it was held."""

    held = 0

    def __enter__(self) -> None:
        self.held += 1

    def __exit__(self, *failure: object) -> None:
        pass


@pytest.mark.parametrize("piece", [1, 7, 256])
def test_a_text_read_in_pieces_is_scored_as_in_one_pass(
    tiny: LoadedModel, monkeypatch: pytest.MonkeyPatch, piece: int
) -> None:
    monkeypatch.setattr(scoring, "_PIECE", piece)
    ids = [*tiny.prefix_tokens, *tiny.tokenizer.encode("The quick fox and the dog. " * 4, begins=True)][:31]
    for prefix, scored in itertools.product((0, 1), (1, 2, 9, 30)):
        lock = _Counting()
        passes = [*scoring.predictions(tiny.model, ids, scored=scored, prefix=prefix, lock=lock)]
        assert [token for tokens, _ in passes for token in tokens] == ids[scored:]
        expected = tiny.model.logits(ids[:scored], ids[scored:])
        assert torch.allclose(torch.cat([logits for _, logits in passes]), expected, atol=1e-4)
        turns = -(-(scored - 1) // piece) + -(-(len(ids) - scored) // piece)  # between which others get theirs
        assert lock.held == turns, (prefix, scored)


def test_of_many_long_texts_only_some_keep_a_cache(tiny: LoadedModel, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scoring, "_PIECE", 16)
    begun, read_on, scoring_lock = list[bool](), tiny.model.extend_logits, tiny.scoring  # type: ignore[attr-defined]

    def counted(tokens: Sequence[int], cache: Any = None) -> Any:
        begun.append(cache is None)
        return read_on(tokens, cache)

    monkeypatch.setattr(tiny.model, "extend_logits", counted)
    long, short = "The quick fox and the dog. " * 4, "The fox."
    alone = score_text(tiny, long)
    begun.clear()
    with ThreadPoolExecutor(scoring_lock.slots + 3) as threads:
        started = [score_windows(tiny, long) for _ in range(scoring_lock.slots)]
        for each in started:
            next(each)  # a first piece, whose cache waits for the second
        others = [threads.submit(score_text, tiny, long) for _ in range(3)]
        eventually(lambda: scoring_lock.waiting == 3)
        impatient = score_windows(tiny, long)
        assert next(impatient).choices == ()  # it waits, and may be closed
        assert scoring_lock.waiting == 4
        impatient.close()
        assert scoring_lock.waiting == 3
        score_text(tiny, short)  # waits for nobody
        kept = begun.count(True) - 1
        started.pop().close()  # its visitor has left
        choices = [other.result().choices for other in others]
    assert kept == scoring_lock.slots
    assert [*choices, [*started[0]][-1].choices] == [alone.choices] * 4


def test_short_texts_are_read_together_and_scored_as_each_alone(tiny: LoadedModel) -> None:
    lengths = (5, 1, 9, 2, 31, 31, 31, 400, 3)
    ids = [*tiny.prefix_tokens, *tiny.tokenizer.encode("The quick fox and the dog. " * 90, begins=True)]
    texts = [ids[at : at + length] for at, length in enumerate(lengths)]
    batches = [*scoring.batches(tiny.model, texts)]
    assert [text for batch in batches for text in batch] == texts
    # 512 tokens a pass, padding included: a text of one token has nothing to predict, one of 400 leaves no room
    assert [len(batch) for batch in batches] == [1, 1, 5, 1, 1]
    for batch in batches:
        for text, passes in zip(batch, scoring.predictions_together(tiny.model, batch), strict=True):
            parts = [*passes]
            assert [token for tokens, _ in parts for token in tokens] == text[1:]
            if len(text) > 1 and len(text) <= tiny.model.context_length:
                logits = torch.cat([logits for _, logits in parts])
                assert torch.allclose(logits, tiny.model.logits(text[:1], text[1:]), atol=1e-4)
