"""The recurrent encoder-decoder gives the same logits however it is run."""

from __future__ import annotations

import pytest
import torch

from model.interface import Want
from model.recurrent.network import Recurrent, RecurrentConfig
from tests.model.transformer.test_encoder_decoder import LONG, PADDING, SAME, SHORT, TEXT


@pytest.mark.parametrize("attention", [True, False], ids=["attention", "no attention"])
def test_however_it_is_run_the_logits_are_the_same(attention: bool) -> None:
    """Step by step, in one pass, in training with padding on both sides, and with others in the batch."""
    torch.manual_seed(0)
    model = Recurrent(RecurrentConfig(PADDING + 1, 16, attention=attention)).eval()
    alone = {}
    for name, source in (("long", LONG), ("short", SHORT)):
        passes = [model.prefill(source)]
        for token in TEXT:
            passes.append(model.step([token], passes[-1].cache))
        alone[name] = torch.cat([one.logits for one in passes])  # (T, V)
        torch.testing.assert_close(model.logits(source, [*TEXT, 0]), alone[name], atol=SAME, rtol=0)
    sources = torch.tensor([LONG, [*SHORT, *[PADDING] * 3]])
    taught = model(sources, torch.tensor([[PADDING, *TEXT], [PADDING, *TEXT[:2], PADDING, PADDING]]))
    torch.testing.assert_close(taught[0], alone["long"][:, :-1], atol=SAME, rtol=0)
    torch.testing.assert_close(taught[1, :3], alone["short"][:3, :-1], atol=SAME, rtol=0)
    together = model.prefill(LONG).cache.join(model.prefill(SHORT).cache).select([1, 0, 1])
    for index, token in enumerate(TEXT, start=1):
        forward = model.step([token] * 3, together, want=Want(attention=attention))
        together = forward.cache
        for row, name in enumerate(("short", "long", "short")):
            torch.testing.assert_close(forward.logits[row], alone[name][index], atol=SAME, rtol=0)
        if forward.attention is not None:
            assert forward.attention.cross is not None
            assert forward.attention.cross.shape == (3, 1, 1, 1, len(LONG))
            assert not forward.attention.cross[0, ..., len(SHORT) :].any()
