"""What a chapter shows and asks for in the slots of its text: `{{name}}`, `{{name: label}}`, `{{name: label | look}}`.

A slot is named after an input or a value of the chapter's result, with a dot before what lies inside of it, such as
`division.weights`. An input's slot is of the kind that the input declares (`ui/learn/inputs.py`). A computed value is a
text in a sentence ({formula}, {code}, {token} and lists of these and of texts are such, too) or, with a label, a table,
unless the look that is written in its slot makes it something else:

- `word 1, word 2 × x, y`: the names of a table's rows and columns: words, a value such as {pair} that holds them, `#`
  for numbers from 0, `1` for numbers from 1, or none;
- `shares` or `plain`: a table's colours, which else tell the sign; `3 decimals`, which else are two;
- `columns: -, pair, times`: a table of texts under a title, the label, with these headings, a blank one as `-`. A cell
  may also be {bar: share}, {token}, {formula} or {pieces: […]}, and a row {cells, later};
- `bars`: a bar for each [name, share, text], where a name may be {token};
- `tokens`: a row of tokens;
- `buttons`: buttons that fill in what the result says: [label, changes] each.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from dataclasses import field as dataclass_field
from typing import Any, Literal

from ui.learn.text.markdown import TextError

Kind = Literal[
    "area", "bars", "button", "cases", "check", "drawing", "examples", "explanation", "line", "numbers", "prediction",
    "records", "reset", "select", "slider", "switch", "table", "text", "tokens", "value", "words",
]  # fmt: skip
_KINDS_BY_LOOK: Mapping[str, Kind] = {"bars": "bars", "tokens": "tokens", "buttons": "examples"}
_COLUMNS = "columns: "
_VALUE = re.compile(r"\{([\w.]+)\}")


@dataclass(frozen=True, slots=True)
class Slot:
    """One kind of thing, with what its kind needs to be drawn."""

    kind: Kind
    options: Mapping[str, Any] = dataclass_field(default_factory=dict, hash=False)

    def __post_init__(self) -> None:
        if self.kind == "switch" and not self.options.get("cases"):
            raise ValueError("A switch needs names for its options.")

    @property
    def cases(self) -> Sequence[str]:
        """The names of the texts that the chapter's text must have under this slot."""
        return self.options.get("cases", ())

    def as_written(self, label: str, looks: Sequence[str]) -> Slot:
        """The slot with the looks that the text gives it; `TextError` for one that it can't have."""
        if self.kind == "value":
            return _value_slot(label, looks)
        if self.kind == "numbers":
            return Slot("numbers", {**_matrix_look(looks, scale="plain"), **self.options})
        if looks:
            raise TextError(f"can't be “{looks[0]}”")
        return self


def _value_slot(label: str, looks: Sequence[str]) -> Slot:
    """How a computed value is shown."""
    if len(looks) == 1 and looks[0] in _KINDS_BY_LOOK:
        return Slot(_KINDS_BY_LOOK[looks[0]])
    if len(looks) == 1 and looks[0].startswith(_COLUMNS):
        if not label:
            raise TextError("has columns but no title, by which a screen reader could call it")
        names = _listed(looks[0].removeprefix(_COLUMNS))
        return Slot("records", {"columns": ["" if name == "-" else name for name in names]})
    return Slot("table", _matrix_look(looks, scale="signed")) if label or looks else Slot("text")


def _matrix_look(looks: Sequence[str], scale: str) -> dict[str, Any]:
    """The options of a table of numbers, from what its slot says of it."""
    options: dict[str, Any] = {"rows": "", "columns": "", "scale": scale, "digits": 2}
    for look in looks:
        if len(axes := f" {look} ".split(" × ")) == 2:
            options |= {"rows": _names(axes[0]), "columns": _names(axes[1])}
        elif look in ("shares", "plain"):
            options["scale"] = look.removesuffix("s")
        elif decimals := re.fullmatch(r"(\d) decimals", look):
            options["digits"] = int(decimals[1])
        else:
            raise TextError(f"can't be “{look}”")
    return options


def _listed(names: str) -> list[str]:
    return [name.strip() for name in names.split(",")]


def _names(names: str) -> str | list[str]:
    """Of rows or columns: the name of a value, `#` or `1`, or the names themselves."""
    names = names.strip()
    if value := _VALUE.fullmatch(names):
        return value[1]
    return names if names in ("", "#", "1") else _listed(names)


VALUE = Slot("value")  # a computed value, as the text writes it: a text, a table, …
DRAWING = Slot("drawing")  # by the function of this name in the chapter's script
EXPLANATION = Slot("explanation")  # the line that tells of the number under the pointer, by the script's `explain`
PREDICTION = Slot("prediction")  # a question of the exercises; what follows it in its part appears after a guess
RESET = Slot("reset")  # a button: back to the chapter's own example
NUMBERS = Slot("numbers")  # a matrix whose numbers can be changed
CHECK = Slot("check")  # on or off


def numbers_of(name: str) -> Slot:
    """Numbers of an input that is not the slot's name."""
    return Slot("numbers", {"edits": name, "scale": "signed"})


def cases(*names: str) -> Slot:
    """A sentence for each case: the result names one of them, or a list of those that follow each other."""
    return Slot("cases", {"cases": names})


def drawing(*names: str) -> Slot:
    """What the chapter's script draws with texts that stand under its slot."""
    return Slot("drawing", {"cases": names})


def field(**look: Any) -> Slot:
    """A line of text, or an area of several `rows`.

    Args:
        look: `wide`; `size` in letters; `live` if it is asked about while it is typed; `bare` without a visible label;
            `maxlength` if nothing longer can be typed; `also`, what else changes with it.
    """
    return Slot("area" if "rows" in look else "line", look)


def slider(least: float, most: float, step: float = 1) -> Slot:
    """A number between two limits, which the result may narrow: `limits: {name: [least, most]}`."""
    return Slot("slider", {"min": least, "max": most, "step": step})


def select(options: str) -> Slot:
    """One of a list: the name of the value that holds it, as values, pairs of value and text, or how many there are."""
    return Slot("select", {"options": options})


def options(*names: str, values: Sequence[Any] = (), also: Mapping[str, Any] | None = None) -> Slot:
    """One of a few, which stand side by side: their names, under which the chapter's text has what they are called.

    Args:
        values: what they stand for, unless their names are that.
        also: what else changes with it.
    """
    return Slot("switch", {"cases": names, "values": values or names, "also": also})


def words(*, also: Mapping[str, Any] | None = None) -> Slot:
    """A sentence of the small model, word by word; its value is a list of ids."""
    return Slot("words", {"options": "words", "longest": "longest", "also": also})


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
