"""The chapters on the small transformer: their results for the page, and the requests they refuse."""

from __future__ import annotations

import json
import math
import re
from functools import partial
from typing import Any

import pytest
import torch

from lesson.block import WORDS, BlockSettings
from lesson.forward_trace import trace_forward
from lesson.training import StepSettings, train
from tests.ui.learn.asking import NONE
from tests.ui.learn.asking import ask as course_asked
from tests.ui.learn.asking import refusal as course_refusal

ask, refusal = partial(course_asked, NONE), partial(course_refusal, NONE)


def test_the_steps_arrive_complete_and_in_order() -> None:
    result, traced = ask("block"), trace_forward(BlockSettings())
    sent_stages = {name: value for name, value in result.items() if isinstance(value, dict) and "how" in value}
    assert list(sent_stages) == [stage.name for stage in traced.stages]
    assert result["loss"] == pytest.approx(traced.loss, abs=0.0005)
    for stage in traced.stages:
        sent = sent_stages[stage.name]
        assert (sent["how"], sent["of"], sent["rowNames"] or []) == (stage.how, list(stage.of), list(stage.rows))
        values = torch.tensor(sent["rows"]) if stage.how != "mask" else stage.values
        torch.testing.assert_close(values, stage.values, rtol=0, atol=0.0006)
    assert [row.count(None) for row in result["decoder.self.masked"]["rows"][0]] == [
        2,
        1,
        0,
    ]  # minus infinity, which JSON cannot tell


@pytest.mark.parametrize("chapter", ["block", "training"])
def test_an_answer_is_a_valid_question(chapter: str) -> None:
    first = ask(chapter)
    assert ask(chapter, **first["inputs"]) == first


def test_what_was_changed_is_answered_with_what_it_changed() -> None:
    inputs = ask("block")["inputs"]
    inputs["embeddings"][5][0] = 3.5
    result = ask("block", **{**inputs, "source": [5, 5], "heads": 3, "encoder_mask": True})
    assert [row[0] for row in result["encoder.embeddings"]["rows"]] == [3.5, 3.5]
    assert len(result["encoder.self.weights"]["rows"]) == 3
    assert result["encoder.self.masked"]["rows"][2][0][1] is None
    assert result["inputs"]["heads"] == 3 and result["inputs"]["embeddings"][5][0] == 3.5


def test_the_largest_value_is_small_to_send() -> None:
    largest = ask("block", source=[5, 8, 9, 5, 8], answer=[6, 3, 4, 1, 2], heads=6, encoder_mask=True)
    assert len(json.dumps(largest, separators=(",", ":"))) < 41_000
    assert len(json.dumps(ask("block"), separators=(",", ":"))) < 25_000
    widest = ask("training", matrix="encoder attention in", step=3)
    assert len(json.dumps(widest, separators=(",", ":"))) < 17_000


def test_a_step_arrives_as_it_was_computed() -> None:
    result, step = ask("training", step=2, learning_rate=0.05), train(StepSettings(step=2, learning_rate=0.05))
    assert result["losses"] == pytest.approx(step.losses, rel=1e-3)
    assert result["norms"] == pytest.approx(dict(step.norms), rel=1e-3)
    assert [position["read"] for position in result["positions"]] == [[0], [0, 6], [0, 6, 3]]
    for name, values in (
        ("gradient", step.update.gradient),
        ("second_before", step.update.second_before),
        ("second", step.update.second),
        ("after", step.update.after),
    ):
        assert result["update"][name]["rows"] == [pytest.approx(row, rel=1e-3) for row in values.tolist()]


def test_rows_and_columns_are_named_where_they_have_names() -> None:
    words = ask("training", matrix="embedding")
    gradient = words["update"]["gradient"]
    assert gradient["rowNames"] == list(WORDS) and len(gradient["rows"]) == len(WORDS)
    joint = ask("training", matrix="cross-attention keys, values")
    columns = joint["update"]["gradient"]["columnNames"]
    assert (columns[0], columns[-1]) == ("K 0", "V 5") and len(joint["update"]["gradient"]["rows"][0]) == len(columns)


