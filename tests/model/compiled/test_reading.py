"""Reading many tokens at once in compiled blocks says what the modules say, at every border between two pieces."""

from __future__ import annotations

import copy
from dataclasses import replace

import numpy as np
import pytest
import torch

from model.compiled import reading
from model.compiled.dense import DenseMatrix
from model.compiled.kernels import largest
from model.compiled.matrix import Matrix, multiply_rows
from model.compiled.prepare import prepare_for_decoding, quantize
from model.compiled.quantized import QuantizedMatrix, dequantize
from model.interface import Forward, Want
from model.transformer.cache import KeyValueCache
from model.transformer.decoder import Transformer
from model.transformer.encoder_decoder import EncoderDecoder
from model.transformer.layers import Block
from tests.helpers.tiny import check_same_pass
from tests.model.compiled.test_quantized import EVERYTHING, plain_twin
from tests.model.transformer.test_encoder_decoder import PAPER, VARIANTS, random_translator
from tests.model.transformer.test_transformer import OPTIONS, random_model, text

CONTEXT = 72
QUERIES, TOKENS = 8, 24  # that attend at a time, and that a product takes, in the tests that need borders
LENGTHS = (2, QUERIES - 1, QUERIES, QUERIES + 1, TOKENS - 1, TOKENS, TOKENS + 1, 2 * TOKENS + 1, 60)
ATOL = 3e-5  # against the same weights in double precision, either is about half of it off
LLAMA3 = {"kind": "llama3", "factor": 8.0, "original_context": 16}
MORE_OPTIONS = (*OPTIONS, {"rotary_scaling": LLAMA3}, {"sliding_window": QUERIES + 1}, {"sliding_window": 40})


@pytest.fixture
def small_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "_TOKENS", TOKENS)
    monkeypatch.setattr(reading, "_MIN_QUERIES", QUERIES)
    monkeypatch.setattr(reading, "_SCORES", 1)


def twins(**options: object) -> tuple[Transformer, Transformer]:
    """A model of modules alone, and one that is prepared, with the same weights."""
    slow = random_model(context_length=CONTEXT, **options)
    generator = torch.Generator().manual_seed(1)
    with torch.no_grad():
        for parameter in slow.parameters():  # no gain of 1 and no bias of 0 can hide a slip
            parameter.add_(0.1 * torch.randn(parameter.shape, generator=generator))
    return slow, prepare_for_decoding(copy.deepcopy(slow))


def check_forward(actual: Forward[KeyValueCache], expected: Forward[KeyValueCache]) -> None:
    check_same_pass(actual, expected, atol=ATOL)
    for layer in range(2):
        for ours, reference in zip(actual.cache.keys_values(layer), expected.cache.keys_values(layer), strict=True):
            torch.testing.assert_close(ours, reference, atol=ATOL, rtol=0)


def check_reading(slow: Transformer, fast: Transformer) -> None:
    """Prefill, reading on, scores and inspections."""
    ids = text(60)
    for length in LENGTHS:
        check_forward(fast.prefill(ids[:length], want=EVERYTHING), slow.prefill(ids[:length], want=EVERYTHING))
    first, ours = slow.prefill(ids[:21]), fast.prefill(ids[:21])
    for count in (1, QUERIES, TOKENS + 2):
        more = ids[21 : 21 + count]
        check_forward(
            fast.extend_prefix(more, ours.cache, want=EVERYTHING),
            slow.extend_prefix(more, first.cache, want=EVERYTHING),
        )
    torch.testing.assert_close(fast.logits(ids[:5], ids[5:]), slow.logits(ids[:5], ids[5:]), atol=ATOL, rtol=0)
    actual, expected = fast.inspect(ids), slow.inspect(ids)
    torch.testing.assert_close(actual.logits, expected.logits, atol=ATOL, rtol=0)
    torch.testing.assert_close(actual.attention.decoder, expected.attention.decoder, atol=1e-5, rtol=0)


@pytest.mark.usefixtures("small_pieces")
@pytest.mark.parametrize("options", MORE_OPTIONS, ids=str)
def test_reading_equals_the_modules(options: dict[str, object]) -> None:
    check_reading(*twins(**options))


@pytest.mark.usefixtures("small_pieces")
def test_a_row_that_shares_its_beginning_with_others_is_read_on() -> None:
    slow, fast = twins()
    caches = []
    for model in (slow, fast):
        cache = model.prefill(text(20)).cache.select([0, 0])
        cache = model.step([1, 2], cache).cache.select([1, 1])  # the beginning is kept once from here on
        assert cache.prefix_length >= 20
        caches.append(cache.select([0]))
    check_forward(
        *(
            model.extend_prefix(text(30), cache, want=EVERYTHING)
            for model, cache in zip((fast, slow), caches[::-1], strict=True)
        )
    )


