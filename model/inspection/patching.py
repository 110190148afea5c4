"""Where a difference between two texts is kept: a part of one is put into the other, and the choice is weighed again.

A patch that restores the choice shows that the part carries what the choice needs, given all that the rest computes. It
can't show that the part alone would be enough in another text.

Shapes: L layers, H heads, T tokens.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from model.errors import AttendError
from model.inspection.choice import Choice
from model.inspection.inspector import Inspector
from model.inspection.intervention import Intervention

_LEAST = 1e-3  # nats: how far the two texts must be apart


class Patching(NamedTuple):
    """Progress, and the results so far: the share of the difference that each patch restores.

    0: the corrupted text's choice is as before; 1: it is that of the clean text; nan: not measured yet.
    """

    done: int  # patches
    total: int
    positions: Tensor  # the stream after a layer at a position, (L, T)
    heads: Tensor  # a head at all positions, (L, H)
    clean: float  # log p(answer) - log p(rival) after the clean text
    corrupted: float  # and after the corrupted one


def patch(
    inspector: Inspector,
    clean: Sequence[int],
    corrupted: Sequence[int],
    answer: int,
    rival: int,
    *,
    source: Sequence[int] = (),
    corrupted_source: Sequence[int] | None = None,
) -> Iterator[Patching]:
    """Yield both grids after each pass over some of the patches; the last has all.

    Args:
        corrupted_source: what the encoder reads for the corrupted text, if that differs.
    """
    if len(clean) != len(corrupted):
        raise AttendError(
            f"One text has {len(clean)} tokens and the other {len(corrupted)}, but a patch needs texts of equal "
            "length: choose words with the same number of tokens."
        )
    layers, heads, choice = len(inspector.anatomy.layers), inspector.anatomy.heads, Choice(answer, rival)
    other = source if corrupted_source is None else corrupted_source
    inside = inspector.inspect(clean, source=source, last=True)
    before = inspector.predictions([corrupted], sources=[other] if other else [])
    ends = choice.log_probability(torch.cat([inside.logits, before]))  # (2,)
    if abs(ends[0] - ends[1]) < _LEAST:
        raise AttendError("Both texts lead to the same choice, so no patch can restore it: change another word.")
    changes = [
        Intervention(layer, "layer", positions=(position,), action="replace", replacement=inside.part(layer, "layer"))
        for layer in range(layers)
        for position in range(len(clean))
    ]
    changes += [
        Intervention(layer, "head", head, action="replace", replacement=inside.part(layer, "head", head))
        for layer in range(layers)
        for head in range(heads)
    ]
    rows, single = [corrupted] * len(changes), [[one] for one in changes]
    for done, values in choice.weigh(inspector, rows, sources=[other] if other else [], interventions=single):
        shares = (values - ends[1]) / (ends[0] - ends[1])
        positions, of_heads = shares.split((layers * len(clean), layers * heads))
        yield Patching(
            done,
            len(changes),
            positions.view(layers, -1),  # (L, T)
            of_heads.view(layers, -1),  # (L, H)
            ends[0].item(),
            ends[1].item(),
        )
