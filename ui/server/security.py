"""The headers of every response, the requests that are refused unread, and the headers that only a proxy may send.

The policy names no other host: scripts, styles, pictures and connections come from this page or not at all. Only files
whose address changes with their content may be stored by a browser or a proxy; all else may hold a visitor's text.
Gradio only limits uploaded files, so the size of a request is limited here. Routes that no part of the page uses are
refused, and so are requests from other pages unless this one is public. Pure ASGI, nothing of gradio.
"""

from __future__ import annotations

import os

from starlette.types import ASGIApp, Message, Receive, Scope, Send
from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware

from ui.limits import Limits
from ui.server.hosts import is_added, is_host, is_own
from ui.server.responses import header, refuse

POLICY = (
    "default-src 'self' 'unsafe-inline' 'unsafe-eval' data: blob:; object-src 'none'; base-uri 'self'; "
    "form-action 'self'; frame-ancestors 'self' https://huggingface.co https://*.hf.space"
)  # inline and eval are Gradio's own way of loading; huggingface.co shows a Space inside its frame

_API = "/gradio_api/"
_USED = (
    "api",
    "app_id",
    "call",
    "cancel",
    "heartbeat",
    "info",
    "login_check",
    "openapi.json",
    "queue",
    "reset",
    "run",
    "startup-events",
    "theme.css",
    "token",
    "user",
)  # what may follow; others write files that are never deleted, print what they are sent, or never end

_VERSIONED = ("/assets/", "/attend/")  # Gradio's files and ours
_STORED, _NOT_STORED = b"public, max-age=31536000, immutable", b"no-store"

_PROXIES = "FORWARDED_ALLOW_IPS"  # uvicorn's variable for the addresses of trusted proxies
_NAMING = (b"x-forwarded-host", b"x-forwarded-proto", b"x-gradio-server")  # Gradio builds the page's address from these

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
                others = [each for each in message.get("headers", []) if each[0] != b"cache-control"]
                message = {**message, "headers": [*others, *_HEADERS, _caching(scope, message["status"])]}
            elif not message.get("more_body"):
                ended = True
            await send(message)

        host = header(scope, b"host")
        if host and not is_host(host):
            return await refuse(answer, 400, "This request names no host: open the page under its address.")
        if self._names is not None and not is_own(host, _origin(scope), self._names):
            return await refuse(answer, 403, _ELSEWHERE)
        _, api, route = scope["path"].partition(_API)
        if api and route.partition("/")[0] not in _USED:
            return await refuse(answer, 404, "This page takes no files." if route == "upload" else "Not Found")
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


def _caching(scope: Scope, status: int) -> tuple[bytes, bytes]:
    versioned = status in (200, 206, 304) and scope["path"].startswith(_VERSIONED)
    return b"cache-control", _STORED if versioned else _NOT_STORED


class CheckForwarded:
    """Removes the proxies' headers from which Gradio builds the page's address, unless they name an allowed host.

    Gradio would believe them from anyone. uvicorn reads the others, such as the caller's address, but only from trusted
    proxies.
    """

    def __init__(self, app: ASGIApp, names: frozenset[str] | None) -> None:
        """
        Args:
            names: under which the page answers, see `ui.server.hosts`; None for any.
        """
        proxies = os.environ.get(_PROXIES, "")
        self._names = names
        self._space = os.environ.get("SPACE_HOST", "").lower().split(",") if os.environ.get("SPACE_ID") else None
        self._app = ProxyHeadersMiddleware(app, proxies or "127.0.0.1,::1")  # type: ignore[arg-type]
        self._proxies = self._app.trusted_hosts if proxies else ()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            forwarded = header(scope, b"x-forwarded-host").partition(",")[0].strip()
            headers = [each for each in scope["headers"] if each[0] not in _NAMING]
            if self._is_trusted(scope, forwarded):
                headers += [(b"x-forwarded-host", forwarded.encode("latin-1"))] * bool(forwarded)
                headers += [each for each in scope["headers"] if each[0] == b"x-forwarded-proto"][:1]
            scope["headers"] = headers
        await self._app(scope, receive, send)  # type: ignore[arg-type]

    def _is_trusted(self, scope: Scope, forwarded: str) -> bool:
        host = header(scope, b"host")
        if forwarded and not is_host(forwarded):
            return False
        if self._names is not None:
            return is_added(forwarded or host, self._names)
        if self._space is not None:
            name = (forwarded or host).lower()
            return forwarded in ("", host) or name in self._space or name.endswith(".hf.space")
        return bool(scope["client"]) and scope["client"][0] in self._proxies


def _origin(scope: Scope) -> str | None:
    return header(scope, b"origin") or None


def _announced(scope: Scope) -> int:
    length = header(scope, b"content-length")
    return int(length) if length.isascii() and length.isdigit() else 0
