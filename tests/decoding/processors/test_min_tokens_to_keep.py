"""`min_tokens_to_keep` for beams that sample: filters leave as many tokens as in transformers."""

from __future__ import annotations

import pytest
import torch
from transformers.generation.logits_process import (
    EpsilonLogitsWarper,
    EtaLogitsWarper,
    MinPLogitsWarper,
    TopKLogitsWarper,
    TopPLogitsWarper,
    TypicalLogitsWarper,
)

from decoding.processors import EpsilonCutoff, EtaCutoff, MinP, TopA, TopK, TopNSigma, TopP, TypicalP
from decoding.settings import DecodingSettings
from tests.decoding.processors.test_filters import NO_CONTEXT, NO_IDS, same
from tests.helpers.tiny import make_request


@pytest.mark.parametrize("fewest", [2, 3, 6])
def test_filters_leave_the_fewest_that_transformers_leaves(fewest: int) -> None:
    """With settings that would leave one token or a few, on logits without ties."""
    generator = torch.Generator().manual_seed(fewest)
    for _ in range(50):
        logits = torch.randn(2, 40, generator=generator) * 3
        for ours, reference in (
            (TopK(1, fewest), TopKLogitsWarper(1, min_tokens_to_keep=fewest)),
            (TopP(0.01, fewest), TopPLogitsWarper(0.01, min_tokens_to_keep=fewest)),
            (MinP(0.99, fewest), MinPLogitsWarper(0.99, min_tokens_to_keep=fewest)),
            (TypicalP(0.01, fewest), TypicalLogitsWarper(0.01, min_tokens_to_keep=fewest)),
            (EpsilonCutoff(0.99, fewest), EpsilonLogitsWarper(0.99, min_tokens_to_keep=fewest)),
            (EtaCutoff(0.99, fewest), EtaLogitsWarper(0.99, min_tokens_to_keep=fewest)),
        ):
            kept = ours(logits, NO_CONTEXT)
            same(kept, reference(NO_IDS, logits))  # type: ignore[operator]
            assert (torch.isfinite(kept).sum(dim=-1) >= fewest).all()
        best = TopK(fewest)(logits, NO_CONTEXT)
        for many, default in ((TopA(1.0, fewest), TopA(1.0)), (TopNSigma(0.01, fewest), TopNSigma(0.01))):
            same(many(logits, NO_CONTEXT), torch.maximum(default(logits, NO_CONTEXT), best))
    few = torch.tensor([[1.0, 2.0]])
    for ours in (TopK(1, 6), TopP(0.1, 6), MinP(1.0, 6), TypicalP(0.1, 6), EpsilonCutoff(0.9, 6), TopA(1.0, 6)):
        same(ours(few, NO_CONTEXT), few)


@pytest.mark.parametrize(
    ("strategy", "ends", "fewest"), [("sample", 3, 1), ("beam", 3, 1), ("beam_sample", 0, 2), ("beam_sample", 3, 4)]
)
def test_only_beams_that_sample_need_more_than_one(strategy: str, ends: int, fewest: int) -> None:
    """As in transformers: the number of end tokens plus one, and at least two."""
    settings = DecodingSettings.from_dict({"strategy": strategy, "top_k": 1, "top_p": 0.5, "seed": 1})
    chain = settings.options(make_request(end_tokens=range(ends))).processors
    assert chain == (TopK(1, fewest), TopP(0.5, fewest))
