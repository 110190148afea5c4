"""Prefix caching: a visitor's newest text stays in the cache for their next prompt.

Most prompts extend an earlier one: the next message of a conversation, a retry, a text with one token replaced. The
keys and values of the common prefix are the same, so only the rest has to be read. (Zheng et al., 2024, "SGLang",
section 3, share prefixes among all requests of a server; here visitors share nothing.)
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from itertools import takewhile
from operator import eq
from threading import Lock

from model.interface import PrefixCache

MAX_BYTES = 256_000_000  # for one model and all its visitors
_WORTH = 8  # tokens; fewer than this can be read again just as quickly


@dataclass(frozen=True, slots=True)
class _Kept:
    tokens: tuple[int, ...]
    cache: PrefixCache  # one row, with these tokens


class KeptPrefixes:
    """The newest text of each visitor; the oldest are dropped when they take too much memory."""

    def __init__(self, max_bytes: int = MAX_BYTES) -> None:
        self._max_bytes = max_bytes
        self._by_visitor: OrderedDict[Hashable, _Kept] = OrderedDict()
        self._bytes = 0
        self._lock = Lock()  # a visitor may leave while a text is kept

    @property
    def bytes(self) -> int:
        """The size of all caches."""
        return self._bytes

    def keep(self, visitor: Hashable, tokens: Sequence[int], cache: PrefixCache) -> None:
        """Remember that these tokens, and no more, are in the cache's only row."""
        with self._lock:
            self._forget(visitor)
            if cache.bytes > self._max_bytes:
                return
            self._by_visitor[visitor] = _Kept(tuple(tokens), cache)
            self._bytes += cache.bytes
            while self._bytes > self._max_bytes:
                self._forget(next(iter(self._by_visitor)))

    def forget(self, visitor: Hashable) -> None:
        """Drop a visitor's text."""
        with self._lock:
            self._forget(visitor)

    def longest(self, visitor: Hashable, prompt: Sequence[int]) -> tuple[int, PrefixCache | None]:
        """How many tokens a prompt shares with the beginning of the visitor's newest text, and their cache.

        The prompt's last token is never among them.
        """
        kept = self._by_visitor.get(visitor)
        if kept is None:
            return 0, None
        same = sum(1 for _ in takewhile(bool, map(eq, kept.tokens, prompt[:-1])))
        return (same, kept.cache.prefix(same)) if same >= _WORTH else (0, None)

    def _forget(self, visitor: Hashable) -> None:
        kept = self._by_visitor.pop(visitor, None)
        self._bytes -= 0 if kept is None else kept.cache.bytes
