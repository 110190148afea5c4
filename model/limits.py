"""How long a text may be: the refusals that all models share."""

from __future__ import annotations

from model.errors import AttendError


def check_length(tokens: int, context_length: int) -> None:
    """`ValueError` for a text of no tokens, `AttendError` for one of more than the model reads."""
    if not tokens:
        raise ValueError("a pass needs at least one token")
    if tokens > context_length:
        raise AttendError(
            f"The text has {tokens:,} tokens, but the model reads at most {context_length:,}: shorten it."
        )


def check_room(tokens: int, context_length: int) -> None:
    """`AttendError` for a text of so many tokens to which none can be added."""
    if tokens >= context_length:
        raise AttendError(
            f"The text has filled the context of {context_length:,} tokens: start a new one or shorten it."
        )
