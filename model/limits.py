"""Checks of a text's length, the same for all models."""

from __future__ import annotations

from model.errors import AttendError


def check_length(tokens: int, context_length: int) -> None:
    """`ValueError` for a text without tokens, `AttendError` for one longer than the context."""
    if not tokens:
        raise ValueError("a pass needs at least one token")
    if tokens > context_length:
        raise AttendError(
            f"The text has {tokens:,} tokens, but the model reads at most {context_length:,}: shorten it."
        )


def check_room(tokens: int, context_length: int) -> None:
    """`AttendError` for a text of this many tokens if the context has no room for one more."""
    if tokens >= context_length:
        raise AttendError(
            f"The text has filled the context of {context_length:,} tokens: start a new one or shorten it."
        )
