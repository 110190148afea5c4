"""The block by hand: the lecture's numbers, the model's own passes, and every stage recomputed from its inputs."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
import torch
from torch import Tensor

from lesson.block import EMBEDDINGS, HEADS, PADDING, WIDTH, WORDS, BlockSettings, blocks_of, make_model
from lesson.forward_trace import ForwardTrace, Stage, trace_forward
from model.transformer.attention import ForwardContext


def rows(*lines: str) -> list[list[float]]:
    return [[float(number) for number in line.split()] for line in lines]


# ../shared/REFERENCE.md, "A whole block, by hand"; a half of the last decimal is the tolerance unless told otherwise.
PRINTED = {
    "embeddings": rows(
        "-0.25 0.86 -1.38 -0.87 -0.22 1.72",
        "-0.91 -0.66 2.22 0.52 0.35 -0.20",
        "-1.05 1.28 0.15 0.23 0.06 0.43",
    ),
    "positions": rows(
        "0.00 1.00 0.00 1.00 0.00 1.00",
        "0.84 0.54 0.05 1.00 0.00 1.00",
        "0.91 -0.42 0.09 1.00 0.00 1.00",
    ),
    "input": rows(
        "-0.25 1.86 -1.38 0.13 -0.22 2.72",
        "-0.07 -0.12 2.26 1.52 0.35 0.80",
        "-0.15 0.86 0.24 1.23 0.06 1.43",
    ),
    "self.queries": rows(
        "-1.56 -0.25 0.54 0.52 -1.31 0.27",
        "0.59 -0.46 -0.25 -0.73 0.47 0.19",
        "-0.39 -0.48 0.03 -0.16 -0.30 0.16",
    ),
    "self.keys": rows(
        "-1.18 -0.52 0.26 -1.79 0.32 -1.66",
        "-0.42 -0.70 -0.56 -0.01 0.32 -0.28",
        "-0.77 -0.69 0.09 -0.85 0.27 -0.96",
    ),
    "self.values": rows(
        "-1.63 0.85 -1.91 -0.47 0.25 -1.38",
        "0.24 0.34 0.32 -0.79 -0.95 -1.04",
        "-0.67 0.44 -0.80 -0.65 -0.41 -1.09",
    ),
    "self.added": rows(
        "-0.59 1.99 -0.86 0.38 0.18 3.10",
        "-0.41 0.02 2.79 1.77 0.76 1.19",
        "-0.48 0.99 0.77 1.48 0.47 1.81",
    ),
    "self.spread": rows(
        "0.70 1.41",
        "1.02 1.07",
        "0.84 0.74",
    ),
    "feed_forward.before": rows(
        "1.20 -0.85 -0.39 0.93 -0.70 -1.38",
        "-0.89 -0.40 1.10 0.47 0.11 0.31",
        "0.02 -0.81 0.24 0.99 -0.50 -0.89",
    ),
    "feed_forward.first_weights": rows(
        "0.31 0.20 -0.35 -0.07 -0.13 0.23",
        "0.15 0.34 -0.38 -0.29 -0.30 -0.28",
        "-0.28 0.21 0.17 -0.27 -0.07 0.21",
        "-0.40 0.10 -0.20 0.14 -0.20 0.19",
        "-0.33 0.00 -0.08 -0.12 -0.12 0.29",
        "0.30 -0.31 -0.23 0.25 -0.39 -0.31",
    ),
    "feed_forward.first_bias": rows(
        "0.29 -0.19 0.15 0.38 -0.06 0.00",
    ),
}
TOLERANCES = {
    "input": 0.011,  # the lecture adds positions that it rounded
    "self.added": 0.01,  # what it adds does not come exactly from what it printed of V
    "feed_forward.before": 0.03,  # the lecture's own
}


@pytest.fixture(scope="module")
def lecture() -> ForwardTrace:
    return trace_forward(BlockSettings())


def test_the_lecture_s_numbers_come_out(lecture: ForwardTrace) -> None:
    for name, printed in PRINTED.items():
        values = lecture[f"encoder.{name}"].values
        computed = values[0] if values.dim() == 3 else values  # of its only head
        difference = (computed - torch.tensor(printed)).abs().max()
        assert difference <= TOLERANCES.get(name, 0.00501), name


def test_the_lecture_s_words_have_their_ids(lecture: ForwardTrace) -> None:
    settings = BlockSettings()
    assert (settings.source, settings.decoder_input, settings.answer) == ((5, 8, 9), (0, 6, 3), (6, 3, 4))
    assert lecture["encoder.input"].rows == ("how", "are", "you")
    assert lecture["decoder.input"].rows == ("<sos>", "I", "am")
    assert lecture["output.losses"].rows == ("I", "am", "fine")
    assert len(WORDS) == 11


CHANGED = {
    "other words": {"source": (2, 8), "answer": (6, 7, 4, 1)},
    "one word": {"source": (9,), "answer": (6,)},
    "other embeddings": {"embeddings": tuple(tuple(-value for value in row) for row in EMBEDDINGS)},
    "other weights": {
        "key_weights": tuple(tuple(0.1 * (i - j) for j in range(WIDTH)) for i in range(WIDTH)),
        "first_bias": (1.0,) * WIDTH,
    },
}


@pytest.mark.parametrize(("heads", "changes"), [*zip(HEADS, CHANGED.values(), strict=True)])
def test_the_steps_end_with_the_logits_of_the_model(heads: int, changes: dict[str, Any]) -> None:
    settings = BlockSettings(heads=heads, **changes)
    model, traced = make_model(settings), trace_forward(settings)
    source, answer = torch.tensor([settings.source]), torch.tensor([settings.decoder_input])
    logits = model(source, answer)[0].detach()  # (T, V)
    torch.testing.assert_close(traced["output.logits"].values, logits)
    loss = torch.nn.functional.cross_entropy(logits, torch.tensor(settings.answer))
    assert traced.loss == pytest.approx(float(loss), abs=1e-5)
    attention = model.inspect(settings.decoder_input, source=settings.source).attention
    assert attention.cross is not None and attention.encoder is not None
    torch.testing.assert_close(traced["encoder.self.weights"].values, attention.encoder[0, 0])
    torch.testing.assert_close(traced["decoder.self.weights"].values, attention.decoder[0, 0])
    torch.testing.assert_close(traced["decoder.cross.weights"].values, attention.cross[0, 0])


def test_a_mask_in_the_encoder_is_the_block_s_own_causal_pass() -> None:
    settings = BlockSettings(heads=2, encoder_mask=True)
    traced, (encoder, _) = trace_forward(settings), blocks_of(make_model(settings))
    with torch.no_grad():
        hidden, weights = encoder(traced["encoder.input"].values, 0, ForwardContext(1, causal=True, capture=3))
    assert weights.to_text is not None
    torch.testing.assert_close(traced["encoder.feed_forward.normed"].values, hidden)
    torch.testing.assert_close(traced["encoder.self.weights"].values, weights.to_text[0])
    assert weights.to_text[0, :, 0].tolist() == [[1, 0, 0]] * 2  # the first word sees itself alone


def deal(values: Tensor, heads: int) -> Tensor:
    return torch.stack(values.chunk(heads, dim=1))


def normed(values: Tensor, spread: Tensor) -> Tensor:
    mean, deviation = spread.split(1, dim=1)
    return (values - mean) / (deviation**2 + 1e-5) ** 0.5


SLOWLY: dict[str, Callable[..., Tensor]] = {
    "add": lambda a, b: a + b,
    "product": lambda a, b, c=0: a @ b + c,
    "scores": lambda a, b: torch.stack([x @ y.T for x, y in zip(a, b, strict=True)]),
    "softmax": lambda a: a.exp() / a.exp().sum(-1, keepdim=True),
    "mix": lambda a, b: torch.stack([x @ y for x, y in zip(a, b, strict=True)]),
    "join": lambda a: torch.cat(list(a), dim=1),
    "spread": lambda a: torch.tensor([[row.mean(), (row - row.mean()).square().mean().sqrt()] for row in a]),
    "norm": normed,
    "relu": lambda a: a.clamp(min=0),
}


@pytest.mark.parametrize("heads", HEADS)
def test_every_stage_is_made_from_those_it_names(heads: int) -> None:
    settings = BlockSettings(heads=heads, encoder_mask=True)
    traced = trace_forward(settings)
    ids = {"encoder": settings.source, "decoder": settings.decoder_input}
    seen: set[str] = set()
    for stage in traced.stages:
        assert stage.name not in seen and seen.issuperset(stage.of)  # each from what stands before it
        seen.add(stage.name)
        of = [traced[name].values for name in stage.of]
        if stage.how == "look_up":
            expected = torch.tensor([settings.embeddings[id] for id in ids[stage.name.split(".")[0]]])
        elif stage.how == "heads":
            expected = deal(of[0] @ of[1], heads)
        elif stage.how == "scale":
            expected = of[0] / math.sqrt(WIDTH / heads)
        elif stage.how == "mask":
            expected = of[0].clone()
            for query in range(len(stage.rows)):
                expected[:, query, query + 1 :] = -math.inf
        elif stage.how == "loss":
            expected = -of[0][range(len(settings.answer)), settings.answer].log()[:, None]
        elif stage.how == "given":
            continue
        else:
            expected = SLOWLY[stage.how](*of)
        torch.testing.assert_close(stage.values, expected, msg=lambda message, stage=stage: f"{stage.name}: {message}")
    assert {stage.how for stage in traced.stages} >= {"look_up", "heads", "scale", "mask", "loss", "given", *SLOWLY}


def shape(stage: Stage) -> tuple[int, int]:
    return len(stage.rows) or stage.values.shape[-2], len(stage.columns) or stage.values.shape[-1]


def test_names_fit_the_matrices_and_padding_is_neither_a_word_nor_an_answer(lecture: ForwardTrace) -> None:
    settings = BlockSettings(source=(5, 8), answer=(6, 3, 4, 1), heads=3)
    for stage in trace_forward(settings).stages:
        assert shape(stage) == stage.values.shape[-2:], stage.name
    # padding has no embedding and is no answer
    assert make_model(BlockSettings()).embedding.weight[PADDING].tolist() == [0.0] * WIDTH
    assert lecture["output.logits"].values.shape == (3, PADDING)


def test_equal_inputs_give_equal_steps_and_changed_ones_do_not(lecture: ForwardTrace) -> None:
    again = trace_forward(BlockSettings())
    assert all(torch.equal(a.values, b.values) for a, b in zip(lecture.stages, again.stages, strict=True))
    first = (0.5, *BlockSettings().first_bias[1:])
    changed = trace_forward(replace(BlockSettings(), first_bias=first))
    before = changed["encoder.feed_forward.before"].values - lecture["encoder.feed_forward.before"].values
    assert before[:, 0].tolist() == pytest.approx([0.5 - 0.29] * 3) and float(before[:, 1:].abs().max()) == 0
