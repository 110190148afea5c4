"""8-bit weights: nearly the same output, steps that agree with whole passes, and refusals."""

from __future__ import annotations

import copy
from pathlib import Path

import numpy as np
import pytest
import torch

from model import catalog, jit
from model.arguments import DEFAULT
from model.compiled.matrix import CompactEmbedding, CompactLinear, multiply, read_output, read_outputs
from model.compiled.prepare import prepare_for_decoding, quantize
from model.compiled.quantized import QuantizedMatrix, dequantize
from model.device import DeviceConfig
from model.errors import AttendError
from model.interface import Want
from model.transformer.decoder import Transformer
from tests.helpers.tiny import TinyModel, check_same_pass
from tests.helpers.translators import marian_of_several
from tests.model.transformer.test_transformer import every_option, random_model, text

EVERYTHING = Want(attention=True, hidden=True, layers=(0, 2, 1))
NO_BIAS = np.empty((1, 0), np.float32)


@pytest.mark.parametrize(("outputs", "inputs"), [(256, 64), (100, 33), (7, 5), (1, 1)])
def test_a_matrix_is_rounded_to_the_nearest_of_255_steps_a_group(outputs: int, inputs: int) -> None:
    weight = torch.randn(1, outputs, inputs, generator=torch.Generator().manual_seed(0))
    weight[0, 0] = 0.0  # a group of zeros has no scale
    rounded = dequantize(QuantizedMatrix.of(weight, NO_BIAS), 0)
    group = {64: 32, 33: 11, 5: 5, 1: 1}[inputs]  # the largest divisor up to 32
    largest = weight[0].abs().view(outputs, -1, group).amax(dim=-1, keepdim=True)  # (O, G, 1)
    error = (rounded - weight[0]).abs().view(outputs, -1, group)
    assert (error <= largest / 254 + 1e-6).all() and not rounded[0].any()  # half of a step, the largest by 127


