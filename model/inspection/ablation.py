"""Which heads a choice depends on: each is switched off in turn, and the choice is weighed again.

This can't prove that a head does nothing: other heads can take over what one no longer does.

Shapes: L layers, H heads.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple

from torch import Tensor

from model.inspection.choice import Choice
from model.inspection.inspector import Inspector
from model.inspection.intervention import Intervention


class Ablation(NamedTuple):
    """Progress, and the results so far."""

    done: int  # heads
    total: int
    effects: Tensor  # the change of the choice's log-probability without each head, (L, H); nan: not measured yet


def switch_off_each(
    inspector: Inspector,
    tokens: Sequence[int],
    chosen: int,
    rival: int | None = None,
    *,
    source: Sequence[int] = (),
    positions: tuple[int, ...] | None = None,
    part: Literal["head", "cross_head"] = "head",
) -> Iterator[Ablation]:
    """Yield the effects after each pass over some of the heads; the last has all.

    Args:
        positions: where the heads are off; None: everywhere.
        part: the heads of attention, or those of cross-attention.
    """
    layers, heads = len(inspector.anatomy.layers), inspector.anatomy.heads
    changes = [
        [Intervention(layer, part, head, positions=positions)] for layer in range(layers) for head in range(heads)
    ]
    choice, sources = Choice(chosen, rival), [source] if source else []
    whole = choice.log_probability(inspector.predictions([tokens], sources=sources))  # (1,)
    for done, values in choice.weigh(inspector, [tokens] * len(changes), sources=sources, interventions=changes):
        yield Ablation(done, len(changes), (values - whole).view(layers, heads))  # (L, H)
