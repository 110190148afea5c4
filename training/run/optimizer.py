"""The optimisers, and their learning rate over a run."""

from __future__ import annotations

import torch
from torch import nn

from training.run.muon import Muon
from training.settings import Optimizer, Schedule


def lr_schedule(step: int, steps: int, *, warm_up: float, decay: float, schedule: Schedule = "flat") -> float:
    """The learning rate at a step, as a share of its peak: linear warm-up, a plateau, linear decay to zero.

    Args:
        step: the step, from 0.
        steps: how many steps the whole run has.
        warm_up: the share of the run, 0 to 1, over which the rate rises.
        decay: the share over which it falls at the end; 0 for none.
        schedule: "flat" keeps the plateau level; "inverse_sqrt" lets it fall with the inverse square root of the step
            (Vaswani et al., 2017, section 5.3).
    """
    risen = max(1.0, warm_up * steps)
    rise = min(1.0, (step + 1) / risen)
    fall = min(1.0, (steps - step) / max(1.0, decay * steps))
    if schedule == "flat":
        return min(rise, fall)
    return min(rise, (risen / max(risen, step + 1)) ** 0.5 * fall)


def make_optimizers(
    model: nn.Module,
    kind: Optimizer,
    *,
    learning_rate: float,
    weight_decay: float,
    precision: torch.dtype = torch.float32,
) -> list[torch.optim.Optimizer]:
    """AdamW (Loshchilov and Hutter, 2019); with "muon", the blocks' matrices take Muon (Jordan et al., 2024) instead.

    Muon makes each matrix's step orthogonal; here the step is scaled to the size of AdamW's, so that one rate serves
    both. The model card compares the two on equally many tokens. Norms and biases are not decayed, and parameters that
    need no gradient keep their values. `precision` is that of Muon's products.
    """
    named = [(name, parameter) for name, parameter in model.named_parameters() if parameter.requires_grad]
    in_blocks = [parameter for name, parameter in named if parameter.dim() == 2 and "embedding" not in name]
    orthogonal = in_blocks if kind == "muon" else []
    with_muon = {id(parameter) for parameter in orthogonal}
    rest = [parameter for _, parameter in named if id(parameter) not in with_muon]
    groups = [
        {"params": [parameter for parameter in rest if parameter.dim() == 2], "weight_decay": weight_decay},
        {"params": [parameter for parameter in rest if parameter.dim() != 2], "weight_decay": 0.0},
    ]
    adamw = torch.optim.AdamW(groups, lr=learning_rate, betas=(0.9, 0.95))
    if not orthogonal:
        return [adamw]
    return [adamw, Muon(orthogonal, lr=learning_rate, weight_decay=weight_decay, precision=precision)]
