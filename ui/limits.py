"""What one page allows, all in one place; docs/limits.md explains each."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import Field, dataclass, field, fields
from typing import Any, Self

from model.errors import AttendError

_PREFIX = "ATTEND_"  # of the environment's variables
_MB = 1_000_000  # bytes
_OTHER_THREADS = 96  # of handlers that answer at once, read what is typed or load a model; see `ui.kit.events`


def _limit(private: float, public: float, help: str, *, least: float = 1, most: float = 1_000_000) -> Any:
    """A limit with its value on a page for oneself, as the default, and on a public one."""
    return field(default=private, metadata={"public": public, "help": help, "least": least, "most": most})


@dataclass(frozen=True, slots=True)
class Limits:
    """Each may be set in the environment: `run_seconds` is ATTEND_RUN_SECONDS."""

    run_seconds: float = _limit(600.0, 60.0, "Seconds that one answer may take before it is cut off.")
    finish_seconds: float = _limit(
        20.0, 20.0, "Seconds that running answers get to end once the page is asked to stop."
    )
    waiting: int = _limit(
        256, 64, "Events of pages, and as many calls of programs, that may wait; more are told to try again."
    )
    runs: int = _limit(64, 64, "Runs of visitors at the same time; more wait for their turn.", most=1000)
    calls: int = _limit(32, 6, "Calls of programs that one address may have running at the same time.")
    program_runs: int = _limit(64, 64, "Calls of programs at the same time, of all addresses; more wait.", most=1000)
    visits: int = _limit(
        1000, 100, "Open pages of one address; one more takes the place of its oldest, if that is closed."
    )
    events: int = _limit(512, 96, "Clicks and keystrokes of one address that may be answered or wait at the same time.")
    unread_seconds: float = _limit(60.0, 20.0, "Seconds after which a program's answer that nobody reads is stopped.")
    rows: int = _limit(64, 64, "Rows of one pass of a model, of all who run it; a run that needs more runs alone.")
    sessions: int = _limit(1000, 1000, "Visits that the server keeps; one that is in use is never dropped.")
    session_mb: float = _limit(64.0, 64.0, "MB of explanations kept for one visitor; older attention goes first.")
    all_sessions_mb: float = _limit(
        512.0, 512.0, "MB of explanations kept for all visitors; those of the oldest texts go first."
    )
    undo: int = _limit(50, 50, "States that Undo in Write can bring back.")
    prefixes_mb: float = _limit(256.0, 256.0, "MB of each model's keys and values kept for its visitors' next prompts.")
    request_mb: float = _limit(
        1.0, 1.0, "MB of one request; a conversation that fills the context is a few KB.", most=100
    )
    metrics: int = _limit(0, 0, "1 lets every machine read /metrics; 0 only this one.", least=0, most=1)

    @classmethod
    def of(cls, *, public: bool, environment: Mapping[str, str]) -> Self:
        """The limits of a page, changed as the environment says.

        `AttendError` for what is no number or out of range.
        """
        chosen: dict[str, Any] = {}
        for limit in fields(cls):
            value: Any = limit.metadata["public"] if public else limit.default
            given = environment.get(variable(limit.name), "").strip()
            chosen[limit.name] = _read(limit, given) if given else value
        return cls(**chosen)

    @property
    def session_bytes(self) -> int:
        return int(self.session_mb * _MB)

    @property
    def all_sessions_bytes(self) -> int:
        return int(self.all_sessions_mb * _MB)

    @property
    def prefix_bytes(self) -> int:
        return int(self.prefixes_mb * _MB)

    @property
    def request_bytes(self) -> int:
        return int(self.request_mb * _MB)

    @property
    def threads(self) -> int:
        """Threads of handlers: a run holds one while it waits for its next token."""
        return self.runs + self.program_runs + _OTHER_THREADS


def _read(limit: Field[Any], given: str) -> float:
    whole, least, most = limit.type == "int", limit.metadata["least"], limit.metadata["most"]
    with suppress(ValueError, OverflowError):
        value = int(given) if whole else float(given)
        if least <= value <= most:
            return value
    raise AttendError(
        f"The environment's {variable(limit.name)} is {given[:40]!r}, but must be a {'whole ' if whole else ''}number "
        f"from {least:g} to {most:,.0f}: change it or remove it."
    )


def variable(name: str) -> str:
    """The environment's variable for a limit."""
    return _PREFIX + name.upper()
