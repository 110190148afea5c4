"""Penalties and bans: published and hand-computed numbers, transformers bit for bit, and slow definitions."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor
from transformers.generation.logits_process import (
    LogitsProcessor,
    MinNewTokensLengthLogitsProcessor,
    NoBadWordsLogitsProcessor,
    NoRepeatNGramLogitsProcessor,
    RepetitionPenaltyLogitsProcessor,
    SequenceBiasLogitsProcessor,
)

from decoding.processors import (
    BannedWords,
    Context,
    Dry,
    FrequencyPenalty,
    LogitBias,
    MinNewTokens,
    NoRepeatNgram,
    PresencePenalty,
    Processor,
    RepetitionPenalty,
    SuppressTokens,
)
from decoding.processors.rules import SequenceBias

NEVER = -math.inf


def after(
    processor: Processor, logits: list[float], prompt: tuple[int, ...], tokens: tuple[int, ...] = ()
) -> list[float]:
    return processor(torch.tensor([logits]), Context(prompt, (tokens,)))[0].tolist()


# --- by hand ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("processor", "logits", "prompt", "tokens", "expected"),
    [
        # tokens 0 and 1 are in the text: 3 / 2 and -1 * 2
        (RepetitionPenalty(2.0), [3.0, -1.0, 5.0], (0,), (1,), [1.5, -2.0, 5.0]),
        # the answer has 1 twice and 2 once: 0.5 * 2 and 0.5 * 1; the prompt's 0 costs nothing
        (FrequencyPenalty(0.5), [1.0, 1.0, 1.0, 1.0], (0, 0), (1, 2, 1), [1.0, 0.0, 0.5, 1.0]),
        (PresencePenalty(0.5), [1.0, 1.0, 1.0, 1.0], (0, 0), (1, 2, 1), [1.0, 0.5, 0.5, 1.0]),
        # transformers' own test of its filter: 1 1 and 1 2 are there, so 1 and 2 cannot follow 1
        (NoRepeatNgram(2), [0.0, 0.0, 0.0], (1, 1), (2, 1), [0.0, NEVER, NEVER]),
        # a banned word loses its last token only behind the others
        (BannedWords(((3,), (1, 2))), [0.0, 0.0, 0.0, 0.0], (0,), (1,), [0.0, 0.0, NEVER, NEVER]),
        (BannedWords(((3,), (1, 2))), [0.0, 0.0, 0.0, 0.0], (1,), (0,), [0.0, 0.0, 0.0, NEVER]),
        # no end before the least length, which the prompt is no part of
        (MinNewTokens(2, frozenset({0, 2})), [0.0, 0.0, 0.0], (1, 1, 1), (1,), [NEVER, 0.0, NEVER]),
        (LogitBias(((0, -100.0), (2, 1.5))), [1.0, 1.0, 1.0], (0,), (), [-99.0, 1.0, 2.5]),
        # the end of a sequence that is longer than the text is no beginning of the text: the other one counts once
        (SequenceBias.of((((0, 1, 2), 5.0), ((3, 3, 3, 2), 7.0))), [0.0] * 4, (0, 1), (), [0.0, 0.0, 5.0, 0.0]),
    ],
    ids=lambda value: getattr(value, "name", ""),
)
def test_each_does_what_it_says(
    processor: Processor, logits: list[float], prompt: tuple[int, ...], tokens: tuple[int, ...], expected: list[float]
) -> None:
    assert after(processor, logits, prompt, tokens) == expected


def test_dry_grows_with_the_repetition_and_stops_at_breakers() -> None:
    def dry(text: tuple[int, ...], breakers: tuple[int, ...] = ()) -> list[float]:
        return after(Dry(0.8, 1.75, 2, breakers.__contains__), [0.0] * 8, text)

    # "1 2 3 … 1 2": the last two stood before 3, and 2 is the allowed length: 0.8 * 1.75 ** 0
    assert dry((1, 2, 3, 5, 1, 2)) == pytest.approx([0, 0, 0, -0.8, 0, 0, 0, 0])
    # three of them: 0.8 * 1.75 ** 1 = 1.4
    assert dry((7, 1, 2, 3, 5, 7, 1, 2)) == pytest.approx([0, 0, 0, -1.4, 0, 0, 0, 0])
    assert dry((1, 2, 3, 5, 6, 2)) == [0.0] * 8  # only one: below the allowed length
    # a breaker inside leaves one token on its right, a breaker at the end none, and a breaker is never punished itself
    for breaker in (1, 2, 3):
        assert dry((1, 2, 3, 5, 1, 2), (breaker,)) == [0.0] * 8
    # a loop overlaps itself: of "1 1 1 1", three stood before, followed by 1: 1.75 ** (3 - 2)
    assert dry((1, 1, 1, 1)) == pytest.approx([0, -1.4, 0, 0, 0, 0, 0, 0])


# --- against transformers, bit for bit -------------------------------------------------------------------------------

VOCABULARY = 6
LOGITS = st.lists(
    st.lists(
        st.one_of(st.sampled_from([0.0, -0.0, 1.0, -1.0, 1e4, -1e4, NEVER]), st.floats(-30, 30, width=32)),
        min_size=VOCABULARY,
        max_size=VOCABULARY,
    ).filter(lambda row: max(row) > NEVER),
    min_size=1,
    max_size=3,
)
IDS = st.integers(0, VOCABULARY - 1)
TEXT = st.lists(IDS, min_size=1, max_size=12)


def check(ours: Processor, reference: LogitsProcessor, logits: list[list[float]], text: list[int], cut: int) -> None:
    """Each row has the text rotated by one more token. Where transformers removes every token, ours changes nothing."""
    cut = min(cut, len(text) - 1) + 1
    texts = [text[:cut] + text[cut:][row:] + text[cut:][:row] for row in range(len(logits))]
    before = torch.tensor(logits)
    expected: Tensor = reference(torch.tensor(texts), before.clone())  # type: ignore[arg-type]
    expected = torch.where(expected.amax(-1, keepdim=True) > NEVER, expected, before)
    context = Context(tuple(text[:cut]), tuple(tuple(row[cut:]) for row in texts))
    given_ = before.clone()
    assert torch.equal(ours(given_, context), expected)
    assert torch.equal(given_, before)  # processors are pure


@pytest.mark.parametrize(
    ("ours", "reference", "values"),
    [
        (RepetitionPenalty, RepetitionPenaltyLogitsProcessor, st.floats(0.5, 2.5)),
        (NoRepeatNgram, NoRepeatNGramLogitsProcessor, st.integers(1, 5)),
        (
            lambda words: BannedWords(tuple(map(tuple, words))),
            NoBadWordsLogitsProcessor,
            st.lists(st.lists(IDS, min_size=1, max_size=4), min_size=1, max_size=5),
        ),
        (  # what a generation config rules out as Marian's does
            lambda ids: SuppressTokens(frozenset(ids)),
            lambda ids: NoBadWordsLogitsProcessor([[token] for token in ids]),
            st.sets(IDS, min_size=1),
        ),
        (
            lambda biases: LogitBias(tuple(biases.items())),
            lambda biases: SequenceBiasLogitsProcessor([[[token], bias] for token, bias in biases.items()]),
            st.dictionaries(IDS, st.floats(-100, 100, width=32), min_size=1),
        ),
        (  # some sequences are longer than the text; sums of whole numbers are exact in any order
            lambda biases: SequenceBias.of(tuple(biases.items())),
            lambda biases: SequenceBiasLogitsProcessor([[list(ids), bias] for ids, bias in biases.items()]),
            st.dictionaries(
                st.lists(IDS, min_size=1, max_size=5).map(tuple), st.integers(-100, 100).map(float), min_size=1
            ),
        ),
    ],
    ids=["repetition", "n-grams", "banned words", "suppressed tokens", "biases", "biases of sequences"],
)
def test_each_is_that_of_transformers(
    ours: Callable[[Any], Processor], reference: Callable[[Any], LogitsProcessor], values: st.SearchStrategy[Any]
) -> None:
    @settings(max_examples=100, deadline=None)
    @given(LOGITS, TEXT, st.integers(0, 12), values)
    def compare(logits: list[list[float]], text: list[int], cut: int, value: Any) -> None:
        check(ours(value), reference(value), logits, text, cut)

    compare()


@settings(max_examples=80, deadline=None)
@given(LOGITS, TEXT, st.integers(0, 12), st.integers(0, 12), st.sets(IDS, min_size=1, max_size=VOCABULARY))
def test_the_least_length_is_that_of_transformers(
    logits: list[list[float]], text: list[int], cut: int, count: int, ends: set[int]
) -> None:
    reference = MinNewTokensLengthLogitsProcessor(min(cut, len(text) - 1) + 1, count, sorted(ends))
    check(MinNewTokens(count, frozenset(ends)), reference, logits, text, cut)


# --- against the slow and obvious ------------------------------------------------------------------------------------


@settings(max_examples=80, deadline=None)
@given(LOGITS, TEXT, st.lists(IDS, max_size=12), st.floats(-2, 2, width=32))
def test_frequency_and_presence_penalties_are_openais_formula(
    logits: list[list[float]], prompt: list[int], tokens: list[int], penalty: float
) -> None:
    """mu[j] -> mu[j] - count[j] * frequency - (count[j] > 0) * presence, as OpenAI's reference has it."""
    counts = Counter(tokens)
    context = Context(tuple(prompt), (tuple(tokens),) * len(logits))
    for stage, times in (
        (FrequencyPenalty(penalty), [counts[token] for token in range(VOCABULARY)]),
        (PresencePenalty(penalty), [int(counts[token] > 0) for token in range(VOCABULARY)]),
    ):
        expected = [[logit - time * penalty for logit, time in zip(row, times, strict=True)] for row in logits]
        assert torch.allclose(stage(torch.tensor(logits), context), torch.tensor(expected), atol=1e-5)


