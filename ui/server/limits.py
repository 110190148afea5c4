"""What one page allows, all in one place; docs/limits.md explains each."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import Field, dataclass, field, fields
from typing import Any, Self

from model.errors import AttendError

_PREFIX = "ATTEND_"  # of the environment's variables


def _limit(private: float, public: float, help: str, *, most: float = 1_000_000) -> Any:
    """A limit with its value on a page for oneself, as the default, and on a public one."""
    return field(default=private, metadata={"public": public, "help": help, "most": most})


@dataclass(frozen=True, slots=True)
class Limits:
    """Each may be set in the environment: `run_seconds` is ATTEND_RUN_SECONDS."""

    run_seconds: float = _limit(600.0, 60.0, "Seconds that one answer may take; then it ends where it is.")
    waiting: int = _limit(
        256, 64, "Events of pages, and as many calls of programs, that may wait; more are told to try again."
    )
    calls: int = _limit(32, 6, "Calls of programs that one address may have running at the same time.")
    visits: int = _limit(
        1000, 100, "Open pages of one address; one more takes the place of its oldest, if that is closed."
    )
    events: int = _limit(512, 96, "Clicks and keystrokes of one address that may be answered or wait at the same time.")
    unread_seconds: float = _limit(60.0, 20.0, "Seconds after which a program's answer that nobody reads is stopped.")

    @classmethod
    def of(cls, *, public: bool, environment: Mapping[str, str]) -> Self:
        """The limits of a page, changed as the environment says.

        `AttendError` for what is no number or out of range.
        """
        chosen: dict[str, Any] = {}
        for limit in fields(cls):
            value: float = limit.metadata["public"] if public else getattr(cls(), limit.name)
            given = environment.get(variable(limit.name), "").strip()
            chosen[limit.name] = _read(limit, given) if given else value
        return cls(**chosen)


def _read(limit: Field[Any], given: str) -> float:
    whole, most = limit.type == "int", limit.metadata["most"]
    with suppress(ValueError, OverflowError):
        value = int(given) if whole else float(given)
        if 1 <= value <= most:
            return value
    raise AttendError(
        f"The environment's {variable(limit.name)} is {given[:40]!r}, but must be a {'whole ' if whole else ''}number "
        f"from 1 to {most:,.0f}: change it or remove it."
    )


def variable(name: str) -> str:
    """The environment's variable for a limit."""
    return _PREFIX + name.upper()
