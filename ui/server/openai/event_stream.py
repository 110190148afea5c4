"""Server-sent events, one for each chunk, to a client that must read them."""

from __future__ import annotations

import asyncio
import json
import math
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from typing import Any

import anyio
from starlette.requests import ClientDisconnect
from starlette.responses import StreamingResponse
from starlette.types import Message, Receive, Scope, Send

from ui.server.openai.errors import error_body

_DONE = b"data: [DONE]\n\n"


class EventStream(StreamingResponse):
    """Sends chunks as they come, those of one update in one piece, and [DONE] or an error at the end."""

    def __init__(
        self,
        chunks: AsyncGenerator[list[dict[str, Any]]],
        *,
        headers: dict[str, str],
        unread_seconds: float,
        ended: Callable[[], None],
    ) -> None:
        """
        Args:
            unread_seconds: how long the client may leave a piece unread.
            ended: called at the end, however the stream ends.
        """
        self._chunks = chunks
        super().__init__(_events(chunks), media_type="text/event-stream", headers=headers)
        self._unread_seconds, self._ended = unread_seconds, ended

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        clock, unread = asyncio.get_running_loop().time, anyio.CancelScope()

        async def send_in_time(message: Message) -> None:
            unread.deadline = clock() + self._unread_seconds
            await send(message)
            unread.deadline = math.inf

        try:
            with unread:
                await super().__call__(scope, receive, send_in_time)
        finally:
            with anyio.CancelScope(shield=True):  # the run ends before its place is free
                await self._chunks.aclose()
            self._ended()


async def _events(chunks: AsyncIterator[list[dict[str, Any]]]) -> AsyncIterator[bytes]:
    try:
        async for update in chunks:
            if update:
                yield b"".join(map(_event, update))
        yield _DONE
    except ClientDisconnect:
        return
    except Exception as error:
        yield _event(error_body(error))


def _event(value: dict[str, Any]) -> bytes:
    text = json.dumps(value, separators=(",", ":"))  # in ASCII, since some clients end a line at U+2028, too
    return f"data: {text}\n\n".encode()
