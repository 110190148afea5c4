"""The exceptions meant for people: plain words, the value at fault, the limit, and the way out."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


class AttendError(Exception):
    """A mistake that a user can fix.

    Its message is one plain sentence, shown as it is, so it says what was wrong and what to do instead. Programming
    errors stay `ValueError`, `TypeError` and the like.
    """


class EncoderOnly(AttendError):
    """The model is an encoder alone, such as BERT: it can be inspected, but it generates no text."""

    def __init__(self, name: str, kind: str) -> None:
        """
        Args:
            name: what the sentence calls the model.
            kind: the name of its architecture.
        """
        super().__init__(
            f"{name} is a {kind}, an encoder: it was never trained to predict the next token, so it can't generate "
            f"text; python app.py --model {name} shows how it reads a text."
        )


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """The end of a sentence that suggests the known word closest to a mistyped one; "" if none is close."""
    near = difflib.get_close_matches(word[:100], list(known), n=1)
    return f"did you mean {near[0]}?" if near else ""
