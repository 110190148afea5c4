"""A mixture of experts, four caches and weights in 8 bits: the papers' numbers, and plain arithmetic."""

from __future__ import annotations

import math

import pytest
import torch

from lesson.parts.continuations import judge
from lesson.parts.modern import DEEPSEEK, MIXTRAL, cache_kinds, round_weights, route
from model.loaded import LoadedModel


def test_only_the_best_experts_count() -> None:
    routing = route([1, 3, 0, 2], [5, 10, 7, 30], 2)
    first = 1 / (1 + math.exp(2 - 3))
    assert routing.weights.tolist() == pytest.approx([0, first, 0, 1 - first])
    assert routing.output == pytest.approx(10 * first + 30 * (1 - first))
    assert route([1, 3, 0, 2], [5, 10, 7, 30], 1).output == 10
    every = torch.tensor([1.0, 3, 0, 2]).softmax(0)
    assert route([1, 3, 0, 2], [5, 10, 7, 30], 4).weights.tolist() == pytest.approx(every.tolist())


def test_mixtral_has_the_parameters_of_its_paper() -> None:
    """Jiang et al., 2024: "each token has access to 47B parameters, but only uses 13B active parameters"."""
    assert round(MIXTRAL.parameters(MIXTRAL.experts) / 1e9) == 47
    assert round(MIXTRAL.parameters(MIXTRAL.used) / 1e9) == 13


def test_the_latent_cache_is_as_small_as_its_paper_says() -> None:
    """DeepSeek-V2, 2024, section 2.1.4: 4.5 head widths, "equal to GQA with only 2.25 groups"; groups: 2 n_g d_h."""
    every, groups, one, latent = cache_kinds(**DEEPSEEK).values()
    width = DEEPSEEK["head_width"]
    assert latent == 4.5 * width == 2 * 2.25 * width
    assert (every, groups, one) == (2 * 128 * width, 2 * 8 * width, 2 * width)


def test_weights_in_8_bits_are_off_by_half_a_step_at_most() -> None:
    """127 is the largest weight; 0.5 / 0.01 = 50, and −0.004 is rounded to nothing."""
    rounded = round_weights([0.5, -1.27, 0.013, -0.004])
    assert rounded.codes.tolist() == [50, -127, 1, 0] and rounded.scale == pytest.approx(0.01)
    weights = torch.randn(32, generator=torch.Generator().manual_seed(8))
    rounded = round_weights(weights.tolist())
    assert rounded.restored.tolist() == pytest.approx((rounded.codes * rounded.scale).tolist())
    assert (rounded.restored - weights).abs().max() <= rounded.scale / 2 + 1e-7
    assert round_weights([0.0] * 4).restored.tolist() == [0.0] * 4


def test_a_continuation_is_as_probable_as_its_tokens_one_by_one(tiny: LoadedModel) -> None:
    (judged,) = judge(tiny, "Once upon a time", ["there was a fox"])
    read, total = list(tiny.prompt("Once upon a time")), 0.0
    tokens = tiny.tokenizer.encode(" there was a fox")
    for token in tokens:
        total += tiny.model.inspect(read).logits[-1].double().log_softmax(dim=-1)[token].item()
        read.append(token)
    assert judged.tokens == len(tokens) and judged.log == pytest.approx(total, abs=1e-3)
