"""What strangers get of a page that asks for a password.

Gradio's own check leaves several routes open to strangers, and its sign-in page carries the list of all endpoints. So
everything is refused here, before Gradio sees it, unless it comes with the cookie that Gradio's /login gave. Programs
sign in the same way: `gradio_client.Client(address, auth=(name, password))`.
"""

from __future__ import annotations

import time
from collections import OrderedDict
from pathlib import Path

from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ui.server.callers import address_of
from ui.server.responses import refuse, send_page

OPEN = ("/healthz", "/metrics", "/gradio_api/startup-events")  # they tell nothing of the page; Gradio starts with it

_TRIES, _WITHIN = 10, 60.0  # wrong passwords of one address, and seconds
_ADDRESSES = 10_000  # remembered
_PAGE = (Path(__file__).parent / "sign_in.html").read_bytes()


class SignIn:
    """Lets in who has signed in. Everybody else gets the page to do so, and for all but that one sentence."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self._failures: OrderedDict[str, list[float]] = OrderedDict()  # times of an address's wrong passwords

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            return await self._app(scope, receive, send)
        if scope["type"] == "websocket":  # Gradio opens none
            return await send({"type": "websocket.close", "code": 1008})
        path = scope["path"].removeprefix(scope.get("root_path", "")).rstrip("/") or "/"
        if path == "/login" and scope["method"] == "POST":
            return await self._sign_in(scope, receive, send)
        if path in OPEN or _has_signed_in(scope):
            return await self._app(scope, receive, send)
        if path == "/" and scope["method"] in ("GET", "HEAD"):
            return await send_page(send, 401, _PAGE)
        await refuse(send, 401, "Sign in first: this page asks for a name and a password.")

    async def _sign_in(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let Gradio check the password, unless its address has guessed too often."""
        address = address_of(Request(scope))
        if len(self._recent(address)) >= _TRIES:
            return await refuse(send, 429, f"{_TRIES} wrong passwords came from your address: try again in a minute.")
        wrong = False

        async def answered(message: Message) -> None:
            nonlocal wrong
            if message["type"] == "http.response.start":
                wrong = message["status"] == 400
                if wrong:
                    self._remember(address)
                    return await refuse(send, 401, "This name and password don't match: try again.")
            if not wrong:
                await send(message)

        await self._app(scope, receive, answered)

    def _recent(self, address: str) -> list[float]:
        since = time.monotonic() - _WITHIN
        return [moment for moment in self._failures.get(address, ()) if moment > since]

    def _remember(self, address: str) -> None:
        self._failures[address] = [*self._recent(address), time.monotonic()]
        self._failures.move_to_end(address)
        while len(self._failures) > _ADDRESSES:
            self._failures.popitem(last=False)


def _has_signed_in(scope: Scope) -> bool:
    """Whether a cookie of the request is one that Gradio gave out, as in its own check."""
    gradio, cookies = scope["app"], Request(scope).cookies
    names = (f"access-token-{gradio.cookie_id}", f"access-token-unsecure-{gradio.cookie_id}")
    return any(cookies.get(name) in gradio.tokens for name in names)
