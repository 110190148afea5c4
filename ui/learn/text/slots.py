"""What a chapter can show and ask for in the slots of its text: `{{name}}`, or `{{name: label}}`.

A slot is named after a value of the chapter's result, with a dot before what lies inside of it: `division.weights`.
What is said beside that value, such as the label of a field, stands in the text.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

Kind = Literal[
    "area", "bars", "button", "cases", "check", "drawing", "examples", "explanation", "line", "numbers", "records",
    "reset", "select", "slider", "switch", "table", "text", "tokens", "words",
]  # fmt: skip
INPUTS = frozenset({"area", "check", "line", "numbers", "select", "slider", "switch", "words"})


@dataclass(frozen=True, slots=True)
class Slot:
    """One kind of thing, with what its kind needs to be drawn."""

    kind: Kind
    options: Mapping[str, Any] = field(default_factory=dict, hash=False)

    def __post_init__(self) -> None:
        if self.kind == "switch" and not self.options.get("cases"):
            raise ValueError("A switch needs names for its options.")

    @property
    def cases(self) -> Sequence[str]:
        """The names of the texts that the chapter's text must have under this slot."""
        return self.options.get("cases", ())


TEXT = Slot("text")  # a text, a token as {token}, or None for nothing
DRAWING = Slot("drawing")  # by the function of this name in the chapter's script
EXPLANATION = Slot(
    "explanation"
)  # the line that tells of the number under the pointer, by `explain` in the chapter's script
RESET = Slot("reset")  # a button: back to the chapter's own example


def cases(*names: str) -> Slot:
    """A sentence for each case: the result names one of them, or a list of those that follow each other."""
    return Slot("cases", {"cases": names})


def drawing(*names: str) -> Slot:
    """What the chapter's script draws with texts that stand under its slot."""
    return Slot("drawing", {"cases": names})


# ---- what is computed ----


def table(rows: str = "", columns: str | Sequence[str] = "", *, scale: str = "signed", digits: int = 2) -> Slot:
    """A matrix, or one for each head: rows of numbers, or an object {rows, rowNames, columnNames, caption, digits}.

    Args:
        rows: the name of the value that holds the names of the rows, `#` for their numbers from 0, `1` from 1.
        columns: the same of the columns, or their names.
        scale: `signed`, `share` or `plain`; it decides the colours.
    """
    return Slot("table", {"rows": rows, "columns": columns, "scale": scale, "digits": digits})


# A table of texts, whose columns stand after the label: `{{name: label | … | …}}`, a blank one as `-`. A cell may also
# be {bar: share}, {token} or {pieces: […]}, and a row {cells, later}.
RECORDS = Slot("records")
BARS = Slot("bars")  # a bar for each [name, share, text]; a name may be {token}
TOKENS = Slot("tokens")  # a row of tokens
EXAMPLES = Slot("examples")  # buttons that fill in what the result says: [label, changes] each


# ---- what is asked for ----


def numbers(
    rows: str | Sequence[str] = "",
    columns: str | Sequence[str] = "",
    *,
    edits: str = "",
    scale: str = "plain",
    digits: int = 2,
) -> Slot:
    """A matrix whose numbers can be changed; `edits` is the input that they belong to, unless it is the slot's name."""
    return Slot("numbers", {"rows": rows, "columns": columns, "edits": edits, "scale": scale, "digits": digits})


def line(longest: int | None = None, *, also: Mapping[str, Any] | None = None, **look: Any) -> Slot:
    """A line of text.

    Args:
        also: what else changes with it.
        look: `wide`; `size` in letters; `live` if it is asked about while it is typed; `bare` without a visible label.
    """
    return Slot("line", {"maxlength": longest, "also": also, **look})


def area(rows: int, **look: Any) -> Slot:
    """Several lines of text, with the looks of `line`."""
    return Slot("area", {"rows": rows, **look})


def slider(least: float, most: float, step: float = 1) -> Slot:
    """A number between two limits, which the result may narrow: `limits: {name: [least, most]}`."""
    return Slot("slider", {"min": least, "max": most, "step": step})


def select(options: str) -> Slot:
    """One of a list: the name of the value that holds it, as values, pairs of value and text, or how many there are."""
    return Slot("select", {"options": options})


def switch(*names: str, values: Sequence[Any] = (), also: Mapping[str, Any] | None = None) -> Slot:
    """One of a few, which stand side by side: their names, under which the chapter's text has what they are called.

    Args:
        values: what they stand for, unless their names are that.
    """
    return Slot("switch", {"cases": names, "values": values or names, "also": also})


CHECK = Slot("check")  # on or off


def words(options: str = "words", longest: str = "longest", *, also: Mapping[str, Any] | None = None) -> Slot:
    """A sentence of the small model, word by word; its value is a list of ids."""
    return Slot("words", {"options": options, "longest": longest, "also": also})


def button(
    changes: Mapping[str, Any] | None = None,
    *,
    adds: Mapping[str, int] | None = None,
    primary: bool = False,
    once: bool = False,
) -> Slot:
    """A button that changes some inputs, or adds to them as far as their limits; `once`: for one answer."""
    return Slot("button", {"changes": changes or {}, "adds": adds or {}, "primary": primary, "once": once})


def presets(examples: Mapping[str, Mapping[str, Any]]) -> Slot:
    """Buttons that fill in an example each, by their labels."""
    return Slot("examples", {"examples": list(examples.items())})
