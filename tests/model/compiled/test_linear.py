"""Fast products of a few rows equal `nn.Linear`."""

import pytest
import torch
from torch import nn

from model.compiled.linear import FastLinear, optimize_layout
from model.threads import use_threads


@pytest.mark.parametrize("rows", [1, 2, 3, 4, 9])
@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize(("inputs", "outputs"), [(32, 96), (96, 32), (256, 1_408), (600, 500), (5, 7)])
@pytest.mark.parametrize("threads", [1, 2])
def test_a_product_equals_the_linear_layer(inputs: int, outputs: int, bias: bool, rows: int, threads: int) -> None:
    torch.manual_seed(0)
    before = torch.get_num_threads()
    use_threads(threads)
    linear = nn.Linear(inputs, outputs, bias=bias)
    given = torch.randn(rows, inputs)
    with torch.inference_mode():
        exact = given.double() @ linear.weight.double().t() + (linear.bias.double() if bias else 0)  # (R, O)
        optimize_layout(linear)
        product = FastLinear(linear)
        for _ in range(2):  # the second time with what the first has kept
            assert (product(given) - exact).abs().max() < 1e-6 * inputs**0.5
    use_threads(before)


def test_laying_out_changes_no_value() -> None:
    for inputs, outputs in ((300, 1_000), (1_000, 300), (10, 20)):
        linear = nn.Linear(inputs, outputs)
        before = linear.weight.detach().clone()
        optimize_layout(linear)
        assert torch.equal(linear.weight, before)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_half_precision_is_laid_out_only_where_that_is_faster(dtype: torch.dtype) -> None:
    for inputs, outputs in ((64, 96), (600, 1_200), (1_200, 600)):
        linear = nn.Linear(inputs, outputs, dtype=dtype)
        optimize_layout(linear)
        assert linear.weight.is_contiguous() == (dtype == torch.float16 or inputs != 600)


def test_half_precision_takes_the_plain_way() -> None:
    torch.manual_seed(0)
    linear = nn.Linear(32, 48).bfloat16()
    given = torch.randn(3, 32).bfloat16()
    with torch.inference_mode():
        assert torch.equal(FastLinear(linear)(given), linear(given))
