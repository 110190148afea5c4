"""What every answer of the server carries, and what it refuses before anyone reads it.

The policy names no other host: scripts, styles, pictures and connections come from this page or not at all. Gradio's
own limit is on uploaded files alone, so the size of a request is limited here. A refusal is JSON in FastAPI's own form,
{"detail": a sentence}. Pure ASGI, nothing of gradio.
"""

from __future__ import annotations

import json

from starlette.types import ASGIApp, Message, Receive, Scope, Send

POLICY = (
    "default-src 'self' 'unsafe-inline' 'unsafe-eval' data: blob:; object-src 'none'; base-uri 'self'; "
    "form-action 'self'; frame-ancestors 'self' https://huggingface.co https://*.hf.space"
)  # inline and eval are Gradio's own way of loading; huggingface.co shows a Space inside its frame

MOST_BYTES = 1_000_000  # of one request; a conversation that fills the context is a few kilobytes

_HEADERS = [
    (b"content-security-policy", POLICY.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
]


class Guard:
    """Adds the headers above to every answer and refuses bodies that are too large."""

    def __init__(self, app: ASGIApp, most_bytes: int = MOST_BYTES) -> None:
        self._app = app
        self._most_bytes = most_bytes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return await self._app(scope, receive, send)
        if _announced(scope) > self._most_bytes:
            return await self._refuse(send)
        taken = 0
        refused = False

        async def limited() -> Message:
            nonlocal taken, refused
            message = await receive()
            taken += len(message.get("body", b""))
            if taken > self._most_bytes:
                refused = True
                return {"type": "http.disconnect"}
            return message

        async def guarded(message: Message) -> None:
            if refused:
                return
            if message["type"] == "http.response.start":
                message = {**message, "headers": [*message.get("headers", []), *_HEADERS]}
            await send(message)

        try:
            await self._app(scope, limited, guarded)
        except Exception:
            if not refused:
                raise
        if refused:
            await self._refuse(send)

    async def _refuse(self, send: Send) -> None:
        sentence = f"This request is larger than {self._most_bytes:,} bytes: send less at once."
        headers = [(b"content-type", b"application/json"), *_HEADERS]
        await send({"type": "http.response.start", "status": 413, "headers": headers})
        await send({"type": "http.response.body", "body": json.dumps({"detail": sentence}).encode()})


def _announced(scope: Scope) -> int:
    lengths = [value for name, value in scope["headers"] if name == b"content-length"]
    return int(lengths[0]) if lengths and lengths[0].isdigit() else 0
