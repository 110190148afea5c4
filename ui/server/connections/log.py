"""The log of a page that strangers use: each kind of error at most once a minute, with the number left out.

Records are of one kind if the same place in the program logs them with the same words, whatever a request adds to the
words, so no request can fill the disk.
"""

from __future__ import annotations

import logging
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from types import SimpleNamespace

from gradio import queueing, route_utils, routes

_INTERVAL = 60.0  # seconds between two records of one kind
_MAX_KINDS = 500  # remembered
_MAX_CHARACTERS = 20_000  # of one record; a long traceback has 10,000


@dataclass(slots=True)
class _Kind:
    logged_at: float
    left_out: int = 0


class OncePerMinute(logging.Handler):
    """Writes the first record of each kind, and then at most one a minute, with the number left out since."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__(logging.WARNING)
        self.setFormatter(logging.Formatter("%(levelname)s: %(message)s"))
        self._clock = clock
        self._kinds = dict[tuple[object, ...], _Kind]()

    def emit(self, record: logging.LogRecord) -> None:
        """See `logging.Handler.emit`, which is called by one thread at a time."""
        kind, now = _kind(record), self._clock()
        known = self._kinds.pop(kind, _Kind(-_INTERVAL))
        if now - known.logged_at < _INTERVAL:
            self._kinds[kind] = _Kind(known.logged_at, known.left_out + 1)
            return
        if len(self._kinds) >= _MAX_KINDS:
            del self._kinds[next(iter(self._kinds))]
        self._kinds[kind] = _Kind(now)
        left_out = f" ({known.left_out:,} more like this since the last one)" if known.left_out else ""
        try:
            print(self.format(record)[:_MAX_CHARACTERS] + left_out, file=sys.stderr)
        except Exception:
            self.handleError(record)


def limit_log() -> None:
    """Limit what this process logs, and make Gradio log its errors instead of printing them."""
    root = logging.getLogger()
    if not any(isinstance(each, OncePerMinute) for each in root.handlers):
        root.addHandler(OncePerMinute())
    for module in (queueing, routes, route_utils):
        module.traceback = SimpleNamespace(print_exc=_log_error)  # type: ignore[assignment]


def _log_error() -> None:
    logging.getLogger("gradio").error("An error was raised before or in a handler.", exc_info=sys.exc_info())


def _kind(record: logging.LogRecord) -> tuple[object, ...]:
    error, _, trace = record.exc_info or (None, None, None)
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    raised = trace and (trace.tb_frame.f_code.co_filename, trace.tb_lineno)
    # asyncio also names objects by their addresses in memory, but never in the first line
    return record.name, record.levelno, str(record.msg).partition("\n")[0], error, raised
