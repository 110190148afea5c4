"""Answers of the server before Gradio is asked. Pure ASGI, nothing of gradio.

A refusal is JSON in FastAPI's own form, {"detail": a sentence}.
"""

from __future__ import annotations

import json
from collections.abc import Sequence

from starlette.types import Scope, Send


def header(scope: Scope, name: bytes) -> str:
    """The first header of this name, or "" if there is none."""
    return next((value.decode("latin-1") for each, value in scope["headers"] if each == name), "")


async def refuse(send: Send, status: int, sentence: str, *, close: bool = False) -> None:
    """Answer with a status and a sentence.

    Args:
        close: whether the connection ends with the refusal.
    """
    headers = [(b"connection", b"close")] if close else []
    await _send(send, status, b"application/json", json.dumps({"detail": sentence}).encode(), headers)


async def send_page(send: Send, status: int, page: bytes) -> None:
    """Send a page of HTML that no cache may keep."""
    await _send(send, status, b"text/html; charset=utf-8", page)


async def _send(send: Send, status: int, kind: bytes, body: bytes, others: Sequence[tuple[bytes, bytes]] = ()) -> None:
    headers = [(b"content-type", kind), (b"content-length", str(len(body)).encode()), (b"cache-control", b"no-store")]
    await send({"type": "http.response.start", "status": status, "headers": [*headers, *others]})
    await send({"type": "http.response.body", "body": body})
