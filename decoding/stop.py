"""When a continuation ends: at an end token, or when there is no room for more."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

from decoding.step import FinishReason
from decoding.strategy import Request


@dataclass(frozen=True, slots=True)
class Stop:
    """The rule of one request."""

    end_tokens: frozenset[int]
    limit: int  # the most tokens that may be generated

    @classmethod
    def of(cls, request: Request, max_new_tokens: int) -> Self:
        """As many tokens as were asked for and as the model's context has room for."""
        return cls(request.end_tokens, min(max_new_tokens, request.context_length - len(request.prompt)))

    def reason(self, tokens: Sequence[int]) -> FinishReason | None:
        """Why these generated tokens are complete, or None while they are not."""
        if tokens[-1] in self.end_tokens:
            return "stop"
        return "length" if len(tokens) >= self.limit else None
