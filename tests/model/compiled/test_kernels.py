"""Each kernel against PyTorch's operation, in double precision."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import torch
from torch import nn

from model.compiled.arrays import ACTIVATIONS, Norm, empty, memory_for_weights
from model.compiled.dense import DenseMatrix
from model.compiled.kernels import activate, exp, normalize, rotate, softmax
from model.compiled.matrix import PackedLinear, multiply, read_outputs
from model.jit import compiled
from model.transformer.config import Activation
from model.transformer.layers import ACTIVATIONS as FUNCTIONS
from model.transformer.positions import rotary_tables
from model.transformer.positions import rotate as slow_rotate


def random(*shape: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


@pytest.mark.parametrize(("inputs", "outputs"), [(32, 96), (600, 33), (5, 7), (1, 1)])
def test_a_product_equals_the_exact_one(inputs: int, outputs: int) -> None:
    for rows, bias, streamed in itertools.product((1, 2, 4, 7, 16), (False, True), (False, True)):
        weight, vectors = random(2, outputs, inputs), random(rows, inputs, seed=1)
        biases = random(2, outputs if bias else 0, seed=2)
        out = np.empty((rows, outputs), np.float32)
        multiply(vectors, DenseMatrix.of(torch.from_numpy(weight), biases, streamed=streamed), 1, out)
        exact = vectors.astype(np.float64) @ weight[1].T.astype(np.float64) + (biases[1] if bias else 0.0)  # (R, O)
        assert np.abs(out - exact).max() < 1e-6 * max(1.0, inputs**0.5), (rows, bias, streamed)


def test_outputs_are_read_as_they_are() -> None:
    weight = torch.from_numpy(random(2, 33, 7))
    picked = torch.tensor([32, 0, 5, 5])
    for kept in (weight, weight.bfloat16()):
        read_outputs(DenseMatrix.of(kept, random(2, 0)), 1, picked.numpy(), out := np.empty((4, 7), np.float32))
        assert torch.equal(torch.from_numpy(out), kept[1, picked].float())


def test_norms_equal_the_modules() -> None:
    rows, gain, bias = 3 + random(5, 24), random(2, 24, seed=1), random(2, 24, seed=2)
    for module, norm in (
        (nn.RMSNorm(24, eps=1e-3), Norm(gain, bias[:, :0])),
        (nn.LayerNorm(24, eps=1e-3), Norm(gain, bias)),
    ):
        module.load_state_dict({"weight": torch.from_numpy(gain[1]), "bias": torch.from_numpy(bias[1])}, strict=False)
        out = np.empty_like(rows)
        normalize(rows, norm, 1, np.float32(1e-3), out)
        torch.testing.assert_close(torch.from_numpy(out), module(torch.from_numpy(rows)).detach(), atol=1e-5, rtol=1e-5)


def test_rotations_equal_the_slow_ones() -> None:
    heads = random(3, 16)
    cosines, sines = rotary_tables(40, 16, 10_000.0)
    expected = slow_rotate(torch.from_numpy(heads)[None, None], cosines[31], sines[31])[0, 0]
    rotate(heads, cosines[31].numpy(), sines[31].numpy())
    torch.testing.assert_close(torch.from_numpy(heads), expected, atol=1e-6, rtol=0)


@pytest.mark.parametrize("name", ACTIVATIONS)
def test_activations_equal_the_functions(name: Activation) -> None:
    up = 4 * random(3, 40)
    expected = FUNCTIONS[name](torch.from_numpy(up))  # (3, 40), or (3, 20) of a gated one
    out = np.empty(tuple(expected.shape), np.float32)
    activate(up, ACTIVATIONS.index(name), out)
    torch.testing.assert_close(torch.from_numpy(out), expected, atol=1e-6, rtol=1e-5)


@compiled
def exponentials(numbers: np.ndarray, out: np.ndarray) -> None:
    for i in range(len(numbers)):
        out[i] = exp(numbers[i])


def test_exponentials_equal_those_of_double_precision() -> None:
    numbers = np.linspace(-87, 88, 1_000_001, dtype=np.float32)
    out = np.empty_like(numbers)
    exponentials(numbers, out)
    error = np.abs(out / np.exp(numbers.astype(np.float64)) - 1)
    assert error.max() < 4e-7 and error[np.abs(numbers) <= 20].max() < 2e-7
    beyond = np.array([np.nan, -np.inf, -1e30, -87.01, 0.0, 100.0, np.inf], np.float32)  # what float32 has none for
    out = np.empty_like(beyond)
    exponentials(beyond, out)
    largest = pytest.approx(np.exp(88.0), rel=4e-7)
    assert np.isnan(out[0]) and out[1:].tolist() == [0.0, 0.0, 0.0, 1.0, largest, largest]


def test_memory_starts_where_a_cache_line_does() -> None:
    for shape in ((1, 256), (16, 704), (3, 5), (0, 8)):
        rows = [empty(*shape) for _ in range(20)]
        assert {(each.shape, each.ctypes.data % 64) for each in rows} == {(shape, 0)}
    for dtype in (torch.float32, torch.bfloat16, torch.int8):
        for size in ((2, 3, 5), (3, 1024, 1025)):  # the latter has 3 to 12 MB
            weights = [memory_for_weights(size, dtype).fill_(1) for _ in range(3)]
            assert all(each.shape == size and each.dtype == dtype and each.is_contiguous() for each in weights)
            assert {each.data_ptr() % 64 for each in weights} == {0}


def test_a_softmax_of_large_and_missing_scores_and_of_any_length() -> None:
    scores = np.array([1000.0, 999.0, -np.inf], np.float32)
    softmax(scores)
    total = 1 + np.exp(-1.0)
    np.testing.assert_allclose(scores, [1 / total, np.exp(-1.0) / total, 0.0], rtol=1e-6)

    not_a_number = np.array([1.0, np.nan, 2.0], np.float32)
    softmax(not_a_number)
    assert np.isnan(not_a_number).all()
    for length in (1, 7, 64, 300):
        scores = 9 * random(length)
        expected = torch.from_numpy(scores).double().softmax(dim=-1)
        softmax(scores)
        # A difference of two scores is below 64 here, so float32 holds it up to 64 / 2^25 = 2e-6.
        np.testing.assert_allclose(scores, expected, rtol=5e-6)


def test_a_score_that_is_no_number_spreads_over_its_own_row_alone() -> None:
    rows = np.zeros((4, 8), np.float32)
    rows[2, 3] = np.nan
    out = np.empty((4, 6), np.float32)
    multiply(rows, DenseMatrix.of(torch.from_numpy(random(1, 6, 8)), np.empty((1, 0), np.float32)), 0, out)
    assert np.isnan(out[2]).all() and not np.isnan(out[[0, 1, 3]]).any()


def test_a_packed_layer_learns_and_follows_weights_that_move() -> None:
    torch.manual_seed(0)
    linear = nn.Linear(12, 6)
    weight = linear.weight.data[None].clone()
    linear.weight.data = weight[0]
    matrix = DenseMatrix.of(weight, linear.bias.data[None].numpy())
    packed, rows = PackedLinear(linear, matrix, 0), torch.randn(2, 3, 12)
    with torch.no_grad():
        torch.testing.assert_close(packed(rows), linear(rows))
    packed(rows).sum().backward()
    assert packed.weight.grad is not None
    with torch.no_grad():
        packed.weight += 1  # in place: the matrix sees it
        torch.testing.assert_close(packed(rows), linear(rows))
        packed.double()  # in other memory: the matrix does not
        torch.testing.assert_close(packed(rows.double()), linear(rows.double()))
