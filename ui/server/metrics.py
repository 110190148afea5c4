"""The metrics of a running page, for Prometheus: numbers only, never a text, token, name or address.

Each is counted where it occurs: a request when it is answered, a pass when the scheduler makes it, a token when its
reader gets it. Every page has its own registry.
"""

from __future__ import annotations

from collections.abc import Callable

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, ProcessCollector, generate_latest
from prometheus_client.exposition import CONTENT_TYPE_LATEST
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from decoding.observer import Observer, Outcome

CONTENT_TYPE = CONTENT_TYPE_LATEST
_FIRST_TOKEN = (0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 60.0)  # seconds
_TOKEN = (0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0)  # seconds
_ROWS = (1, 2, 4, 8, 16, 32, 64, 128)


class Metrics(Observer):
    """The metrics of one page. The registry adds the process's memory, processor time and open files."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        ProcessCollector(registry=self.registry)
        self._requests = Counter(
            "attend_requests", "HTTP requests by the status of the response.", ["status"], registry=self.registry
        )
        self._runs = Counter(
            "attend_runs", "Runs by how they ended: finished, stopped or failed.", ["outcome"], registry=self.registry
        )
        self._tokens = Counter("attend_tokens", "Tokens decoded, in all texts and beams.", registry=self.registry)
        self._rows = Histogram(
            "attend_step_rows", "Rows of one pass through a model.", buckets=_ROWS, registry=self.registry
        )
        self._first_token = Histogram(
            "attend_first_token_seconds",
            "Time from the request for an answer to its first token.",
            buckets=_FIRST_TOKEN,
            registry=self.registry,
        )
        self._token = Histogram(
            "attend_token_seconds",
            "Time between two tokens of an answer.",
            buckets=_TOKEN,
            registry=self.registry,
        )

    def gauge(self, name: str, help: str, value: Callable[[], float]) -> None:
        """Add a number that is computed whenever the metrics are read."""
        Gauge(f"attend_{name}", help, registry=self.registry).set_function(value)

    def text(self) -> bytes:
        """All metrics in Prometheus's text format."""
        return generate_latest(self.registry)

    def stepped(self, rows: int) -> None:
        self._rows.observe(rows)

    def decoded(self, tokens: int, seconds: float, *, first: bool) -> None:
        self._tokens.inc(tokens)
        (self._first_token if first else self._token).observe(seconds)

    def ended(self, outcome: Outcome) -> None:
        self._runs.labels(outcome).inc()

    def answered(self, status: int) -> None:
        """Count one request, by the status of its response."""
        self._requests.labels(str(status)).inc()


class CountRequests:
    """Counts every request by the status of its response; an exception becomes Starlette's 500."""

    def __init__(self, app: ASGIApp, metrics: Metrics) -> None:
        self._app, self._metrics = app, metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return await self._app(scope, receive, send)
        started = False

        async def counted(message: Message) -> None:
            nonlocal started
            if message["type"] == "http.response.start":
                started = True
                self._metrics.answered(message["status"])
            await send(message)

        try:
            await self._app(scope, receive, counted)
        except Exception:
            if not started:
                self._metrics.answered(500)
            raise
