"""Which optimizer moves a weight, Muon against torch's, and the learning rate over a run."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from model.transformer.config import TransformerConfig
from model.transformer.decoder import Transformer
from training.run.muon import Muon, orthogonalized
from training.run.optimizer import Optimizer, lr_schedule, make_optimizers


@pytest.mark.parametrize("kind", ["muon", "adamw"])
@pytest.mark.parametrize("tied", [True, False])
def test_every_weight_is_moved_by_one_optimiser_and_only_matrices_decay(kind: Optimizer, tied: bool) -> None:
    model = Transformer(TransformerConfig(40, width=16, heads=2, key_value_heads=2, biases="all", tied_embeddings=tied))
    optimizers = make_optimizers(model, kind, learning_rate=1e-3, weight_decay=0.1)
    groups = [group for optimizer in optimizers for group in optimizer.param_groups]
    moved = [id(parameter) for group in groups for parameter in group["params"]]
    assert sorted(moved) == sorted(id(parameter) for parameter in model.parameters())
    decays = {(parameter.dim(), group["weight_decay"]) for group in groups for parameter in group["params"]}
    assert decays == {(1, 0.0), (2, 0.1)}
    assert len(optimizers) == (2 if kind == "muon" else 1)


def test_muon_is_torchs_but_for_its_rounding() -> None:
    torch.manual_seed(0)
    for shape in ((12, 20), (20, 12), (16, 16)):
        ours = nn.Parameter(torch.randn(shape))
        reference = nn.Parameter(ours.detach().clone())
        optimizers = (
            Muon([ours], lr=0.1, weight_decay=0.1),
            torch.optim.Muon([reference], lr=0.1, weight_decay=0.1, adjust_lr_fn="match_rms_adamw"),
        )
        start = ours.detach().clone()
        for _ in range(3):
            ours.grad = torch.randn(shape)
            reference.grad = ours.grad.clone()
            for optimizer in optimizers:
                optimizer.step()
        # Its bfloat16 has 8 bits, and every step multiplies 15 times.
        assert (ours - reference).norm() < 0.03 * (reference - start).norm()


def test_an_orthogonalized_matrix_keeps_its_singular_vectors() -> None:
    torch.manual_seed(0)
    matrix = torch.randn(24, 16)
    left, _, right = torch.linalg.svd(matrix, full_matrices=False)
    inner = left.T @ orthogonalized(matrix) @ right.T  # diagonal, (16, 16)
    values = inner.diagonal()
    assert (values > 0.6).all() and (values < 1.3).all()  # Jordan et al.: near 1, never at it
    assert (inner - values.diag()).abs().max() < 1e-4


def test_the_rate_rises_stays_and_falls_to_nothing() -> None:
    shares = [lr_schedule(step, 100, warm_up=0.1, decay=0.5) for step in range(100)]
    assert shares[0] == pytest.approx(0.1)  # (0 + 1) / (0.1 x 100)
    assert shares[9:51] == [1.0] * 42
    assert shares[75] == pytest.approx(0.5)  # 25 steps left of 50
    assert shares[99] == pytest.approx(0.02)
