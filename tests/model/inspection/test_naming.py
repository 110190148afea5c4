"""Names of parts, as people write them: counted from 1, read back as they are written."""

from __future__ import annotations

import pytest

from model.errors import AttendError
from model.inspection.intervention import Intervention, interventions_of
from model.inspection.naming import MAX_CHARACTERS, names_of, read_names


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("6.5", [Intervention(5, "head", 4)]),
        ("head 6.5", [Intervention(5, "head", 4)]),
        ("6, Layer 2", [Intervention(5, "layer"), Intervention(1, "layer")]),
        ("attention 1;feed-forward 12", [Intervention(0, "attention"), Intervention(11, "feed_forward")]),
        ("cross-attention 3.10", [Intervention(2, "cross_head", 9)]),
        ("\ncross_attention 3", [Intervention(2, "cross_attention")]),
        ("1.1 x 0.5", [Intervention(0, "head", 0, action="scale", factor=0.5)]),
        ("Feed Forward 3*-2", [Intervention(2, "feed_forward", action="scale", factor=-2)]),
        (" , ", []),
    ],
)
def test_parts_are_read_and_their_names_are_read_back(text: str, parts: list[Intervention]) -> None:
    assert read_names(text) == tuple(parts)
    assert read_names(names_of(parts)) == tuple(parts)
    assert interventions_of([part.plain() for part in parts]) == tuple(parts)  # as a document has them


def test_what_names_no_part_is_refused_with_examples() -> None:
    words = r"^'.*' names no part of a model\. Count from 1 and write 6.5 for layer 6"
    for text in ("0.5", "6.0", "layer 0", "layer 6.5", "head 6", "feed-forward 2.1", "tail 3", "6.5.4", "-1", "6 x"):
        with pytest.raises(AttendError, match=words):
            read_names(f"1.1, {text}")


def test_a_part_that_a_model_lacks_is_named_as_people_and_as_programs_count_and_a_list_has_an_end() -> None:
    with pytest.raises(AttendError, match="has 10,001 characters, but at most 10,000"):
        read_names("1" * (MAX_CHARACTERS + 1))
    with pytest.raises(AttendError, match=r"^There is no layer 7 \(6, counted from 0\): the model has 6.$"):
        Intervention(6, "layer").check(layers=6, heads=8, cross=False)
    with pytest.raises(AttendError, match=r"^There is no head 9 \(8, counted from 0\): each layer has 8.$"):
        Intervention(5, "head", 8).check(layers=6, heads=8, cross=False)
