"""The names and passwords of those who may open a page (`--auth`), and who has signed in."""

from __future__ import annotations

import hashlib
import hmac
import threading
import time
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping, MutableMapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self

from model.errors import AttendError
from ui.limits import Limits

VARIABLE = "ATTEND_AUTH"

_MAX_BYTES = 100_000  # of a file of accounts


@dataclass(frozen=True, slots=True)
class Accounts:
    """Names with their passwords, of which only digests are stored."""

    _digests: tuple[bytes, ...] = field(repr=False)

    @classmethod
    def read(cls, file: str, environment: Mapping[str, str]) -> Self | None:
        """Read a file, or else the environment's ATTEND_AUTH; None if there is neither.

        Raises `AttendError` for anything but a list of accounts; its message never repeats what may be a password.
        """
        if file:
            return cls._of(_lines(Path(file)), f"The file {file[:200]!r} of --auth")
        if text := environment.get(VARIABLE, ""):
            return cls._of(text.splitlines(), f"The environment's {VARIABLE}")
        return None

    @classmethod
    def _of(cls, lines: Iterable[str], where: str) -> Self:
        digests = []
        for number, line in enumerate(lines, start=1):
            if not line.strip():
                continue
            name, colon, password = line.strip().partition(":")
            if not (name and colon and password):
                raise AttendError(f"{where} has no account on line {number}: write NAME:PASSWORD, one on each line.")
            digests.append(_digest(name, password))
        if not digests:
            raise AttendError(f"{where} has no accounts: write NAME:PASSWORD, one on each line.")
        return cls(tuple(digests))

    def admits(self, name: str, password: str) -> bool:
        """Whether this is an account, in constant time."""
        digest = _digest(name, password)
        matches = [hmac.compare_digest(digest, known) for known in self._digests]  # compares all, even after a match
        return any(matches)


class SignIns(MutableMapping[str, str]):
    """The name of everyone who has signed in, by the token in their cookie, in place of Gradio's own dictionary.

    Gradio keeps a token until its owner signs out. Here a token expires some time after its last request, and each name
    has a limited number of them, of which the least recently used is dropped first.
    """

    def __init__(self, limits: Limits) -> None:
        self._max_by_name, self._seconds = limits.sign_ins, limits.sign_in_seconds
        self._names = OrderedDict[str, str]()  # by token, the least recently used first
        self._last_used = dict[str, float]()
        self._lock = threading.RLock()  # Gradio signs out in another thread

    def renew(self, token: str | None) -> bool:
        """Whether the token of a request belongs to someone who has signed in; if so, its time starts again."""
        with self._lock:
            self._drop_expired()
            if token is None or token not in self._names:
                return False
            self._names.move_to_end(token)
            self._last_used[token] = time.monotonic()
            return True

    def _drop_expired(self) -> None:
        since = time.monotonic() - self._seconds
        while self._names and self._last_used[token := next(iter(self._names))] < since:
            del self[token]

    def __setitem__(self, token: str, name: str) -> None:
        with self._lock:
            self._drop_expired()
            tokens = [other for other, its_name in self._names.items() if its_name == name]
            for oldest in tokens[: max(0, len(tokens) - self._max_by_name + 1)]:
                del self[oldest]
            self._names[token], self._last_used[token] = name, time.monotonic()

    def __getitem__(self, token: str) -> str:
        return self._names[token]

    def __delitem__(self, token: str) -> None:
        with self._lock:
            del self._names[token], self._last_used[token]

    def __iter__(self) -> Iterator[str]:
        with self._lock:
            return iter([*self._names])

    def __len__(self) -> int:
        return len(self._names)


def _digest(name: str, password: str) -> bytes:
    return hashlib.sha256(f"{name}\0{password}".encode(errors="surrogatepass")).digest()


def _lines(path: Path) -> list[str]:
    try:
        if not path.is_file() or path.stat().st_size > _MAX_BYTES:
            raise AttendError(
                f"{str(path)[:200]!r} is not a file of accounts: give one with NAME:PASSWORD on each line."
            )
        return path.read_text(encoding="utf-8-sig").splitlines()  # editors on Windows may put a mark before the text
    except (OSError, ValueError) as error:
        raise AttendError(f"{str(path)[:200]!r} can't be read: give another file with --auth.") from error
