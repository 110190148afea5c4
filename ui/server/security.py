"""The headers of every response, the requests that are refused unread, and the headers that only a proxy may send.

The content security policy names no other host: scripts, styles, pictures and connections come from this page or not at
all. Browsers and proxies may only store files whose address changes with their content, since everything else may
contain a visitor's text. Gradio limits only uploaded files, so this module limits the size of requests. It refuses
routes that no part of the page uses and, unless the page is public, requests from other pages. It is pure ASGI and
knows nothing of gradio.
"""

from __future__ import annotations

import os

from starlette.datastructures import Headers
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware

from ui.limits import Limits
from ui.server.hosts import is_added, is_host, is_own
from ui.server.responses import is_program_path, refusal

POLICY = (
    "default-src 'self' 'unsafe-inline' 'unsafe-eval' data: blob:; object-src 'none'; base-uri 'self'; "
    "form-action 'self'; frame-ancestors 'self' https://huggingface.co https://*.hf.space"
)  # inline and eval are Gradio's own way of loading; huggingface.co shows a Space inside its frame

_API = "/gradio_api/"
_ALLOWED_ROUTES = (
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
)  # after _API; the other routes write files that are never deleted, print what they are sent, or never end

_VERSIONED = ("/assets/", "/attend/")  # Gradio's files and ours
_STORED, _NOT_STORED = b"public, max-age=31536000, immutable", b"no-store"

_PROXIES = "FORWARDED_ALLOW_IPS"  # uvicorn's variable for the addresses of trusted proxies
_ADDRESS_HEADERS = (
    b"x-forwarded-host",
    b"x-forwarded-proto",
    b"x-gradio-server",
)  # Gradio reads its address here

_HEADERS = [
    (b"content-security-policy", POLICY.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
]


class Guard:
    """Adds `_HEADERS` to every response, and refuses requests that are too large, useless or from other websites."""

    def __init__(
        self,
        app: ASGIApp,
        *,
        max_bytes: int = Limits().request_bytes,
        names: frozenset[str] | None = None,
        origins: frozenset[str] = frozenset(),
    ) -> None:
        """
        Args:
            max_bytes: the size limit of a request.
            names: the host names under which the page answers, see `ui.server.hosts`; None for any.
            origins: those of other web pages that may call /v1.
        """
        self._app = app
        self._origins = origins
        self._max_bytes = max_bytes
        self._names = names

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return await self._app(scope, receive, send)

        begun = ended = too_large = False
        received = 0  # bytes

        async def answer(message: Message) -> None:
            nonlocal begun, ended
            if message["type"] == "http.response.start":
                begun = True
                others = [each for each in message.get("headers", []) if each[0] != b"cache-control"]
                added = [*_HEADERS, *self._for_other_pages(scope), _caching(scope, message["status"])]
                message = {**message, "headers": [*others, *added]}
            elif not message.get("more_body"):
                ended = True
            await send(message)

        response = self._refusal(scope)
        if response is not None:
            return await response(scope, receive, answer)

        async def limited() -> Message:
            nonlocal received, too_large
            message = {} if too_large else await receive()
            received += len(message.get("body", b""))
            too_large = too_large or received > self._max_bytes
            return {"type": "http.disconnect"} if too_large else message

        async def guarded(message: Message) -> None:
            if begun or not too_large:
                await answer(message)

        try:
            await self._app(scope, limited, guarded)
        except Exception:
            if not too_large:
                raise
        if too_large and not begun:
            await self._too_large(scope["path"])(scope, receive, answer)
        elif too_large and not ended:  # the status has been sent: the response can only end early
            await answer({"type": "http.response.body"})

    def _for_other_pages(self, scope: Scope) -> list[tuple[bytes, bytes]]:
        """What lets the script of another web page read an answer, and a refusal too, where that page may call."""
        origin = Headers(scope=scope).get("origin")
        if origin not in self._origins or not is_program_path(scope["path"]):
            return []
        return [
            (b"access-control-allow-origin", str(origin).encode("latin-1")),
            (b"access-control-expose-headers", b"*"),
            (b"vary", b"Origin"),
        ]

    def _refusal(self, scope: Scope) -> Response | None:
        """The response to a request that its headers or its path rule out; None for all other requests."""
        headers, path = Headers(scope=scope), scope["path"]
        host, length = headers.get("host", ""), headers.get("content-length", "")
        if host and not is_host(host):
            return refusal(400, _NO_HOST, path=path)
        origin = headers.get("origin") or None
        if origin in self._origins and is_program_path(path):
            origin = None
        if self._names is not None and not is_own(host, origin, self._names):
            return refusal(403, _ELSEWHERE, path=path)
        _, api, route = path.partition(_API)
        if api and route.partition("/")[0] not in _ALLOWED_ROUTES:
            return refusal(404, "This page takes no files." if route == "upload" else "Not Found")
        if length.isascii() and length.isdigit() and int(length) > self._max_bytes:
            return self._too_large(path)
        return None

    def _too_large(self, path: str) -> Response:
        return refusal(413, f"This request is larger than {self._max_bytes:,} bytes: send less at once.", path=path)


_NO_HOST = "The Host header of this request is not valid: open the page at its address."
_ELSEWHERE = (
    "This page answers only under its own host names: open the address that was printed when it started, or start it "
    "with --allow-host and this name."
)


def _caching(scope: Scope, status: int) -> tuple[bytes, bytes]:
    versioned = status in (200, 206, 304) and scope["path"].startswith(_VERSIONED)
    return b"cache-control", _STORED if versioned else _NOT_STORED


class CheckForwarded:
    """Removes the proxies' headers from which Gradio builds the page's address, unless they name an allowed host.

    Gradio would believe them whoever sent them. The others, such as the caller's address, are read by uvicorn, but only
    from trusted proxies.
    """

    def __init__(self, app: ASGIApp, names: frozenset[str] | None) -> None:
        """
        Args:
            names: the host names under which the page answers, see `ui.server.hosts`; None for any.
        """
        proxies = os.environ.get(_PROXIES, "")
        self._names = names
        self._space = os.environ.get("SPACE_HOST", "").lower().split(",") if os.environ.get("SPACE_ID") else None
        self._app = ProxyHeadersMiddleware(app, proxies or "127.0.0.1,::1")  # type: ignore[arg-type]
        self._proxies = self._app.trusted_hosts if proxies else ()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            forwarded = Headers(scope=scope).get("x-forwarded-host", "").partition(",")[0].strip()
            headers = [each for each in scope["headers"] if each[0] not in _ADDRESS_HEADERS]
            if self._is_trusted(scope, forwarded):
                headers += [(b"x-forwarded-host", forwarded.encode("latin-1"))] * bool(forwarded)
                headers += [each for each in scope["headers"] if each[0] == b"x-forwarded-proto"][:1]
            scope["headers"] = headers
        await self._app(scope, receive, send)  # type: ignore[arg-type]

    def _is_trusted(self, scope: Scope, forwarded: str) -> bool:
        host = Headers(scope=scope).get("host", "")
        if forwarded and not is_host(forwarded):
            return False
        if self._names is not None:
            return is_added(forwarded or host, self._names)
        if self._space is not None:
            name = (forwarded or host).lower()
            return forwarded in ("", host) or name in self._space or name.endswith(".hf.space")
        return bool(scope["client"]) and scope["client"][0] in self._proxies
