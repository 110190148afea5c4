"""The numbers of a comparison by hand, and its files."""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Sequence
from dataclasses import asdict, replace

import pytest

from decoding.request import RequestOptions
from decoding.run.trace import Trace
from decoding.settings import DecodingSettings
from decoding.step import CandidateRecord, Choice, Hypothesis, Step
from model.inspection.intervention import Intervention
from model.loaded import LoadedModel
from model.text.tokenizer import TextTokenizer
from tests.helpers.tiny import NumberedTokens, make_request
from tests.ui.compare.test_compare_cards import SEEDED, compared
from ui.compare.results import metrics
from ui.compare.running import update_cards
from ui.runs.answer_text import AnswerText
from ui.runs.comparison import Card, Comparison, Prompt
from ui.runs.generation import RunProgress
from ui.runs.live_run import LiveRun
from ui.runs.models import Models
from ui.runs.run import RunRecord, TokenRecord

# --- numbers ---------------------------------------------------------------------------------------------------------


class Letters(TextTokenizer):
    """Each of nine tokens is a letter."""

    def __init__(self) -> None:
        super().__init__([letter.encode() for letter in "abcdefghi"], {})

    def encode(self, text: str, *, begins: bool = False) -> list[int]:
        return ["abcdefghi".index(letter) for letter in text]


def card_of(
    tokens: Sequence[int],
    ranks: Sequence[int],
    probabilities: Sequence[float],
    bits: Sequence[float],
    options: RequestOptions = RequestOptions(),
) -> Card:
    """A finished card whose every number is given."""
    request = replace(make_request((0,)), options=options)
    trace = Trace("tiny", "0", request, SEEDED, NumberedTokens())
    run = RunRecord("compare-1", "chat", "tiny", [TokenRecord(0, "given")])
    live = LiveRun(run, trace, AnswerText(Letters()))
    live.seconds = 2.0
    total = 0.0
    for index, (token, rank, probability, entropy) in enumerate(zip(tokens, ranks, probabilities, bits, strict=True)):
        total += math.log(probability)
        candidate = CandidateRecord(token, (probability,))
        choice = Choice(token, rank, 0.5, ("model",), (9,), (candidate,), (1 - probability,), (1.0,), (entropy,))
        score = math.log(probability)
        reason = "length" if index == len(tokens) - 1 else None
        hypothesis = Hypothesis(tuple(tokens[: index + 1]), total, score, total, 0, choice, finish_reason=reason)
        live.add([Step((hypothesis,), best=hypothesis, returned=(hypothesis,) if reason else ())])
    card = Card(live.run, live.settings, 9, live)
    update_cards(Comparison("tiny", Prompt("0", (0,)), 9, True, (card,)), RunProgress((0,), "finished"))
    return card


def test_figures_by_hand() -> None:
    """Probabilities 1/2, 1/4, 1/2, 1/8: their logs sum to -7 ln 2, the mean is -1.75 ln 2, perplexity 2 ** 1.75.

    The pairs of 4 5 4 5 are (4 5), (5 4), (4 5): 2 of 3 differ. Ranks 1 2 1 3: half are the top. 4 tokens in 2 s.
    """
    card = card_of((4, 5, 4, 5), (1, 2, 1, 3), (0.5, 0.25, 0.5, 0.125), (1.0, 2.0, 3.0, 4.0))
    other = card_of((4, 5, 6), (1, 1, 1), (0.5, 0.5, 0.5), (1.0, 1.0, 1.0))
    numbers = metrics.card_metrics(card, other)
    assert numbers.tokens == 4 and numbers.tokens_per_second == 2.0
    assert numbers.mean_log_probability == pytest.approx(-1.75 * math.log(2))
    assert numbers.perplexity == pytest.approx(2**1.75)
    assert numbers.mean_entropy == 2.5
    assert numbers.distinct_2 == pytest.approx(2 / 3)
    assert numbers.top_share == 0.5
    assert numbers.first_difference == 2
    assert metrics.card_metrics(card, card).first_difference is None


def test_figures_of_next_to_nothing() -> None:
    nothing, one = card_of((), (), (), ()), card_of((4,), (1,), (0.5,), (1.0,))
    assert asdict(metrics.card_metrics(nothing, one)) == {
        "tokens": 0,
        "tokens_per_second": None,
        "mean_log_probability": None,
        "perplexity": None,
        "mean_entropy": None,
        "distinct_2": None,
        "top_share": None,
        "first_difference": None,
    }
    assert metrics.card_metrics(one, nothing).distinct_2 is None