@pytest.mark.parametrize("numbers", [(3, 3, 3), (3, 3, -3), (-3, -3, 3), (0, -3, 3), (-3, 3, 0)])
def test_the_chain_rule_can_be_read_for_all_numbers(numbers: tuple[float, ...]) -> None:
    """Without an infinity, a minus zero or an exponent with an e."""
    number = re.compile(r"(0|−?(0\.\d+|[1-9]\d{0,5}(\.\d+)?))( · 10\^\(−?\d+\))?")
    result = ask("training", chain=[numbers])
    cells = [cell["formula"] for row in result["chain_rows"] for cell in (row[1], row[3]) if cell]
    cells.append(result["nudged"]["formula"])
    assert len(cells) == 10 and all(map(number.fullmatch, cells))


@pytest.mark.parametrize("step", [1, 30])
def test_a_probability_is_sent_so_exactly_that_it_says_the_loss(step: int) -> None:
    for position in ask("training", step=step)["positions"]:
        loss = -math.log(position["probabilities"][position["target"]])
        assert loss == pytest.approx(position["loss"], abs=5e-4, rel=1e-3)  # the loss is sent with four digits


@pytest.mark.parametrize(
    ("inputs", "message"),
    [
        (
            {"source": "how"},
            "Source is 'how', but must be a list of 1 to 5 whole numbers from 0 to 9, the ids of words.",
        ),
        ({"source": [5, 8.5]}, "Source is [5, 8.5], but must be a list"),
        ({"source": [[5]]}, "Source is [[5]], but must be a list"),
        ({"source": []}, "Source is [], but must be a list"),
        ({"answer": [6] * 6}, "Answer is [6, 6, 6, 6, 6, 6], but must be a list"),
        ({"answer": [10]}, "Answer is [10], but must be a list"),
        ({"answer": [6, -1]}, "Answer is [6, -1], but must be a list"),
        ({"heads": True}, "Heads is True, but must be one of 1, 2, 3, 6."),
        ({"heads": 4}, "Heads is 4, but must be one of 1, 2, 3, 6."),
        ({"encoder_mask": 1}, "The encoder's mask is 1, but must be true or false."),
        (
            {"first_bias": [[1000, 0, 0, 0, 0, 0]]},
            "First bias can't contain 1000: each must be a number from −100 to 100.",
        ),
        ({"first_bias": [[float("nan"), 0, 0, 0, 0, 0]]}, "First bias can't contain nan: each must be a number from"),
        ({"embeddings": [[0.0] * 6]}, "Embeddings must have 10 rows of 6 numbers: reload the page to start again."),
        ({"query_weights": [[0.0] * 5] * 6}, "Query weights must have 6 rows of 6 numbers: reload the page"),
    ],
)
def test_what_no_block_can_be_is_refused(inputs: dict[str, Any], message: str) -> None:
    assert refusal("block", **inputs).startswith(message)


@pytest.mark.parametrize(
    ("inputs", "message"),
    [
        ({"step": 101}, "Step is 101, but must be a whole number from 1 to 100."),
        ({"step": "2"}, "Step is '2', but must be a whole number from 1 to 100."),
        ({"step": 0}, "Step is 0, but must be a whole number from 1 to 100."),
        ({"learning_rate": float("nan")}, "Learning rate is nan, but must be a number from 0.000001 to 1."),
        ({"learning_rate": 0}, "Learning rate is 0, but must be a number from 0.000001 to 1."),
        ({"matrix": ["x"]}, "Matrix is"),
        ({"matrix": "W9"}, "Matrix is 'W9', but must be one of embedding, "),
        ({"answer": []}, "Answer is [], but must be a list"),
        ({"chain": [[20, 20, -2]]}, "20 is too large: each number must be from −3 to 3."),
    ],
)
def test_what_no_training_can_be_is_refused(inputs: dict[str, Any], message: str) -> None:
    assert refusal("training", **inputs).startswith(message)


_DEEP: list[Any] = []
for _ in range(10_000):
    _DEEP = [_DEEP]


