"""The cache of a network in another process: the text alone, which is read again for every further token.

Keys and values stay in the replica. Whole texts are generated there (`serve.remote`); this is for the short ones that a
page writes token by token, as the course does. Knows nothing of Ray.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

from model.errors import AttendError
from model.interface import Forward, LanguageModel, Want

ONE_TEXT = "This model runs in another process, where one text is read at a time: choose a model that runs here."


@dataclass(frozen=True, slots=True)
class TextCache:
    """The tokens of a single row."""

    tokens: tuple[int, ...]

    @property
    def rows(self) -> int:
        return 1

    def select(self, rows: Sequence[int]) -> Self:
        if list(rows) != [0]:
            raise AttendError(ONE_TEXT)
        return self

    def join(self, other: Self) -> Self:
        raise AttendError(ONE_TEXT)


def read_again(
    network: LanguageModel[Any], tokens: Sequence[int], cache: TextCache, *, want: Want = Want()
) -> Forward[TextCache]:
    """`LanguageModel.step` of a decoder alone, as a `prefill` of the whole text."""
    if network.decoder_start or len(tokens) != cache.rows:
        raise AttendError(ONE_TEXT)
    text = (*cache.tokens, *tokens)
    forward = network.prefill(text, want=want)
    hidden = None if forward.hidden is None else forward.hidden[:, -1:]  # of the token fed
    return replace(forward, cache=TextCache(text), hidden=hidden)
