"""Routes for monitoring: /healthz tells whether the page takes visitors, and /metrics returns its numbers."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from ui.runs.stream import is_closing
from ui.server.hosts import is_loopback, name_of
from ui.server.metrics import CONTENT_TYPE, Metrics
from ui.server.responses import refusal

_FORWARDED = ("forwarded", "x-forwarded-for", "x-real-ip", "via")  # headers, of which a proxy sends at least one


def routes(metrics: Metrics, *, open_to_all: bool) -> list[Route]:
    """The two routes.

    Args:
        open_to_all: whether other machines may read /metrics, too.
    """

    async def healthz(request: Request) -> Response:
        if is_closing():
            return JSONResponse({"status": "closing"}, status_code=503)
        return JSONResponse({"status": "ready"})

    async def numbers(request: Request) -> Response:
        if open_to_all or _is_of_this_machine(request):
            return Response(metrics.text(), media_type=CONTENT_TYPE)
        return refusal(
            403, "Only the machine that runs the page may read its metrics: ATTEND_METRICS=1 opens them to all."
        )

    return [Route("/healthz", healthz), Route("/metrics", numbers)]


def _is_of_this_machine(request: Request) -> bool:
    """Whether a program on this machine sent the request.

    A proxy or tunnel on this machine also passes on the requests of others; its headers or the page's host name tell.
    """
    if request.client is None or any(name in request.headers for name in _FORWARDED):
        return False
    name = name_of(f"//{request.headers.get('host', '')}")
    return is_loopback(request.client.host) and is_loopback(name or "")
