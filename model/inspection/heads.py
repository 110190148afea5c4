"""How much of a head's attention lies on each of several patterns.

The shares are those of TransformerLens' head detector: the attention to the first token and to a token itself, which
most heads use as a place to rest, is left out of both sides of the division.

Shapes: L layers, H heads, T tokens, P patterns.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from model.errors import AttendError
from model.inspection.inspector import Inspector

PATTERNS = ("previous", "duplicate", "induction", "first", "separators")


@dataclass(frozen=True, slots=True)
class HeadScores:
    """Shares of the attention of every head, (L, H) each.

    The first three are shares of what neither goes to the first token nor to the token itself; `rest` is how much that
    is. The others are shares of all attention.
    """

    previous: Tensor  # to the token before
    duplicate: Tensor  # to earlier tokens that are the same
    induction: Tensor  # to tokens that followed an earlier one that is the same
    first: Tensor  # to the first token of the text
    separators: Tensor  # to punctuation and line breaks
    rest: Tensor

    def shares(self) -> Tensor:
        """Each pattern's share of all attention, in the order of `PATTERNS`, (P, L, H)."""
        shares = [self.previous * self.rest, self.duplicate * self.rest, self.induction * self.rest]
        return torch.stack([*shares, self.first, self.separators])


def score_heads(attention: Tensor, tokens: Sequence[int], separators: frozenset[int]) -> HeadScores:
    """The shares of attention (L, H, T, T) over a text; the first token is left out as a query, since it sees
    only itself.

    Args:
        separators: the ids of punctuation and line breaks.
    """
    ids = torch.tensor(list(tokens), device=attention.device)  # (T,)
    length = len(ids)
    same = (ids[:, None] == ids).tril(-1)  # (T, T): a row for each query, a column for each key
    follows = torch.zeros_like(same)
    follows[:, 1:] = same[:, :-1]
    earlier = torch.ones_like(same).tril(-1)
    earlier[:, :1] = False
    patterns = torch.stack([earlier, earlier.triu(-1), same & earlier, follows & earlier])  # (4, T, T)
    # one product: a copy of the attention for each pattern would take five times as long
    rest, *on_patterns = (attention.flatten(2) @ patterns.to(attention).flatten(1).T).unbind(dim=-1)  # (L, H) each
    previous, duplicate, induction = [(share / rest).nan_to_num(0.0).cpu() for share in on_patterns]  # (L, H) each
    received = attention[:, :, 1:].sum(dim=-2) / max(1, length - 1)  # the mean attention to each key, (L, H, T)
    marks = torch.tensor([token in separators for token in tokens], device=attention.device)  # (T,)
    return HeadScores(
        previous,
        duplicate,
        induction,
        first=received[..., 0].cpu(),
        separators=received[..., marks].sum(dim=-1).cpu(),
        rest=(rest / max(1, length - 1)).cpu(),
    )


def score_induction(inspector: Inspector, *, seed: int, length: int = 50) -> Tensor:
    """How much of a head's attention goes to the token that followed last time, in random tokens repeated once: (L, H).

    This is the mean of the diagonal 1 - length, as TransformerLens measures it.
    """
    if "cross_attention" in inspector.anatomy.names:
        raise AttendError("Induction is measured without a source, which this model needs: choose a decoder alone.")
    size = inspector.predictions([[0]]).shape[-1]
    drawn = torch.randint(size, (length,), generator=torch.Generator().manual_seed(seed)).tolist()
    attention = inspector.inspect([*drawn, *drawn], last=True).attention.decoder[0]  # (L, H, T, T)
    return attention.diagonal(offset=1 - length, dim1=-2, dim2=-1).mean(dim=-1).cpu()