def test_pieces_as_large_as_they_are_say_the_same() -> None:
    slow, fast = twins()
    slow, fast = (replace_context(model, 1200) for model in (slow, fast))
    ids = text(1100)
    check_forward(fast.prefill(ids, want=EVERYTHING), slow.prefill(ids, want=EVERYTHING))


def test_a_prompt_is_read_without_the_modules(monkeypatch: pytest.MonkeyPatch) -> None:
    _, fast = twins()

    def refuse(*arguments: object) -> None:
        raise AssertionError("a block's module was run")

    monkeypatch.setattr(Block, "forward", refuse)
    first = fast.prefill(text(30))
    fast.extend_prefix(text(10), first.cache)
    fast.inspect(text(20))
    with pytest.raises(AssertionError):
        fast.train().logits(text(5), text(5))  # with dropout, and so by the modules


@pytest.mark.usefixtures("small_pieces")
@pytest.mark.parametrize("compact", ["bfloat16", "int8"])
@pytest.mark.parametrize("options", [{}, {"biases": "all", "tied_embeddings": False, "head_width": 12}], ids=str)
def test_reading_equals_the_modules_over_rounded_weights(options: dict[str, object], compact: str) -> None:
    model = random_model(context_length=CONTEXT, **options)
    model = quantize(model) if compact == "int8" else prepare_for_decoding(model.bfloat16())
    check_reading(plain_twin(model), model)


@pytest.mark.usefixtures("small_pieces")
@pytest.mark.parametrize(
    "config", VARIANTS, ids=lambda config: f"{config.positions}-{config.norm_place}-{config.activation}"
)
def test_several_sources_of_different_lengths_equal_the_modules(config: object) -> None:
    longer = replace(config, context_length=CONTEXT)  # type: ignore[type-var]
    slow, fast = random_translator(longer), random_translator(longer, fast=True)
    sources = [[1 + token % 28 for token in text(length, seed=length)] for length in (30, 9, TOKENS, 1)]
    want = Want(attention=True, layers=(1,))
    check_same_pass(*(model.prefill_together(sources, want=want) for model in (fast, slow)), atol=ATOL)
    tokens = [1 + token % 28 for token in text(33)]
    torch.testing.assert_close(fast.logits(sources[0], tokens), slow.logits(sources[0], tokens), atol=ATOL, rtol=0)
    ours, reference = (model.inspect(tokens, source=sources[2]) for model in (fast, slow))
    for name in ("decoder", "cross", "encoder"):
        torch.testing.assert_close(getattr(ours.attention, name), getattr(reference.attention, name), atol=1e-5, rtol=0)


@pytest.mark.parametrize(("outputs", "inputs"), [(600, 64), (100, 33), (7, 5)])
@pytest.mark.parametrize("biased", [False, True])
def test_products_of_many_rows_equal_the_exact_ones(outputs: int, inputs: int, biased: bool) -> None:
    generator = torch.Generator().manual_seed(0)
    weight = torch.randn(2, outputs, inputs, generator=generator)
    bias = torch.randn(2, outputs, generator=generator) if biased else torch.empty(2, 0)
    rounded = weight.bfloat16()
    quantized = QuantizedMatrix.of(weight, bias.numpy())
    cases: list[tuple[Matrix, torch.Tensor]] = [
        (DenseMatrix.of(weight, bias.numpy()), weight[1]),
        (DenseMatrix.of(rounded, bias.numpy()), rounded[1].float()),
        (quantized, dequantize(quantized, 1)),
    ]
    for rows in (1, 23, 24, 70):
        vectors = torch.randn(rows, inputs, generator=generator)
        for matrix, exact in cases:
            expected = (vectors.double() @ exact.double().T + (bias[1].double() if biased else 0.0)).float()
            torch.testing.assert_close(multiply_rows(vectors, matrix, 1), expected, atol=1e-4, rtol=1e-5)


def test_the_largest_of_some_scores() -> None:
    infinite = [-np.inf, -1e-40], [1e38, np.inf, -np.inf], [-np.inf]
    for scores in ([-3.0, -2.0, -2.5], [0.0, -0.0], *infinite, [2.0, 7.0] * 40):
        assert largest(np.array(scores, np.float32)) == np.float32(max(scores))


def replace_context(model: Transformer, length: int) -> Transformer:
    """The same weights with rotary positions for longer texts."""
    longer = Transformer(replace(model.config, context_length=length)).eval()
    longer.load_state_dict(model.state_dict())
    return longer if model.compiled is None else prepare_for_decoding(longer)


def test_an_encoder_reads_padding_within_a_source_as_the_modules_do() -> None:
    slow, fast = random_translator(PAPER), random_translator(PAPER, fast=True)
    assert isinstance(fast, EncoderDecoder)
    source = [1, fast.padding, 2, 3]
    torch.testing.assert_close(fast.prefill(source).logits, slow.prefill(source).logits, atol=ATOL, rtol=0)
