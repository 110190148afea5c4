"""Several sources in one batch: each row equals the same row alone, and padding is ignored."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
import torch
import transformers as hf

from decoding.batch import generate_batch
from decoding.settings import DecodingSettings
from decoding.step import Step
from model.errors import AttendError
from model.huggingface.seq2seq import Seq2SeqCache, Seq2SeqModel
from model.huggingface.verify import verified
from model.interface import Want
from tests.decoding.test_batch import check_same
from tests.helpers.tiny import decode
from tests.model.huggingface.test_seq2seq import FAMILIES, LAYERS, T5, answered, random_model, request_for, text
from tests.model.transformer.test_encoder_decoder import PAPER, random_translator

JOINED = {
    **FAMILIES,
    "mt5": lambda: hf.MT5ForConditionalGeneration(hf.MT5Config(**T5)),
    "umt5": lambda: hf.UMT5ForConditionalGeneration(hf.UMT5Config(**T5)),
    "pegasus": lambda: hf.PegasusForConditionalGeneration(hf.PegasusConfig(**LAYERS)),
    "blenderbot": lambda: hf.BlenderbotForConditionalGeneration(hf.BlenderbotConfig(**LAYERS)),
    "blenderbot-small": lambda: hf.BlenderbotSmallForConditionalGeneration(hf.BlenderbotSmallConfig(**LAYERS)),
}
SOURCES = [(6, ()), (13, (7,)), (9, (8, 21, 5)), (13, ())]  # of each row, how long its source is and what was answered
OPTIONS: list[dict[str, Any]] = [
    {"strategy": "beam", "num_beams": 3},
    {"strategy": "greedy", "repetition_penalty": 1.2},
    {"strategy": "sample", "seed": 5, "num_return_sequences": 2},
    {"strategy": "contrastive", "top_k": 3},
]


def read(ours: Seq2SeqModel, length: int, answer: Sequence[int]) -> Seq2SeqCache:
    return answered(ours, text(length, seed=length), answer)


@pytest.mark.parametrize("name", JOINED)
def test_rows_in_company_are_rows_alone(name: str) -> None:
    ours, want = verified(Seq2SeqModel, random_model(JOINED[name]), name), Want(attention=True, hidden=True)
    assert ours.joinable
    alone = [read(ours, *row) for row in SOURCES]
    lengths = [(source, len(ours.decoder_start) + len(answer) + 1) for source, answer in SOURCES]
    company, rows = alone[0].join(alone[1]).join(alone[2].join(alone[3])), [0, 1, 2, 3]
    for chosen in ([0, 1, 2, 3], [3, 1, 2, 0], [2, 2, 0, 3], [1, 0, 2], [1, 1]):  # the last are of one source
        company, rows = company.select(chosen), [rows[row] for row in chosen]
        for asks in (Want(), want):  # the fused kernel, and the family's own softmax
            tokens = [5 + row for row in rows]
            forward = ours.step(tokens, company, want=asks)
            for index, (row, token) in enumerate(zip(rows, tokens, strict=True)):
                expected = ours.step([token], alone[row], want=want)
                assert torch.allclose(forward.logits[index], expected.logits[0], atol=1e-5)
                if asks is want:
                    check_looks(forward, expected, index, *lengths[row])
        company = forward.cache
        alone = [ours.step([5 + row], cache).cache for row, cache in enumerate(alone)]
        lengths = [(source, length + 1) for source, length in lengths]


def check_looks(forward: Any, expected: Any, index: int, source: int, length: int) -> None:
    """A row in a batch has the same hidden states and attention as alone, and no attention to padding."""
    assert torch.allclose(forward.hidden[index], expected.hidden[0], atol=1e-4)
    text, looked = forward.attention.decoder[index], forward.attention.cross[index]
    assert torch.allclose(text[..., -length:], expected.attention.decoder[0], atol=1e-5)
    assert torch.allclose(looked[..., :source], expected.attention.cross[0], atol=1e-5)
    assert not text[..., :-length].any() and not looked[..., source:].any()


@pytest.mark.parametrize("name", [*FAMILIES, "our own"])
def test_texts_in_company_are_texts_alone(name: str) -> None:
    ours: Any  # either kind, whose caches differ
    if name == "our own":
        wide = replace(PAPER, vocabulary_size=61, context_length=64)  # ids below 60, as in `text`, and padding
        ours = random_translator(wide).double()
    else:
        ours = Seq2SeqModel(random_model(name))
        ours._hf_model.double()  # sums are taken in another order: in single precision that can break a tie
    sources = [text(5 + 4 * index, seed=index) for index in range(len(OPTIONS))]
    requests = [request_for(ours, source, [17, 30]) for source in sources]
    settings = [DecodingSettings.from_dict({"max_new_tokens": 10, **options}) for options in OPTIONS]
    pairs = list(zip(requests, settings, strict=True))
    alone = [decode(ours, each, request) for request, each in pairs]
    batched: list[list[Step]] = [[] for _ in OPTIONS]
    for steps in generate_batch(ours, sources, [each.strategy_for(request) for request, each in pairs]):
        for so_far, step in zip(batched, steps, strict=True):
            so_far += [] if step is None else [step]
    for steps, expected, source in zip(batched, alone, sources, strict=True):
        check_same(steps, expected)
        first = steps[0].hypotheses[0].choice.attention
        assert first is not None and first.shape[-1] == len(source) + 1


def test_a_source_that_all_rows_share_is_kept_once() -> None:
    ours = Seq2SeqModel(random_model("marian"))
    looked_up = ours.prefill(text(9)).cache.select([0] * 8).hf_cache.cross_attention_cache.layers[0].keys
    assert looked_up.shape[0] == 8
    assert looked_up.untyped_storage().nbytes() == looked_up[0].numel() * looked_up.element_size()
    joined = read(ours, 9, ()).join(read(ours, 6, ())).select([0, 0, 1, 1])
    crossed = joined.select([1, 0, 3, 2])  # beams change places; what they look up stays as it is
    assert crossed.hf_cache.cross_attention_cache is joined.hf_cache.cross_attention_cache


def test_a_family_that_nobody_measured_refuses() -> None:
    ours = Seq2SeqModel(random_model(lambda: hf.PLBartForConditionalGeneration(hf.PLBartConfig(**LAYERS))))
    assert not ours.joinable
    with pytest.raises(AttendError, match="can't read several sources in one batch: run them one after the other"):
        read(ours, 5, ()).join(read(ours, 5, ()))
    request = request_for(ours, text(5), [])
    strategies = [DecodingSettings(strategy="greedy").strategy_for(request) for _ in range(2)]
    with pytest.raises(AttendError, match="5 to 6 tokens, but this model can only run prompts of the same length"):
        next(generate_batch(ours, [text(5), text(6)], strategies))