def test_a_model_with_a_part_switched_off_has_no_speed() -> None:
    """Its passes are inspected ones, so a number would say nothing about the text."""
    options = RequestOptions(interventions=(Intervention(0, "layer"),))
    card = card_of((4, 5), (1, 2), (0.5, 0.25), (1.0, 2.0), options)
    numbers = metrics.card_metrics(card, card)
    assert numbers.tokens_per_second is None and numbers.tokens == 2


def test_the_first_difference() -> None:
    assert metrics.first_difference((1, 2, 3), (1, 2, 3)) is None
    assert metrics.first_difference((1, 2), (1, 2, 3)) is None  # it only ends earlier
    assert metrics.first_difference((4, 2, 3), (1, 2, 3)) == 0
    assert metrics.first_difference((1, 2, 4), (1, 2, 3)) == 2


def test_figures_of_a_real_run_agree_with_scoring_the_text(models: Models, tiny: LoadedModel) -> None:
    """The model's own log-probabilities, whatever temperature and filters chose."""
    comparison = compared(models, [replace(SEEDED, temperature=0.6, top_k=5), replace(SEEDED, temperature=1.5)])
    for card, numbers in zip(comparison.cards, metrics.all_metrics(comparison), strict=True):
        scores = tiny.model.logits(comparison.prompt.ids, card.ids).double().log_softmax(-1)  # (tokens, V)
        log_probabilities = [float(row[token]) for row, token in zip(scores, card.ids, strict=True)]
        bits = float(-(scores.exp() * scores).sum(-1).mean()) / math.log(2)
        assert numbers.mean_log_probability == pytest.approx(sum(log_probabilities) / len(log_probabilities), abs=1e-5)
        assert numbers.mean_entropy == pytest.approx(bits, abs=1e-5)
        tops = [int(row.argmax()) == token for row, token in zip(scores, card.ids, strict=True)]
        assert numbers.top_share == pytest.approx(sum(tops) / len(tops))


# --- files -----------------------------------------------------------------------------------------------------------


def test_the_document_holds_every_run(models: Models) -> None:
    comparison = compared(models, [SEEDED, DecodingSettings(strategy="beam", num_beams=2, max_new_tokens=4)])
    document = json.loads(json.dumps(metrics.document(comparison), allow_nan=False))
    assert document["schema"] == "attend.compare/1" and document["common_draws"] is True
    assert document["prompt"] == {"text": "The quick", "ids": list(comparison.prompt.ids)}
    for card, exported in zip(comparison.cards, document["cards"], strict=True):
        assert exported["trace"] == json.loads(json.dumps(card.trace.document()))
        assert exported["text"] == exported["trace"]["text"] and exported["tokens"] == len(exported["trace"]["ids"])
        assert DecodingSettings.from_dict(exported["settings"]) == card.settings


def test_the_table_reads_back(models: Models) -> None:
    comparison = compared(models, [SEEDED, replace(SEEDED, temperature=0.5)], text='say "a, b"\nand')
    rows = list(csv.DictReader(io.StringIO(metrics.table(comparison))))
    assert [row["card"] for row in rows] == ["1", "2"]
    assert [(row["model"], row["prompt"]) for row in rows] == [(comparison.model, 'say "a, b"\nand')] * 2
    assert [float(row["temperature"]) for row in rows] == [1.0, 0.5]
    for row, card, numbers in zip(rows, comparison.cards, metrics.all_metrics(comparison), strict=True):
        assert int(row["tokens"]) == len(card.ids) and row["finish_reason"] == card.trace.finish_reason
        assert float(row["perplexity"]) == numbers.perplexity
        assert row["text"] in (card.trace.text, f"'{card.trace.text}")
    assert rows[0]["first_difference"] == ""  # card 1 is what the others are held against


@pytest.mark.parametrize("text", ["=1+1", " =1+1", "+x", "-x", "@x", "\t=x", "\n=x"])
def test_no_text_is_a_formula_in_a_spreadsheet(text: str, models: Models) -> None:
    comparison = compared(models, [replace(SEEDED, max_new_tokens=1)] * 2)
    comparison.prompt = replace(comparison.prompt, text=text)
    for card in comparison.cards:
        card.text = text
    rows = list(csv.DictReader(io.StringIO(metrics.table(comparison))))
    assert [row[name] for row in rows for name in ("text", "prompt")] == [f"'{text}"] * 4
    assert metrics.document(comparison)["cards"][0]["text"] == text
