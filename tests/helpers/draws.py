"""transformers' sampling under our draws: `torch.multinomial` replaced by an inverse cumulative distribution."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from decoding.uniform import UniformStream


def draw_as_we_do(monkeypatch: pytest.MonkeyPatch, seed: int) -> None:
    """From now on every draw of transformers comes from the stream of a request with this seed, as ours do."""
    stream = UniformStream(seed)

    def draw(probabilities: Tensor, num_samples: int) -> Tensor:
        """The first token, in the order of the probabilities (1, V), whose cumulative sum exceeds the draw; (1, 1)."""
        assert probabilities.shape[0] == num_samples == 1
        ordered = sorted(enumerate(probabilities[0].double().tolist()), key=lambda pair: -pair[1])
        wanted, total = stream.next(), 0.0
        for token, probability in ordered:
            total += probability
            if total > wanted:
                return torch.tensor([[token]])
        raise AssertionError("the draw lies behind the last token")

    monkeypatch.setattr(torch, "multinomial", draw)
