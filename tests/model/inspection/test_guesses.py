"""Many streams read at once are those read one by one: a twin that keeps the logits of the whole vocabulary."""

from __future__ import annotations

from functools import partial

import pytest
import torch
from torch import Tensor, nn

from model.inspection import guesses
from model.inspection.anatomy import Anatomy
from model.inspection.guesses import read_streams
from model.transformer.inspection import unembed

STREAMS, WIDTH, VOCABULARY = 1200, 8, 2500  # neither is a multiple of what one product takes


class Packed(nn.Module):
    """A layer whose weights can't be taken by rows, like those in few bits."""

    def __init__(self, linear: nn.Linear) -> None:
        super().__init__()
        self.linear = linear

    def forward(self, hidden: Tensor) -> Tensor:
        return self.linear(hidden)


@torch.inference_mode()
@pytest.mark.parametrize("processors", [1, 2, 3])
@pytest.mark.parametrize("packed", [False, True])
def test_streams_read_in_parts_are_those_read_whole(
    processors: int, packed: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(guesses, "available_processors", lambda: processors * torch.get_num_threads())
    torch.manual_seed(6)
    linear, norm = nn.Linear(WIDTH, VOCABULARY, bias=False), nn.RMSNorm(WIDTH)
    linear.weight.mul_(20)  # logits from about -30 to 30
    streams, chosen = torch.randn(STREAMS, WIDTH), torch.randint(VOCABULARY, (STREAMS,))
    head = Packed(linear) if packed else linear
    anatomy = Anatomy((), 1, nn.Identity(), norm, head, partial(unembed, head))
    read = read_streams(anatomy, streams, chosen, VOCABULARY)
    shares = linear(norm(streams)).double().softmax(dim=-1)  # (N, V)
    best = shares.max(dim=-1)
    assert torch.equal(read.top, best.indices) and len(set((read.top // 1000).tolist())) == 3  # found in every part
    assert (read.top_probability - best.values).abs().max() < 1e-6
    assert (read.chosen - shares.gather(-1, chosen[:, None])[:, 0]).abs().max() < 1e-6
