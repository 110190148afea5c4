"""The adapter for encoders with decoders against transformers itself, on random tiny models of every family."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any

import pytest
import torch
import transformers as hf
from transformers import PreTrainedModel

from decoding.request import Request, RequestOptions
from decoding.settings import DecodingSettings
from model.errors import AttendError
from model.huggingface.attention import EAGER
from model.huggingface.seq2seq import Seq2SeqCache, Seq2SeqModel
from model.interface import Want
from model.transformer.encoder_decoder import EncoderDecoder
from tests.helpers.tiny import best, decode
from tests.helpers.transformers_generate import draw_as_we_do, transformers_generate

LAYERS: dict[str, Any] = {
    "vocab_size": 60,
    "d_model": 32,
    "encoder_layers": 2,
    "decoder_layers": 3,
    "encoder_attention_heads": 4,
    "decoder_attention_heads": 2,
    "encoder_ffn_dim": 48,
    "decoder_ffn_dim": 40,
    "max_position_embeddings": 64,
    "pad_token_id": 0,
    "bos_token_id": 1,
    "eos_token_id": 2,
    "decoder_start_token_id": 3,
    "forced_eos_token_id": None,
    "forced_bos_token_id": None,
}
T5: dict[str, Any] = {
    "vocab_size": 60,
    "d_model": 32,
    "d_kv": 8,
    "d_ff": 48,
    "num_layers": 3,
    "num_heads": 4,
    "relative_attention_num_buckets": 8,
    "relative_attention_max_distance": 16,
    "decoder_start_token_id": 0,
    "eos_token_id": 1,
    "pad_token_id": 0,
}
FAMILIES: dict[str, Callable[[], PreTrainedModel]] = {
    "t5": lambda: hf.T5ForConditionalGeneration(hf.T5Config(**T5)),
    "t5-gated": lambda: hf.T5ForConditionalGeneration(
        hf.T5Config(**T5 | {"feed_forward_proj": "gated-gelu", "tie_word_embeddings": False})
    ),
    "bart": lambda: hf.BartForConditionalGeneration(hf.BartConfig(**LAYERS)),
    "marian": lambda: hf.MarianMTModel(hf.MarianConfig(**LAYERS)),
    "mbart": lambda: hf.MBartForConditionalGeneration(hf.MBartConfig(**LAYERS)),
    "nllb": lambda: hf.M2M100ForConditionalGeneration(hf.M2M100Config(**LAYERS)),
}


def random_model(family: str | Callable[[], PreTrainedModel]) -> Any:
    torch.manual_seed(3)
    model = (FAMILIES[family] if isinstance(family, str) else family)().eval()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(0.2 * torch.randn(parameter.shape, generator=torch.Generator().manual_seed(2)))
    model.set_attn_implementation(EAGER)
    return model


def text(length: int, seed: int = 1) -> list[int]:
    return torch.randint(4, 60, (length,), generator=torch.Generator().manual_seed(seed)).tolist()


def answered(ours: Seq2SeqModel, source: list[int], answer: Sequence[int]) -> Seq2SeqCache:
    """What is kept of a source and of an answer so far."""
    cache = ours.prefill(source).cache
    for token in answer:
        cache = ours.step([token], cache).cache
    return cache


def request_for(model: Seq2SeqModel | EncoderDecoder, source: list[int], ends: list[int]) -> Request:
    options = RequestOptions(attention=True)
    return Request.of_model(model, source, options, end_tokens=ends, decode=lambda ids: " ".join(map(str, ids)))


@pytest.mark.parametrize("name", FAMILIES)
def test_steps_and_all_attention_match_transformers(name: str) -> None:
    ours, reference = Seq2SeqModel(random_model(name)), random_model(name)
    source, answer = text(11), text(9, seed=2)
    fed = [*ours.decoder_start, *answer]
    with torch.no_grad():
        expected = reference(
            input_ids=torch.tensor([source]), decoder_input_ids=torch.tensor([fed]), output_attentions=True
        )
    for want in (Want(attention=True), Want()):
        forward = ours.prefill(source, want=want)
        for position in range(len(fed)):
            assert torch.allclose(forward.logits[0], expected.logits[0, position], atol=1e-4)
            if want.attention:
                assert forward.attention is not None and forward.attention.cross is not None
                for layer in range(3):
                    expected_row = expected.decoder_attentions[layer][0, :, position, : position + 1]  # (H, K)
                    looked = expected.cross_attentions[layer][0, :, position]  # (H, S)
                    assert torch.allclose(forward.attention.decoder[0, layer, :, 0], expected_row, atol=1e-5)
                    assert torch.allclose(forward.attention.cross[0, layer, :, 0], looked, atol=1e-5)
            if position < len(answer):
                forward = ours.step([answer[position]], forward.cache, want=want)
    assert torch.allclose(ours.logits(source, answer), expected.logits[0, :-1], atol=1e-4)
    seen = ours.inspect(fed, source=source)
    assert torch.allclose(seen.logits, expected.logits[0], atol=1e-4)
    assert seen.attention.encoder is not None and seen.attention.cross is not None
    for weights, known in (
        (seen.attention.encoder, expected.encoder_attentions),
        (seen.attention.decoder, expected.decoder_attentions),
        (seen.attention.cross, expected.cross_attentions),
    ):
        assert torch.allclose(weights[0], torch.cat(known), atol=1e-5)
        assert torch.allclose(weights.sum(-1), torch.ones(()), atol=1e-5)


@pytest.mark.parametrize("name", FAMILIES)
def test_branches_are_texts_alone(name: str) -> None:
    ours, source = Seq2SeqModel(random_model(name)), text(7)
    root = ours.prefill(source).cache
    first = ours.step([5], root).logits
    three = ours.step([6, 9, 5], root.select([0, 0, 0])).cache
    assert torch.equal(ours.step([5], root).logits, first)
    crossed = ours.step([7, 8], three.select([2, 1])).logits  # (2, V)
    for row, answer in enumerate(([5, 7], [9, 8])):
        alone = ours.logits(source, [*answer, 0])[2]
        assert torch.allclose(crossed[row], alone, atol=1e-5)


METHODS: tuple[dict[str, Any], ...] = (
    {"strategy": "greedy", "repetition_penalty": 1.3},
    {"strategy": "beam", "num_beams": 3},
    {"strategy": "beam", "num_beams": 4, "length_penalty": -0.5, "no_repeat_ngram_size": 2},
    {"strategy": "sample", "temperature": 0.8, "top_k": 20, "top_p": 0.9},
)


@pytest.mark.parametrize("name", FAMILIES)
def test_texts_are_those_of_generate(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    reference = random_model(name)
    ours, ends = Seq2SeqModel(random_model(name)), [17, 30]
    for method, seed in itertools.product(METHODS, range(4)):
        source, limited = text(5 + seed, seed), method | {"max_new_tokens": 8}
        draw_as_we_do(monkeypatch, seed)
        result = transformers_generate(reference, source, ends, limited).sequences[0, 1:].tolist()
        settings = DecodingSettings.from_dict({"seed": seed, **limited})
        tokens = best(decode(ours, settings, request_for(ours, source, ends))).tokens
        assert list(tokens) == result[: len(tokens)]
        assert not any(result[len(tokens) :])  # padding


def test_the_attention_of_a_choice_is_the_source_then_the_text() -> None:
    ours, source = Seq2SeqModel(random_model("marian")), text(6)
    settings = DecodingSettings(strategy="greedy", max_new_tokens=4)
    for position, step in enumerate(decode(ours, settings, request_for(ours, source, []))):
        weights = best([step]).choice.attention
        assert weights is not None
        assert weights.shape == (3, 2, 6 + 1 + position)
        assert torch.allclose(weights[..., :6].float().sum(-1), torch.ones(3, 2), atol=2e-3)  # half precision
        assert torch.allclose(weights[..., 6:].float().sum(-1), torch.ones(3, 2), atol=2e-3)


def test_padding_goes_with_the_row_that_needed_it() -> None:
    """Otherwise a short answer could only grow as far as the long one beside it."""
    ours = Seq2SeqModel(random_model("marian"))  # of 64 positions
    source, answer = text(7), text(63, seed=2)
    cache = answered(ours, text(5, seed=3), text(40, seed=4)).join(answered(ours, source, answer[:2]))
    assert (cache.length, cache.padding) == (41, (0, 38))  # each begins with the decoder's start
    cache = cache.select([1])
    assert (cache.length, cache.padding) == (3, (0,))
    for position, token in enumerate(answer[2:], start=2):
        forward = ours.step([token], cache)
        assert torch.allclose(forward.logits[0], ours.logits(source, [*answer[: position + 1], 0])[-1], atol=1e-4)
        cache = forward.cache
    assert cache.length == ours.context_length


def test_what_it_cannot_do_is_refused_in_one_sentence() -> None:
    ours = Seq2SeqModel(random_model("marian"))  # of 64 positions
    for read in (
        ours.prefill,
        lambda source: ours.logits(source, [5]),
        lambda source: ours.inspect([3], source=source),
    ):
        with pytest.raises(AttendError, match="The text has 65 tokens, but the model reads at most 64: shorten it"):
            read(text(65))
        with pytest.raises(ValueError, match="at least one token"):
            read([])
    cache = answered(ours, text(64), text(63))  # a source may be as long, whatever its answer; behind the start are 63
    with pytest.raises(AttendError, match="The output has reached this model's limit of 64 tokens"):
        ours.step([5], cache)
    with pytest.raises(ValueError, match="1 tokens for 2 rows"):
        ours.step([5], ours.prefill([5]).cache.select([0, 0]))
    silent = hf.T5ForConditionalGeneration(
        hf.T5Config(**{name: T5[name] for name in T5.keys() - {"decoder_start_token_id"}})
    )
    with pytest.raises(AttendError, match="does not say what its answers begin with"):
        Seq2SeqModel(silent)