def slow_dry(text: list[int], breakers: set[int], multiplier: float, base: float, allowed: int) -> dict[int, float]:
    """For every token in the text: the longest suffix of the text that also precedes it somewhere."""
    penalties: dict[int, float] = {}
    for token in set(text) - breakers:
        longest = 0
        for index in (index for index in range(1, len(text)) if text[index] == token):
            length = 0
            while (
                length < min(index, 50)
                and text[index - 1 - length] == text[-1 - length]
                and text[-1 - length] not in breakers
            ):
                length += 1
            longest = max(longest, length)
        if longest >= allowed:
            penalties[token] = multiplier * base ** (longest - allowed)
    return penalties


@settings(max_examples=150, deadline=None)
@given(
    st.lists(st.integers(0, 3), min_size=1, max_size=80),
    st.sets(st.integers(0, 3), max_size=1),
    st.floats(0, 5),
    st.floats(1, 4),
    st.integers(1, 6),
)
def test_dry_is_its_definition(
    text: list[int], breakers: set[int], multiplier: float, base: float, allowed: int
) -> None:
    expected = torch.zeros(1, 4)
    for token, penalty in slow_dry(text, breakers, multiplier, base, allowed).items():
        expected[0, token] -= penalty
    for cut in (1, len(text)):
        context = Context(tuple(text[:cut]), (tuple(text[cut:]),))
        assert torch.equal(Dry(multiplier, base, allowed, breakers.__contains__)(torch.zeros(1, 4), context), expected)


