"""The words of the map: those around it, what each kind of part does and its code, as `parts.md` has them; and where
chapters stand."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from lesson.map.plan import Group, Side, own_plan
from model.transformer.config import TransformerConfig
from ui.learn.text.code_reference import definition
from ui.learn.text.markdown import TextError

KIND_OF_SIDE: Mapping[str, str] = {"encoder": "Encoder", "decoder": "Decoder"}
_GROUPS: Mapping[str, str] = {
    "attention": "Self-attention",
    "cross_attention": "Cross-attention",
    "feed_forward": "Feed-forward",
}
_FILE = Path(__file__).parent / "parts.md"


@dataclass(frozen=True, slots=True)
class Part:
    """A kind of part."""

    title: str
    does: str
    chapters: tuple[str, ...]  # that explain it, the best first


def _rows(table: str, columns: int) -> Iterator[list[str]]:
    """The rows of a table, without its head; `TextError` for one that isn't whole."""
    for line in table.splitlines()[2:]:
        cells = line.strip("| ").split(" | ")
        if len(cells) != columns:
            raise TextError(f"parts.md has a row of {len(cells)} columns, but its table has {columns}: {line}")
        yield cells


def _tables(text: str) -> list[str]:
    """The three tables of the file; `TextError` if it has more or fewer."""
    tables = [block for block in text.split("\n\n") if block.startswith("|")]
    if len(tables) != 3:
        raise TextError(f"parts.md has {len(tables)} tables, but must have three: the map's words, parts and code")
    return tables


_WORDS_TABLE, _PARTS_TABLE, _CODE_TABLE = _tables(_FILE.read_text(encoding="utf-8"))
MAP_WORDS: Mapping[str, str] = dict(_rows(_WORDS_TABLE, 2))
PARTS: Mapping[str, Part] = {  # by their kinds
    kind: Part(title, does, tuple(chapters.split(", ")))
    for kinds, title, chapters, does in _rows(_PARTS_TABLE, 4)
    for kind in kinds.split(", ")
}
CODE: Mapping[str, tuple[str, str]] = {  # a file with a function in it, and what the line contains
    kind: (function, snippet) for kinds, function, snippet in _rows(_CODE_TABLE, 3) for kind in kinds.split(", ")
}


@cache
def code_of(kind: str) -> dict[str, Any] | None:
    """The line that computes a kind of part; None for a kind that our network doesn't compute itself.

    Args:
        kind: for positions, how they are marked: rotary, sinusoidal or learned.
    """
    if kind not in CODE:
        return None
    path, _, name = CODE[kind][0].partition(" ")
    lines, first = definition(path, name) or ([], 0)
    at = next((index for index, line in enumerate(lines) if CODE[kind][1] in line), None)
    if at is None:
        raise TextError(f"parts.md names {CODE[kind][1]!r} in {path} {name}, which isn't there.")
    return {
        "path": path,
        "function": name,
        "number": first + at,  # of the line in its file
        "line": lines[at].strip(),
        "source": lines,
        "at": at,
    }


_LEARNS = "embedding projections output cross_queries cross_keys_values cross_output up down"
_ATTENTION = "projections weights mixed"
_OF_A_LAYER = (
    f"{_ATTENTION} output attention_add attention_norm cross_queries cross_keys_values cross_weights cross_mixed "
    "cross_output cross_add cross_norm up activation down feed_forward_add feed_forward_norm"
)
_WORDS = {"block": "every part of a layer", "training": "all that is learned"}  # for many kinds
_HERE: Mapping[str, tuple[str, str]] = {  # of each chapter: the form of the map, and the kinds that it explains
    "tokens": ("decoder", "tokens"),
    "vocabulary": ("decoder", "tokens"),
    "vectors": ("decoder", "embedding"),
    "positions": ("decoder", "positions"),
    "why_attention": ("both", "weights mixed cross_weights cross_mixed"),
    "attention": ("decoder", "weights mixed"),
    "attention_by_hand": ("both", f"{_ATTENTION} cross_queries cross_keys_values cross_weights cross_mixed"),
    "heads": ("decoder", f"{_ATTENTION} output"),
    "block": ("both", _OF_A_LAYER),
    "training": ("both", _LEARNS),
    "generation": ("decoder", "logits probabilities"),
    "sentences": ("decoder", "weights"),
    "context": ("decoder", "attention_add feed_forward_add"),
    "inside": ("decoder", "mixed attention_add feed_forward_add logits"),
    "today": ("decoder", "positions attention_norm projections feed_forward_norm activation final_norm"),
}


def forms() -> dict[str, list[dict[str, Any]]]:
    """The small forms of the map: a decoder of today, and the encoder with a decoder of 2017."""
    both = TransformerConfig(2, encoder_layers=1, norm_place="after", positions="sinusoidal")
    return {"decoder": as_drawn(own_plan(TransformerConfig(1))), "both": as_drawn(own_plan(both))}


def as_drawn(sides: Sequence[Side]) -> list[dict[str, Any]]:
    """Sides as the page draws them."""
    return [
        {
            "name": side.name,
            "title": KIND_OF_SIDE[side.name],
            "layers": side.layers,
            "groups": [_group(side, group) for group in side.groups],
        }
        for side in sides
    ]


def _group(side: Side, group: Group) -> dict[str, Any]:
    rows = [
        [{"key": f"{side.name}.{kind}", "kind": kind, "title": PARTS[kind].title} for kind in row] for row in group.rows
    ]
    return {"title": _GROUPS.get(group.name, ""), "repeated": group.repeated, "rows": rows}


def here(chapter: str) -> dict[str, Any] | None:
    """Where a chapter stands: the form of the map, and the kinds that are highlighted; None if it stands nowhere."""
    if chapter not in _HERE:
        return None
    form, kinds = _HERE[chapter]
    return {"form": form, "kinds": kinds.split(), "words": _WORDS.get(chapter, "")}
