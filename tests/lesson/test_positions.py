"""The lesson on positions: four encodings, the rotation that shifts a position, and rotary scores."""

from __future__ import annotations

import math

import pytest
import torch

from lesson.positions import criteria, likeness, rotary_scores, schemes, shift, steps
from model.transformer.positions import sinusoids


def test_the_sinusoids_are_the_papers() -> None:
    """PE(pos, 2i) = sin(pos / 10000^(2i/d)), PE(pos, 2i+1) = cos of the same (Vaswani et al., 2017), each alone."""
    for length, width in ((3, 6), (20, 7), (128, 128)):
        table = schemes(length, width)["sinusoids"]
        for position in range(length):
            for number in range(width):
                angle = position / 10000 ** ((number - number % 2) / width)
                expected = math.cos(angle) if number % 2 else math.sin(angle)
                assert table[position, number].item() == pytest.approx(expected, abs=2e-5)


def test_binary_digits_read_as_their_position() -> None:
    digits = schemes(16, 4)["binary"]
    assert (digits @ torch.tensor([1.0, 2.0, 4.0, 8.0])).tolist() == list(range(16))


def test_the_statements_about_the_schemes_are_true() -> None:
    """From 0 to 1 a step depends on the length, counting grows without end, digits jump, waves do neither."""
    short, long = schemes(4, 4), schemes(16, 4)
    assert (steps(short["range"])[0].item(), steps(long["range"])[0].item()) == pytest.approx((1 / 3, 1 / 15))
    assert long["counting"].max() == 15
    digits = steps(long["binary"])
    assert digits.min() == 1 and digits.max() == 2  # 7 to 8 changes all four digits: sqrt(4)
    waves = schemes(16, 64)["sinusoids"]
    assert waves.abs().max() <= 1
    assert (steps(waves) - steps(waves)[0]).abs().max() < 1e-5  # |sin, cos| pairs turn by the same angle everywhere


def test_only_sinusoids_fulfil_all_four_criteria() -> None:
    """Each other encoding fails in the one point that the chapter names."""
    failed = {
        name: [point for point in ("unique", "even", "same", "bounded") if not getattr(verdicts, point)]
        for name, verdicts in criteria(4).items()
    }
    assert failed == {"range": ["same"], "counting": ["bounded"], "binary": ["even"], "sinusoids": []}


@pytest.mark.parametrize("width", [2, 7, 64])
def test_the_rotation_takes_a_position_to_the_shifted_one(width: int) -> None:
    for position, by in ((0, 0), (3, 2), (3, -3), (40, 64), (64, -16)):
        turns = shift(position, by, width)
        assert len(turns) == width // 2
        for turn in turns:
            assert turn.turned == pytest.approx(turn.after, abs=2e-5)
            (cosine, sine), (minus_sine, same) = turn.matrix
            assert same == cosine and minus_sine == -sine and cosine**2 + sine**2 == pytest.approx(1, abs=1e-6)
    one, other = ([turn.matrix for turn in shift(position, 5, width)] for position in (0, 30))
    assert one == other  # it knows the shift and not the position


@pytest.mark.parametrize("width", [16, 7])
def test_likeness_is_the_cosine_of_positions(width: int) -> None:
    """With an even width, every position vector has length sqrt(d / 2), since each pair has length 1."""
    table = sinusoids(30, width)
    twin = torch.nn.functional.cosine_similarity(table[:, None], table[None], dim=-1)
    assert (likeness(table) - twin).abs().max() < 1e-5


def test_rotary_scores_depend_on_the_distance_alone() -> None:
    query, key = torch.randn(2, 8, generator=torch.Generator().manual_seed(3))
    scores = rotary_scores(query, key, 12)
    assert scores.diagonal()[0].item() == pytest.approx(float(query @ key), abs=1e-5)  # both turned by the same angle
    for distance in range(-11, 12):
        diagonal = scores.diagonal(distance)
        assert (diagonal - diagonal[0]).abs().max() < 1e-5
    assert (scores[0] - scores[0, 0]).abs().max() > 0.1  # and it does depend on the distance