def test_a_long_loop_stays_a_finite_penalty() -> None:
    result = Dry(5.0, 4.0, 1, lambda token: False)(torch.zeros(1, 3), Context((1,) * 4000, ((),)))
    assert float(result[0, 1]) == pytest.approx(-5.0 * 4.0**49) and bool(torch.isfinite(result).all())


# --- something always survives ---------------------------------------------------------------------------------------


def test_a_ban_that_would_leave_nothing_is_not_obeyed_in_that_row() -> None:
    logits = torch.tensor([[1.0, NEVER, 2.0], [1.0, 0.0, 2.0]])
    context = Context((5,), ((0, 2), (0, 2)))
    expected = torch.tensor([[1.0, NEVER, 2.0], [NEVER, 0.0, NEVER]])
    for ban in (NoRepeatNgram(1), BannedWords(((0,), (2,))), MinNewTokens(3, frozenset({0, 2, 77}))):
        assert torch.equal(ban(logits, context), expected)


def test_a_penalty_refuses_what_it_cannot_do() -> None:
    refused: list[tuple[Any, tuple[Any, ...]]] = [(Dry, (1.0, 1.75, 0, bool)), (Dry, (1.0, 0.5, 1, bool))]
    refused += [(RepetitionPenalty, (0.0,)), (NoRepeatNgram, (0,)), (BannedWords, (((),),))]
    for kind, values in refused:
        with pytest.raises(ValueError):
            kind(*values)