@pytest.mark.parametrize(
    ("chapter", "inputs", "message"),
    [
        ("positions", {"length": 129}, "Length is 129, but must be a whole number from 2 to 128."),
        ("positions", {"width": 2.5}, "Width is 2.5, but must be a whole number"),
        ("positions", {"position": 3, "shift": -4}, "Shift is -4, but must be a whole number from -3 to 64."),
        ("positions", {"compared": 10**400}, "Compared is a very large number, but must be a whole number"),
        ("positions", {"length": _DEEP}, "Length is a deeply nested value, but must be a whole number"),
        ("attention", {"similarities": [[1, -0.1]]}, "The similarities are 1 and -0.1, but division"),
        ("attention", {"similarities": [[0, 0]]}, "The similarities are 0 and 0, but division"),
        ("attention", {"vectors": ["ab", "cd"]}, "Vectors can't contain 'a': each must be a number"),
        (
            "attention",
            {"vectors": [["x" * 3_000, 1], [0, 1]]},
            "Vectors can't contain '" + "x" * 36 + "...: each must be a number",
        ),
        ("attention", {"vectors": [[None, 1], [0, 1]]}, "Vectors can't contain an empty cell: each must be a number"),
        (
            "attention",
            {"vectors": [[1e9, 1], [0, 1]]},
            "Vectors can't contain 1000000000.0: each must be a number from −1,000,000 to 1,000,000.",
        ),
        (
            "attention",
            {"weighted": [[1, 2]]},
            "Weighted must have 2 rows of 3 numbers: reload the page to start again.",
        ),
        ("attention_by_hand", {"scores": [[float("inf")] * 4] * 4}, "Scores can't contain inf: each must be a number"),
        ("attention_by_hand", {"scores": [[_DEEP] * 4] * 4}, "Scores can't contain a deeply nested value: each"),
        ("attention_by_hand", {"mask": "true"}, "Mask is 'true', but must be one of none, later, padding."),
        ("attention_by_hand", {"words": "it"}, "The text has 1 word, but this table needs 3: change it."),
        ("attention_by_hand", {"asking": 4}, "Asking is 4, but must be a whole number from 1 to 3."),
        ("attention", {"sentence": ["dog", "cat"]}, "Sentence is ['dog', 'cat'], but must be text"),
        ("attention", {"sentence": "dog \ud83d"}, "The text contains half a character"),
        ("attention", {"sentence": "dog"}, "The sentence has 1 word, but must have 2 to 10"),
    ],
)
def test_what_no_table_can_be_is_refused(chapter: str, inputs: dict[str, Any], message: str) -> None:
    assert refusal(chapter, **inputs).startswith(message)


def test_attention_begins_with_the_lectures_numbers() -> None:
    """../shared/REFERENCE.md, "Attention, by hand"; the six scores and their context vector are of Raschka's book."""
    first = ask("attention")
    assert (first["pair"], first["division"]) == (
        "apple fruit",
        {"weights": [[0.8, 0.2]], "vector": [[4.0, 7.2]], "sum": "0.80 · (5, 7) + 0.20 · (0, 8) = (4.00, 7.20)"},
    )
    phone = ask("attention", pair="apple phone", similarities=[[1, 1 / 9]], vectors=[[5, 7], [6, 0]])
    assert (phone["division"]["weights"], phone["division"]["vector"]) == ([[0.9, 0.1]], [[5.1, 6.3]])
    share = 1 / (1 + math.exp(0.25 - 1))  # softmax of 1 and .25
    assert first["softmax"]["weights"][0] == pytest.approx([share, 1 - share], abs=5e-5)
    assert first["score_sum"] == "0.7 · 0.8 + 0.3 · 0.2 = 0.62"
    assert first["products"][0] == [0.56, 0.14]  # 0.7 · (0.8, 0.2)
    six = first["six_scored"]
    assert six["scores"][0] == pytest.approx([0.9544, 1.4950, 1.4754, 0.8434, 0.7070, 1.0865], abs=6e-5)
    assert six["weights"][0] == pytest.approx([0.1385, 0.2379, 0.2333, 0.1240, 0.1082, 0.1581], abs=6e-5)
    assert six["context"][0] == pytest.approx([0.4419, 0.6515, 0.5683], abs=6e-5)


