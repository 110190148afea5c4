"""How a transformer learns the position of a token: four schemes side by side, the sinusoids, and a shift of them.

From "Attention is all you need" (Vaswani et al., 2017, section 3.5); the ways that were weighed before it as lectures
tell them.

Shapes: T positions, W width.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from model.transformer.positions import rotary_tables, rotate, sinusoids


@dataclass(frozen=True, slots=True)
class Scheme:
    """One way to tell T positions."""

    vectors: Tensor  # (T, W)

    @property
    def steps(self) -> Tensor:
        """How far each position is from the one before it, (T - 1,)."""
        return (self.vectors[1:] - self.vectors[:-1]).norm(dim=-1)  # (T - 1,)


def schemes(length: int, width: int) -> dict[str, Scheme]:
    """The same T positions encoded in four ways, the last two in W numbers each."""
    positions = torch.arange(length).float()  # (T,)
    bits = torch.arange(length)[:, None] >> torch.arange(width) & 1  # (T, W), the lowest digit first
    return {
        "range": Scheme((positions / max(1, length - 1))[:, None]),  # (T, 1)
        "counting": Scheme(positions[:, None]),  # (T, 1)
        "binary": Scheme(bits.float()),  # (T, W)
        "sinusoids": Scheme(sinusoids(length, width)),  # (T, W)
    }


def likeness(vectors: Tensor) -> Tensor:
    """Dot products of positions (T, W) with one another, as a share of the largest; (T, T)."""
    products = vectors @ vectors.T  # (T, T)
    return products / products.max()


@dataclass(frozen=True, slots=True)
class PairRotation:
    """What a shift does to one pair of numbers (sin, cos) of a position."""

    frequency: float  # radians a position
    before: tuple[float, float]  # at the position
    turned: tuple[float, float]  # the rotation times that
    after: tuple[float, float]  # at the shifted position, as the table has it
    matrix: tuple[tuple[float, float], tuple[float, float]]


def shift(position: int, by: int, width: int) -> list[PairRotation]:
    """The rotation [[cos wf, sin wf], [-sin wf, cos wf]] that takes each pair of a position to the one `by` further on.

    The rotation knows the shift and the pair, never the position: that is why a linear layer can look "three words
    back" from anywhere.
    """
    table = sinusoids(max(position, position + by) + 1, width)  # (T, W)
    frequencies = 10_000.0 ** -(torch.arange(0, width - 1, 2) / width)  # (W / 2,)
    rotations = []
    for pair, frequency in enumerate(frequencies.tolist()):
        angle = torch.tensor(frequency * by)
        sine, cosine = float(angle.sin()), float(angle.cos())
        matrix = ((cosine, sine), (-sine, cosine))
        before, after = (
            (float(table[row, 2 * pair]), float(table[row, 2 * pair + 1])) for row in (position, position + by)
        )
        turned = tuple(row[0] * before[0] + row[1] * before[1] for row in matrix)
        rotations.append(PairRotation(frequency, before, (turned[0], turned[1]), after, matrix))
    return rotations


def rotary_scores(length: int, width: int, seed: int) -> Tensor:
    """One query and one key, the same at every position, turned by rotary positions (Su et al., 2021): their scores
    (T, T) depend on the distance alone.

    Args:
        width: even; of the query and the key, which are drawn.
    """
    query, key = torch.randn(2, 1, 1, 1, width, generator=torch.Generator().manual_seed(seed))  # (1, 1, 1, W) each
    cosines, sines = (table[None, :, None] for table in rotary_tables(length, width, 10_000.0))  # (1, T, 1, W) each
    queries, keys = (
        rotate(vector.expand(1, length, 1, width), cosines, sines)[0, :, 0] for vector in (query, key)
    )  # (T, W) each
    return queries @ keys.T  # (T, T)