@pytest.mark.parametrize(("outputs", "inputs"), [(256, 64), (100, 33), (7, 5)])
@pytest.mark.parametrize("streamed", [False, True])
def test_a_product_is_that_of_the_rounded_matrix(outputs: int, inputs: int, streamed: bool) -> None:
    generator = torch.Generator().manual_seed(0)
    weight, bias = torch.randn(2, outputs, inputs, generator=generator), np.ones((2, outputs), np.float32)
    matrix = QuantizedMatrix.of(weight, bias, streamed=streamed)
    for rows in (1, 3, 4, 9):
        vectors, out = torch.randn(rows, inputs, generator=generator), torch.empty(rows, outputs)
        multiply(vectors.numpy(), matrix, 1, out.numpy())
        torch.testing.assert_close(out, vectors @ dequantize(matrix, 1).T + 1, atol=1e-5, rtol=1e-5)
    read_output(matrix, 1, outputs - 1, vector := np.empty(inputs, np.float32))
    assert torch.equal(torch.from_numpy(vector), dequantize(matrix, 1)[-1])
    picked = torch.tensor([outputs - 1, 0, outputs // 2, 0])
    read_outputs(matrix, 1, picked.numpy(), vectors := np.empty((4, inputs), np.float32))
    assert torch.equal(torch.from_numpy(vectors), dequantize(matrix, 1)[picked])


def test_the_embedded_model_loses_little() -> None:
    full, rounded = (catalog.load(DEFAULT, device_config=DeviceConfig("cpu", dtype)) for dtype in ("float32", "int8"))
    ids = full.prompt("Once upon a time there was a little fox. She went to the park and saw a big dog.")
    before, after = (loaded.model.inspect(ids).logits.log_softmax(dim=-1) for loaded in (full, rounded))  # (T, V) each
    divergence = (before.exp() * (before - after)).sum(dim=-1).mean().item() / 0.6931  # bits a token
    assert 0 < divergence < 0.005  # of some 3 bits that a token costs; 0 would mean that nothing was rounded


@pytest.mark.parametrize("compact", ["bfloat16", "int8"])
@every_option
def test_steps_equal_the_modules_over_the_same_weights(options: dict[str, object], compact: str) -> None:
    model = random_model(**{"tied_embeddings": options.get("norm") != "layer", **options})
    model = quantize(model) if compact == "int8" else prepare_for_decoding(model.bfloat16())
    plain = plain_twin(model)
    passes = []
    for each in (model, plain):
        read = each.prefill(text(5))
        stepped = each.step([3] * 5, read.cache.select([0] * 5))
        passes.append((read, stepped, each.step([4] * 5, stepped.cache, want=EVERYTHING)))
    for forward, expected in zip(*passes, strict=True):
        check_same_pass(forward, expected, atol=3e-5)


def plain_twin(model: Transformer) -> Transformer:
    """A compact model's twin of modules alone, with its weights as they are after rounding."""
    plain = Transformer(model.config).eval()
    weights = dict(plain.state_dict()) | dict(model.state_dict())
    for name, module in model.named_modules():
        if isinstance(module, CompactEmbedding):
            weights[f"{name}.weight"] = module.weight
        if isinstance(module, CompactLinear):
            weights[f"{name}.weight"] = module(torch.eye(module.matrix.inputs)).T
            if len(module.matrix.bias[module.layer]):
                bias = weights[f"{name}.bias"] = torch.from_numpy(module.matrix.bias[module.layer])
                weights[f"{name}.weight"] = weights[f"{name}.weight"] - bias[:, None]
    plain.load_state_dict(weights)
    return plain


def test_a_quantized_model_is_the_same_object_without_its_old_matrices() -> None:
    model = random_model()
    before = copy.deepcopy(model)
    assert quantize(model) is model
    assert not any(isinstance(module, torch.nn.Linear) for module in model.modules())
    assert sum(parameter.numel() for parameter in model.parameters()) < 0.1 * sum(
        parameter.numel() for parameter in before.parameters()
    )
    assert (model.embedding.weight - before.embedding.weight).abs().max() <= before.embedding.weight.abs().max() / 254


def test_what_cannot_be_rounded_is_refused(tmp_path: Path) -> None:
    with pytest.raises(AttendError, match="choose another precision"):
        quantize(TinyModel(lambda text: [0.0, 1.0]))
    with pytest.raises(AttendError, match=r"model can't run in int8 \(8 bits\), which works only"):
        catalog.load(str(marian_of_several(tmp_path / "model")), device_config=DeviceConfig("cpu", "int8"))


def test_without_numba_a_model_keeps_to_its_modules(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jit, "AVAILABLE", False)
    model = prepare_for_decoding(random_model())
    assert model.compiled is None
    assert torch.isfinite(model.step([1], model.prefill(text(3)).cache).logits).all()
    assert catalog.load(DEFAULT).notes == (
        "numba is not installed, so each token takes 15 to 30 times as long: run pip install numba.",
    )
    with pytest.raises(AttendError, match=r"^int8 \(8 bits\) needs the package numba"):
        quantize(model)


def test_a_token_that_is_none_is_refused_before_foreign_memory_is_read_and_weights_are_packed_only_once() -> None:
    whole, packed = prepare_for_decoding(random_model()), prepare_for_decoding(random_model().bfloat16())
    for model in (whole, packed, quantize(random_model())):
        cache = model.prefill(text(3)).cache
        for token in (50, 10_000_000, -1):  # of a vocabulary of 50
            with pytest.raises(IndexError):
                model.step([token], cache)
            with pytest.raises(IndexError):
                model.prefill([1, token])
        for prepare in (prepare_for_decoding, quantize) if model is not whole else ():
            with pytest.raises(ValueError, match="load it again"):
                prepare(model)
        assert torch.isfinite(model(torch.tensor([text(4)]))).all()  # outside of inference, too
