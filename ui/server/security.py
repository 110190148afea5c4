"""The headers of every response, and the requests that are refused unread.

The policy names no other host: scripts, styles, pictures and connections come from this page or not at all. Gradio only
limits uploaded files, so the size of a request is limited here. Uploads, which no part of the page uses, are refused,
and so are requests from other pages unless this one is public. Pure ASGI, nothing of gradio.
"""

from __future__ import annotations

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ui.limits import Limits
from ui.server.hosts import is_own
from ui.server.responses import header, refuse

POLICY = (
    "default-src 'self' 'unsafe-inline' 'unsafe-eval' data: blob:; object-src 'none'; base-uri 'self'; "
    "form-action 'self'; frame-ancestors 'self' https://huggingface.co https://*.hf.space"
)  # inline and eval are Gradio's own way of loading; huggingface.co shows a Space inside its frame

_UNUSED = ("/gradio_api/upload", "/gradio_api/deep_link")  # both write files that would never be deleted

_HEADERS = [
    (b"content-security-policy", POLICY.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
]


class Guard:
    """Adds the headers above to every response; refuses requests that are too large, useless or from other websites."""

    def __init__(
        self, app: ASGIApp, *, most_bytes: int = Limits().request_bytes, names: frozenset[str] | None = None
    ) -> None:
        """
        Args:
            most_bytes: of one request.
            names: under which the page answers, see `ui.server.hosts`; None for any.
        """
        self._app = app
        self._most_bytes = most_bytes
        self._names = names

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return await self._app(scope, receive, send)

        begun = ended = refused = False
        taken = 0

        async def answer(message: Message) -> None:
            nonlocal begun, ended
            if message["type"] == "http.response.start":
                begun = True
                message = {**message, "headers": [*message.get("headers", []), *_HEADERS]}
            elif not message.get("more_body"):
                ended = True
            await send(message)

        if self._names is not None and not is_own(header(scope, b"host"), _origin(scope), self._names):
            return await refuse(answer, 403, _ELSEWHERE)
        if scope["path"].rstrip("/").endswith(_UNUSED):
            return await refuse(answer, 404, "This page takes no files.")
        if _announced(scope) > self._most_bytes:
            return await refuse(answer, 413, self._too_large)

        async def limited() -> Message:
            nonlocal taken, refused
            message = {} if refused else await receive()
            taken += len(message.get("body", b""))
            refused = refused or taken > self._most_bytes
            return {"type": "http.disconnect"} if refused else message

        async def guarded(message: Message) -> None:
            if begun or not refused:
                await answer(message)

        try:
            await self._app(scope, limited, guarded)
        except Exception:
            if not refused:
                raise
        if refused and not begun:
            await refuse(answer, 413, self._too_large)
        elif refused and not ended:  # the status has been sent: the response can only end early
            await answer({"type": "http.response.body"})

    @property
    def _too_large(self) -> str:
        return f"This request is larger than {self._most_bytes:,} bytes: send less at once."


_ELSEWHERE = (
    "This page answers only under its own names: open it as it was printed at its start, or start it with "
    "--allow-host and the name."
)


def _origin(scope: Scope) -> str | None:
    return header(scope, b"origin") or None


def _announced(scope: Scope) -> int:
    length = header(scope, b"content-length")
    return int(length) if length.isascii() and length.isdigit() else 0
