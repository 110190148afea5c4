"""Fused passes are the plain ones, up to rounding."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from model.transformer.config import TransformerConfig
from model.transformer.decoder import Transformer
from tests.model.transformer.test_transformer import text
from training.data import Text, pack, rows
from training.run.machine import fuse, fused_loss, has_compiler, summed_loss


@pytest.mark.skipif(not has_compiler(), reason="torch.compile needs a C++ compiler")
def test_fused_passes_have_the_loss_and_the_gradients_of_the_plain_ones() -> None:
    torch.manual_seed(0)
    plain = Transformer(TransformerConfig(50, width=32, layers=1, heads=2, key_value_heads=2)).train()
    fused = Transformer(plain.config).train()
    fused.load_state_dict(plain.state_dict())
    fuse(fused)
    packed = pack(rows(Text(text(length, seed=length), [True] * length) for length in (5, 9, 20)))
    wanted = packed.targets >= 0  # (1, N)

    def gradients(model: Transformer, *, loss_fused: bool) -> tuple[Tensor, dict[str, Tensor | None]]:
        logits = model(packed.tokens, wanted, packed.positions, packed.groups)  # (wanted, V)
        loss = (fused_loss if loss_fused else summed_loss)(logits, packed.targets[wanted])
        loss.backward()
        return loss.detach(), {name: parameter.grad for name, parameter in model.named_parameters()}

    expected, ours = gradients(plain, loss_fused=False), gradients(fused, loss_fused=True)
    torch.testing.assert_close(ours, expected, rtol=1e-4, atol=1e-5)
