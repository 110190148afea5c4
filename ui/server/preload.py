"""The page's first scripts and its styles are named in its HTML, so that a browser fetches them beside Gradio's own.

Gradio would name them when it builds the components, after four rounds of its own files. Pure ASGI, nothing of gradio.
"""

from __future__ import annotations

from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

_BEFORE = b"</head>"


class Preload:
    """Adds links to the end of an HTML page's head."""

    def __init__(self, app: ASGIApp, links: str) -> None:
        self._app = app
        self._links = links.encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        start: Message | None = None

        async def linked(message: Message) -> None:
            nonlocal start
            if message["type"] == "http.response.start" and _is_html(message):
                start = message  # until the length of its body is known
            elif start is None:
                await send(message)
            else:
                body = message.get("body", b"").replace(_BEFORE, self._links + _BEFORE, 1)
                headers = MutableHeaders(scope=start)
                if message.get("more_body", False):
                    del headers["content-length"]  # of the body without the links
                else:
                    headers["content-length"] = str(len(body))
                await send(start)
                await send({**message, "body": body})
                start = None

        await self._app(scope, receive, linked if scope.get("method") == "GET" else send)


def _is_html(message: Message) -> bool:
    return MutableHeaders(scope=message).get("content-type", "").startswith("text/html")
