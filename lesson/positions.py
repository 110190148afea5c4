"""Position encodings: four schemes side by side, shifts of sinusoids as rotations, and rotary positions.

Sinusoids are those of "Attention is all you need" (Vaswani et al., 2017, section 3.5); the three simpler schemes show
what they improve on.

Shapes: T positions, W width.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from model.transformer.positions import rotary_tables, rotate, sinusoids

_SAME = 1e-4  # of two distances, but for rounding


def steps(vectors: Tensor) -> Tensor:
    """The distances of neighbouring positions, (T, W) → (T - 1,)."""
    return (vectors[1:] - vectors[:-1]).norm(dim=-1)  # (T - 1,)


@dataclass(frozen=True, slots=True)
class Criteria:
    """What a good position encoding should do, as found on short and long texts."""

    unique: bool  # no two positions have the same vector
    even: bool  # within a text, all neighbours are equally far apart
    same: bool  # neighbours are as far apart in a long text as in a short one
    bounded: bool  # numbers don't grow with the text


def criteria(width: int) -> dict[str, Criteria]:
    """Test each scheme on texts of 8 positions, and of as many as W binary digits can tell apart."""
    short, long = schemes(8, width), schemes(2**width, width)
    by_scheme = {}
    for name, vectors in long.items():
        near, far = steps(short[name]), steps(vectors)
        by_scheme[name] = Criteria(
            unique=len(torch.unique(vectors, dim=0)) == len(vectors),
            even=bool((far - far[0]).abs().max() < _SAME),
            same=bool((far[: len(near)] - near).abs().max() < _SAME),
            bounded=bool(vectors.abs().max() <= 1),
        )
    return by_scheme


def schemes(length: int, width: int) -> dict[str, Tensor]:
    """Encodes T positions in four ways: the first two with one number each, the last two with W."""
    positions = torch.arange(length).float()  # (T,)
    bits = torch.arange(length)[:, None] >> torch.arange(width) & 1  # (T, W), least significant bit first
    return {
        "range": (positions / max(1, length - 1))[:, None],  # (T, 1)
        "counting": positions[:, None],  # (T, 1)
        "binary": bits.float(),  # (T, W)
        "sinusoids": sinusoids(length, width),  # (T, W)
    }


def likeness(vectors: Tensor) -> Tensor:
    """The cosines of all pairs of positions (T, W): (T, T)."""
    directions = vectors / vectors.norm(dim=-1, keepdim=True)  # (T, W)
    return directions @ directions.T  # (T, T)


@dataclass(frozen=True, slots=True)
class PairRotation:
    """A shift of positions as the rotation of one pair (sin, cos)."""

    frequency: float  # radians per position
    before: tuple[float, float]  # at the position
    turned: tuple[float, float]  # the matrix times `before`
    after: tuple[float, float]  # at the shifted position, from the table
    matrix: tuple[tuple[float, float], tuple[float, float]]


def shift(position: int, by: int, width: int) -> list[PairRotation]:
    """The rotation [[cos wf, sin wf], [-sin wf, cos wf]] of each pair, with w the shift `by` and f the frequency.

    It depends on the shift and the pair but not on the position, so one linear layer can attend "three words back" from
    any position.
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


def rotary_scores(query: Tensor, key: Tensor, length: int) -> Tensor:
    """Scores (T, T) of one query and one key at every pair of positions, rotated by rotary positions (Su et al., 2021).

    They only depend on the distance.

    Args:
        query, key: (W,), with an even width.
    """
    tables = rotary_tables(length, len(query), 10_000.0)
    cosines, sines = (table[None, :, None].to(query) for table in tables)  # (1, T, 1, W) each
    queries, keys = (
        rotate(vector.expand(1, length, 1, -1), cosines, sines)[0, :, 0] for vector in (query, key)
    )  # (T, W) each
    return queries @ keys.T  # (T, T)
