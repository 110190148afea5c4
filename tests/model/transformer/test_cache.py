"""Rows that share a prefix behave as if alone, whatever was selected, joined and fed before."""

import random

import pytest
import torch
from torch import Tensor

from model.compiled.prepare import prepare_for_decoding
from model.interface import Want
from model.transformer.cache import KeyValueCache
from model.transformer.config import Positions, TransformerConfig
from model.transformer.decoder import Transformer

CONTEXT = 96


def tiny(*, key_value_heads: int = 2, sliding_window: int = 0, positions: Positions = "rotary") -> Transformer:
    torch.manual_seed(0)
    config = TransformerConfig(
        vocabulary_size=40,
        context_length=CONTEXT,
        width=32,
        layers=2,
        heads=4,
        key_value_heads=key_value_heads,
        feed_forward_width=48,
        sliding_window=sliding_window,
        positions=positions,
    )
    return Transformer(config).eval()


def alone(model: Transformer, text: list[int]) -> tuple[Tensor, Tensor]:
    """The newest token's logits (V,) and attention (layers, heads, keys), from a pass without any cache."""
    forward = model.prefill(text, want=Want(attention=True))
    assert forward.attention is not None
    return forward.logits[0], forward.attention.decoder[0, :, :, -1]


@pytest.mark.parametrize("fast", [False, True])
@pytest.mark.parametrize(
    "kind",
    [
        {"key_value_heads": 1},
        {"key_value_heads": 4, "positions": "learned"},
        {"sliding_window": 20},
        {"positions": "sinusoidal"},
    ],
)
def test_branches_answer_as_if_alone(kind: dict, fast: bool) -> None:
    model = tiny(**kind)
    if fast:
        prepare_for_decoding(model)
    for seed in range(4):
        rng = random.Random(seed)
        prompt = [rng.randrange(40) for _ in range(rng.choice((3, 17, 40)))]
        texts, cache = [prompt], model.prefill(prompt).cache
        most_shared = 0
        for _ in range(40):
            rows = [rng.randrange(cache.rows)] * rng.randint(1, 5)  # of one origin: the past is shared
            if rng.random() < 0.8:
                rows = [rng.randrange(cache.rows) for _ in range(rng.randint(1, 5))]
            newest = [rng.randrange(40) for _ in rows]
            texts = [[*texts[row], token] for row, token in zip(rows, newest, strict=True)]
            forward = model.step(newest, cache.select(rows), want=Want(attention=True))
            cache = forward.cache
            most_shared = max(most_shared, cache.prefix_length)
            assert cache.length == len(texts[0])
            assert forward.attention is not None
            row = rng.randrange(len(rows))
            logits, attention = alone(model, texts[row])
            assert torch.allclose(forward.logits[row], logits, atol=1e-5)
            assert torch.allclose(forward.attention.decoder[row, :, :, -1], attention, atol=1e-6)
        assert most_shared > len(prompt)  # what was written after the prompt was shared, too


def test_every_branch_keeps_its_own_future() -> None:
    """Branches that later grow from the same columns, in any order, find them unchanged."""
    model = tiny()
    prompt = [token % 40 for token in range(30)]
    root = model.prefill(prompt).cache
    beams = root.select([0, 0, 0])
    assert beams.prefix_length == 30
    lines: list[tuple[list[list[int]], KeyValueCache]] = []
    for first in range(4):  # all grow out of the same shared and own columns
        cache, texts = (beams if first % 2 else root.select([0, 0, 0])), [list(prompt) for _ in range(3)]
        for position in range(20):
            fed = [(first + position + row) % 40 for row in range(3)]
            cache = model.step(fed, cache).cache
            texts = [[*text, token] for text, token in zip(texts, fed, strict=True)]
            if position == 18:  # one parent for all: its columns move to the shared ones
                cache, texts = cache.select([1, 1, 1]), [texts[1]] * 3
        lines.append((texts, cache))
    lines.append(([[*prompt, 7]], model.step([7], root).cache))
    for texts, cache in lines:
        assert cache.rows == len(texts)
        logits = model.step([5] * cache.rows, cache).logits
        for row, text in enumerate(texts):
            assert torch.allclose(logits[row], alone(model, [*text, 5])[0], atol=1e-5)


def test_shared_rows_join_others() -> None:
    model = tiny()
    long, short = [token % 40 for token in range(30)], [3, 1, 4]
    beams = model.step([1, 2], model.prefill(long).cache.select([0, 0])).cache
    assert beams.prefix_length == 30
    joined = beams.join(model.prefill(short).cache)
    logits = model.step([5, 6, 7], joined).logits
    for row, text in enumerate(([*long, 1, 5], [*long, 2, 6], [*short, 7])):
        assert torch.allclose(logits[row], alone(model, text)[0], atol=1e-5)
    again = joined.select([0, 0, 1])  # the padded row has left
    logits = model.step([8, 9, 10], again).logits
    for row, text in enumerate(([*long, 1, 8], [*long, 1, 9], [*long, 2, 10])):
        assert torch.allclose(logits[row], alone(model, text)[0], atol=1e-5)


def test_branching_copies_nothing_of_the_past() -> None:
    model = tiny()
    root = model.prefill([token % 40 for token in range(40)]).cache
    assert root.select([0] * 5).prefix_memory.data_ptr() == root.suffix_memory.data_ptr()
