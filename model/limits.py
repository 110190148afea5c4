"""Checks of a text's length, the same for all models."""

from __future__ import annotations

from model.errors import AttendError


class TooLong(AttendError):
    """A text has too many characters for the context, so it is not tokenized."""


def check_length(tokens: int, context_length: int, way_out: str = "shorten it") -> None:
    """Raise `ValueError` for a text without tokens, and `AttendError` for one longer than the context.

    Args:
        way_out: what the visitor can do, at the end of the sentence.
    """
    if not tokens:
        raise ValueError("a pass needs at least one token")
    if tokens > context_length:
        raise AttendError(f"The text has {tokens:,} tokens, but the model reads at most {context_length:,}: {way_out}.")


def max_characters(context_length: int) -> int:
    """How many characters a text of so many tokens may have.

    A longer text is refused before it is tokenized, which would take time and memory. The longest tokens of common
    vocabularies are 128 blanks; ordinary texts have three to five characters a token.
    """
    return min(128 * context_length, max(1_000_000, 16 * context_length), 8_000_000)


def check_characters(text: str, context_length: int) -> None:
    """Raise `TooLong` for a text with more characters than a text that fits into the context may have."""
    if len(text) > (limit := max_characters(context_length)):
        raise TooLong(
            f"The text has {len(text):,} characters, but the model, with its context of {context_length:,} tokens, "
            f"reads at most {limit:,}: shorten it."
        )


def check_room(tokens: int, context_length: int) -> None:
    """Raise `AttendError` for a text of this many tokens if the context has no room for one more."""
    if tokens >= context_length:
        raise AttendError(
            f"The text has filled the context of {context_length:,} tokens: start a new one or shorten it."
        )
