"""Signing in to a page that asks for a password.

Gradio's own check leaves several routes open to everyone, and its sign-in page contains the list of all endpoints. So
requests are refused here, before Gradio sees them, unless they have a valid cookie from Gradio's /login. Programs sign
in the same way: `gradio_client.Client(address, auth=(name, password))`.
"""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable
from pathlib import Path

from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import HTMLResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ui.server.accounts import SignIns
from ui.server.callers import address_of
from ui.server.responses import is_program_path, refusal

# These reveal nothing about the page; Gradio calls the last one itself.
OPEN = ("/healthz", "/metrics", "/gradio_api/startup-events")

_ATTEMPTS, _WITHIN = 10, 60.0  # an address may send so many wrong passwords within so many seconds
_MAX_ADDRESSES = 10_000  # remembered
_PAGE = (Path(__file__).parent / "sign_in.html").read_bytes()


class SignIn:
    """Lets through requests of visitors who have signed in; others get the sign-in page, or else one sentence."""

    def __init__(self, app: ASGIApp, sign_ins: SignIns, admits: Callable[[str, str], bool]) -> None:
        """
        Args:
            admits: whether a name and a password are an account.
        """
        self._app = app
        self._sign_ins, self._admits = sign_ins, admits
        self._attempts: OrderedDict[str, list[float]] = OrderedDict()  # times by address, without successful ones

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            return await self._app(scope, receive, send)
        if scope["type"] == "websocket":  # Gradio opens none
            return await send({"type": "websocket.close", "code": 1008})
        path = scope["path"].removeprefix(scope.get("root_path", "")).rstrip("/") or "/"
        if path == "/login" and scope["method"] == "POST":
            return await self._sign_in(scope, receive, send)
        if path in OPEN or self._has_signed_in(scope):
            return await self._app(scope, receive, send)
        if is_program_path(path):
            if scope["method"] == "OPTIONS" and "access-control-request-method" in Headers(scope=scope):
                return await self._app(scope, receive, send)  # browsers ask without the key, and learn nothing
            return await self._with_key(scope, receive, send)
        if path == "/" and scope["method"] in ("GET", "HEAD"):
            return await HTMLResponse(_PAGE, 401, {"cache-control": "no-store"})(scope, receive, send)
        await refusal(401, "Sign in first: this page asks for a name and a password.")(scope, receive, send)

    async def _with_key(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a program through whose key, sent as a bearer token, is an account: NAME:PASSWORD."""
        address = address_of(Request(scope))
        if len(self._recent(address)) >= _ATTEMPTS:
            sentence = f"{_ATTEMPTS} wrong keys came from your address: try again in a minute."
            return await refusal(429, sentence, path=scope["path"])(scope, receive, send)
        scheme, _, key = Request(scope).headers.get("authorization", "").partition(" ")
        name, _, password = key.strip().partition(":")
        if scheme.lower() == "bearer" and self._admits(name, password):
            return await self._app(scope, receive, send)
        if key:
            self._count(address)
        sentence = "Sign in first: send NAME:PASSWORD of an account as the API key."
        await refusal(401, sentence, path=scope["path"])(scope, receive, send)

    async def _sign_in(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let Gradio check the password, unless there were too many wrong ones from its address."""
        address = address_of(Request(scope))
        if len(self._recent(address)) >= _ATTEMPTS:
            sentence = f"{_ATTEMPTS} wrong passwords came from your address: try again in a minute."
            return await refusal(429, sentence)(scope, receive, send)
        attempt, wrong = self._count(address), False  # counted before it is checked, so that guesses can't overlap

        async def answered(message: Message) -> None:
            nonlocal wrong
            if message["type"] == "http.response.start":
                wrong = message["status"] == 400
                if wrong:
                    sentence = "This name and password don't match: try again."
                    return await refusal(401, sentence)(scope, receive, send)
            if not wrong:
                await send(message)

        try:
            await self._app(scope, receive, answered)
        finally:
            if not wrong and attempt in (attempts := self._attempts.get(address, [])):
                attempts.remove(attempt)

    def _recent(self, address: str) -> list[float]:
        since = time.monotonic() - _WITHIN
        return [moment for moment in self._attempts.get(address, ()) if moment > since]

    def _count(self, address: str) -> float:
        """Count an attempt now; returns its time."""
        now = time.monotonic()
        self._attempts[address] = [*self._recent(address), now]
        self._attempts.move_to_end(address)
        while len(self._attempts) > _MAX_ADDRESSES:
            self._attempts.popitem(last=False)
        return now

    def _has_signed_in(self, scope: Scope) -> bool:
        """Whether the request has a valid cookie, in one of the two that Gradio sets."""
        identifier, cookies = scope["app"].cookie_id, Request(scope).cookies
        names = (f"access-token-{identifier}", f"access-token-unsecure-{identifier}")
        return any(self._sign_ins.renew(cookies.get(name)) for name in names)