def test_attention_by_hand_begins_with_the_lectures_numbers() -> None:
    """../shared/REFERENCE.md, "Attention, by hand"; tests/lesson/attention/ has the mask's rows."""
    first = ask("attention_by_hand")
    assert first["scaling.scaled"] == [[14, 12]]
    assert first["scaling.weights"][0] == pytest.approx([0.88, 0.12], abs=0.005)
    assert first["scaling.unscaled"][0][0] == pytest.approx(1, abs=2e-6)  # e^-16
    assert [row.count(None) for row in first["masking.mask"]] == [3, 2, 1, 0]
    assert first["masking.weights"][0] == [1, 0, 0, 0]
    student = first["cross"]["weights"][3]
    assert student == pytest.approx([0.15, 0.05, 0.8], abs=0.005)
    # 0.15 · (1, 0) + 0.05 · (0, 1) + 0.8 · (2, 2) = (1.75, 1.65)
    assert first["cross_sum"].startswith("0.15 · je + 0.05 · suis + 0.80 · étudiant = ")
    assert first["cross_sum"].endswith(" = (1.75, 1.65)")


def test_five_steps_follow_what_the_reader_enters() -> None:
    """With W_q = W_k = W_v = 1 and word vectors (2, 0), (0, 2) and (1, 1), "street" scores 0, 4 and 2."""
    one = [[1, 0], [0, 1]]
    result = ask("attention_by_hand", query_weights=one, key_weights=one, value_weights=one, asking=2)
    assert result["steps"]["scores"][1] == [0, 4, 2]
    powers = [math.exp(score / math.sqrt(2)) for score in (0, 4, 2)]
    shares = [power / sum(powers) for power in powers]
    assert result["steps"]["weights"][1] == pytest.approx(shares, rel=1e-3)
    assert result["steps"]["output"][1] == pytest.approx(
        [2 * shares[0] + shares[2], 2 * shares[1] + shares[2]], rel=1e-3
    )
    assert result["score_sum"] == "animal: 0 · 2 + 2 · 0 = 0; street: 0 · 0 + 2 · 2 = 4; it: 0 · 1 + 2 · 1 = 2"
    powers_written = {"formula": "e^(0.00) + e^(2.83) + e^(1.41)"}
    assert result["weight_sum"][:5] == ["animal: ", {"formula": "e^(0.00)"}, " / (", powers_written, ") = 0.05"]
    assert [row[3]["bar"] for row in result["entries"]] == pytest.approx(shares)
    assert [row[3]["bar"] for row in ask("attention_by_hand", sharpness=0)["entries"]] == pytest.approx([1 / 3] * 3)


def test_positions_begin_with_the_papers_numbers() -> None:
    """../shared/REFERENCE.md, "A whole block, by hand": positions 0, 1 and 2 in width 6, pair by pair."""
    printed = [[0, 1, 0, 1, 0, 1], [0.84, 0.54, 0.05, 1, 0, 1], [0.91, -0.42, 0.09, 1, 0, 1]]
    for position, row in enumerate(printed):
        turns = ask("positions", width=6, position=position, shift=2 - position)["turns"]
        assert [number for turn in turns for number in turn["before"]] == pytest.approx(row, abs=0.00501)
        for name in ("turned", "after"):
            assert [number for turn in turns for number in turn[name]] == pytest.approx(printed[2], abs=0.00501)


def test_the_smallest_similarities_still_weigh() -> None:
    """1e-50 is zero in single precision, where its share of itself would be no number."""
    result = ask("attention", similarities=[[3e-50, 1e-50]])
    assert result["division"]["weights"] == [[0.75, 0.25]]
    assert result["division"]["vector"] == [[0.75 * 5 + 0.25 * 0, 0.75 * 7 + 0.25 * 8]]
