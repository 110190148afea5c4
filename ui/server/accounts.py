"""The names and passwords of those who may open a page (`--auth`)."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self

from model.errors import AttendError

VARIABLE = "ATTEND_AUTH"

_MOST_BYTES = 100_000  # of a file of accounts


@dataclass(frozen=True, slots=True)
class Accounts:
    """Names with their passwords, of which only digests are kept."""

    _digests: tuple[bytes, ...] = field(repr=False)

    @classmethod
    def read(cls, file: str, environment: Mapping[str, str]) -> Self | None:
        """Those of a file, or else of the environment's ATTEND_AUTH; None where neither names any.

        Raises `AttendError` for what is no list of accounts; it never repeats what may be a password.
        """
        if file:
            return cls._of(_lines(Path(file)), f"The file {file[:200]!r} of --auth")
        if given := environment.get(VARIABLE, ""):
            return cls._of(given.splitlines(), f"The environment's {VARIABLE}")
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
            raise AttendError(f"{where} names nobody: write NAME:PASSWORD, one on each line.")
        return cls(tuple(digests))

    def admits(self, name: str, password: str) -> bool:
        """Whether this is an account; takes equally long for all that are none."""
        given = _digest(name, password)
        fits = [hmac.compare_digest(given, known) for known in self._digests]  # all of them, whichever fits
        return any(fits)


def _digest(name: str, password: str) -> bytes:
    return hashlib.sha256(f"{name}\0{password}".encode(errors="surrogatepass")).digest()


def _lines(path: Path) -> list[str]:
    try:
        if not path.is_file() or path.stat().st_size > _MOST_BYTES:
            raise AttendError(f"{str(path)[:200]!r} is no file of accounts: name one with NAME:PASSWORD on each line.")
        return path.read_text(encoding="utf-8").splitlines()
    except (OSError, ValueError) as error:
        raise AttendError(f"{str(path)[:200]!r} can't be read: name another file with --auth.") from error
