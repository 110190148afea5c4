"""What machines ask a page: /healthz, whether it takes visitors, and /metrics, its numbers."""

from __future__ import annotations

import ipaddress

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from ui.runs.stream import is_closing
from ui.server.metrics import CONTENT_TYPE, Metrics

_FORWARDED = ("forwarded", "x-forwarded-for", "x-real-ip", "via")  # a proxy sends at least one for somebody else


def routes(metrics: Metrics, *, open_to_all: bool) -> list[Route]:
    """
    Args:
        open_to_all: whether /metrics answers other machines, too.
    """

    async def healthz(request: Request) -> Response:
        if is_closing():
            return JSONResponse({"status": "closing"}, status_code=503)
        return JSONResponse({"status": "ready"})

    async def numbers(request: Request) -> Response:
        if open_to_all or _is_of_this_machine(request):
            return Response(metrics.text(), media_type=CONTENT_TYPE)
        sentence = "The metrics are for the machine that the page runs on: ATTEND_METRICS=1 opens them to all."
        return JSONResponse({"detail": sentence}, status_code=403)

    return [Route("/healthz", healthz), Route("/metrics", numbers)]


def _is_of_this_machine(request: Request) -> bool:
    """Whether a program here asks for itself. A proxy or a tunnel on this machine, which asks for others, is known by
    its headers or by the page's name."""
    if request.client is None or any(name in request.headers for name in _FORWARDED):
        return False
    return _is_loopback(request.client.host) and _is_loopback(request.url.hostname or "")


def _is_loopback(host: str) -> bool:
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
