"""Names the parts of our transformer for those who look inside.

Shapes: R rows, T tokens of the longest row, W model width.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import torch
from torch import Tensor, nn
from torch.nn import functional

from model.inspection.anatomy import WHOLE, Anatomy, Layer, SubLayer
from model.inspection.inspector import Texts
from model.transformer.layers import Block

if TYPE_CHECKING:
    from model.transformer.decoder import Transformer


def anatomy_of(model: Transformer) -> Anatomy:
    """The parts of a model, whose linear layers may be those of its compiled passes."""
    return Anatomy(
        tuple(Layer(block, _sublayers(block)) for block in model.blocks if isinstance(block, Block)),
        heads=model.config.heads,
        embedding=model.embedding,
        final_norm=model.final_norm,
        unembedding=model.unembedding,
        unembed=partial(unembed, model.unembedding),
    )


def unembed(unembedding: nn.Module, hidden: Tensor, part: slice) -> Tensor:
    """Logits of a part of the vocabulary; layers that are packed in few bits compute all of them."""
    if part == WHOLE or not isinstance(unembedding, nn.Linear):
        return unembedding(hidden)[..., part]
    return functional.linear(hidden, unembedding.weight[part])


def _sublayers(block: Block) -> tuple[SubLayer, ...]:
    """The sub-layers of a block for `Anatomy`."""

    def after(norm: nn.Module | None) -> nn.Module | None:
        return None if block.norm_first else norm

    crossed = ()
    if block.cross is not None:
        crossed = (SubLayer("cross_attention", block.cross, block.cross.o_proj, after(block.cross_norm)),)
    return (
        SubLayer("attention", block.attention, block.attention.o_proj, after(block.attention_norm)),
        *crossed,
        SubLayer("feed_forward", block.feed_forward, norm_after=after(block.feed_forward_norm)),
    )


def last_of(hidden: Tensor, rows: Texts) -> Tensor:
    """Each row's hidden state of its last token, (R, 1, W), from those of all, (R, T, W)."""
    ends = torch.tensor([len(row) - 1 for row in rows], device=hidden.device)  # (R,)
    return hidden[torch.arange(len(rows), device=hidden.device), ends][:, None]  # (R, 1, W)
