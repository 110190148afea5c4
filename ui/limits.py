"""The limits of a page; docs/limits.md explains each."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import Field, dataclass, field, fields
from typing import Any, Self

from model.errors import AttendError

_PREFIX = "ATTEND_"  # of the environment variables
_MB = 1_000_000  # bytes
_OTHER_THREADS = 96  # for all other handlers, such as previews and loading; see `ui.kit.events`


def _limit(private: float, public: float, help: str, *, minimum: float = 1, maximum: float = 1_000_000) -> Any:
    """A limit with its value for a private page, which is the default, and for a public one."""
    return field(default=private, metadata={"public": public, "help": help, "minimum": minimum, "maximum": maximum})


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits. An environment variable changes each of them, such as ATTEND_RUN_SECONDS for `run_seconds`."""

    run_seconds: float = _limit(600.0, 60.0, "Time limit of one answer, in seconds.")
    finish_seconds: float = _limit(
        20.0, 20.0, "Seconds that running answers have to finish when the page is shut down."
    )
    waiting: int = _limit(256, 64, "Page events that may wait, and as many program calls; more are asked to try again.")
    runs: int = _limit(64, 64, "Visitors' runs at the same time; more have to wait.", maximum=1000)
    calls: int = _limit(32, 6, "Program calls that one address may have running at the same time.")
    program_runs: int = _limit(
        64, 64, "Program calls at the same time, from all addresses; more have to wait.", maximum=1000
    )
    visits: int = _limit(1000, 100, "Visits that one address may have; a new one replaces its oldest closed one.")
    events: int = _limit(512, 96, "Clicks and keystrokes of one address that may be in progress or waiting.")
    unread_seconds: float = _limit(60.0, 20.0, "Seconds after which an answer that nobody reads is stopped.")
    connections: int = _limit(1000, 300, "Connections that one address may have in use; at most half of all.")
    all_connections: int = _limit(
        4000, 4000, "Connections of all addresses, as far as the system's limit of open files allows."
    )
    request_seconds: float = _limit(
        30.0, 30.0, "Seconds in which a request has to arrive, header and body.", minimum=0.01
    )
    rows: int = _limit(
        64, 64, "Rows of one forward pass, shared by all runs of the model; a run that needs more runs alone."
    )
    sessions: int = _limit(1000, 1000, "Visits that the server keeps; visits in use are never dropped.")
    session_mb: float = _limit(
        64.0, 64.0, "MB of explanations kept for one visitor; the oldest attention is dropped first."
    )
    all_sessions_mb: float = _limit(
        512.0, 512.0, "MB of explanations kept for all visitors; those of the oldest texts are dropped first."
    )
    undo: int = _limit(50, 50, "Steps that Undo in Write can go back.")
    prefixes_mb: float = _limit(
        256.0, 256.0, "MB of keys and values that each model keeps for its visitors' next prompts."
    )
    request_mb: float = _limit(
        1.0, 1.0, "Largest request, in MB; a conversation that fills the context takes a few KB.", maximum=100
    )
    sign_ins: int = _limit(
        1000, 1000, "Browsers and programs signed in under one name; one more signs out the one unused longest."
    )
    sign_in_days: float = _limit(
        14.0, 14.0, "Days without a request after which a visitor has to sign in again.", minimum=0.01, maximum=1000
    )
    metrics: int = _limit(0, 0, "1 lets every machine read /metrics, 0 only this one.", minimum=0, maximum=1)

    @classmethod
    def of(cls, *, public: bool, environment: Mapping[str, str]) -> Self:
        """The limits of a public or private page, changed by the environment.

        `AttendError` if a value is not a number, or is out of range.
        """
        values: dict[str, Any] = {}
        for limit in fields(cls):
            default: Any = limit.metadata["public"] if public else limit.default
            text = environment.get(variable(limit.name), "").strip()
            values[limit.name] = _parsed(limit, text) if text else default
        return cls(**values)

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
    def sign_in_seconds(self) -> float:
        return self.sign_in_days * 86_400

    @property
    def threads(self) -> int:
        """Threads for Gradio's handlers: each run occupies one while it waits for its next token."""
        return self.runs + self.program_runs + _OTHER_THREADS


def _parsed(limit: Field[Any], text: str) -> float:
    whole, minimum, maximum = limit.type == "int", limit.metadata["minimum"], limit.metadata["maximum"]
    with suppress(ValueError, OverflowError):
        value = int(text) if whole else float(text)
        if minimum <= value <= maximum:
            return value
    raise AttendError(
        f"The environment variable {variable(limit.name)} is {text[:40]!r}, but must be a {'whole ' if whole else ''}"
        f"number from {minimum:g} to {maximum:,.0f}: change it or remove it."
    )


def variable(name: str) -> str:
    """The name of the environment variable for a limit."""
    return _PREFIX + name.upper()
