"""The Model Context Protocol, through which agents find and call the functions in `tools`. The official SDK handles it,
on the page's own port.

Gradio can turn a page's endpoints into tools by itself. That would expose every endpoint, return run documents, type
every argument as "JSON", and send each call through a second connection, which a page with accounts refuses.
"""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractAsyncContextManager, contextmanager
from functools import wraps
from typing import TYPE_CHECKING, Any

import anyio
import anyio.to_thread
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from model.errors import AttendError
from ui.limits import Limits
from ui.runs.generation import CALLER, LEFT
from ui.runs.models import Models
from ui.server.agents.tools import agent_tools
from ui.server.callers import ADDRESS, ConcurrencyLimiter
from ui.server.responses import MCP_PATH

if TYPE_CHECKING:
    from mcp.server.mcpserver import MCPServer

_INSTRUCTIONS = (
    "Small language models that run on this machine, seen from inside: generate and chat write text, score says how "
    "probable a text is, tokenize splits one, and explain says why a token would be chosen. The models are: {}."
)


class Agents:
    """The tools of one page, and the routes that lead to them."""

    def __init__(self, models: Models, limiter: ConcurrencyLimiter, limits: Limits) -> None:
        """
        Args:
            limiter: of the calls of each address.
        """
        from mcp.server.mcpserver import MCPServer  # an extra, which few need

        from ui.server.agents.arguments import CheckedTool

        self._limiter, self._waiting = limiter, limits.waiting
        self._threads = anyio.CapacityLimiter(limits.program_runs)
        tools = [CheckedTool.from_function(self._limited(tool)) for tool in agent_tools(models)]
        for tool in tools:  # an argument that isn't known is refused: without an effect, it would mislead
            tool.fn_metadata.arg_model.model_config["extra"] = "forbid"
            tool.fn_metadata.arg_model.model_rebuild(force=True)
        with _unchanged_logging():
            instructions = _INSTRUCTIONS.format(", ".join(models.names))
            self._server: MCPServer[Any] = MCPServer("attend", instructions=instructions, tools=tools)

    def routes(self) -> list[Route]:
        from mcp.server.transport_security import TransportSecuritySettings

        unchecked = TransportSecuritySettings(enable_dns_rebinding_protection=False)  # `ui.server.security` checks it
        app = self._server.streamable_http_app(
            streamable_http_path=MCP_PATH, stateless_http=True, json_response=True, transport_security=unchecked
        )
        # It answers POST alone: without sessions, a stream that GET opens would never send anything.
        routes = [route for route in app.routes if isinstance(route, Route)]
        return [Route(MCP_PATH, _NoticesLeaving(route.endpoint), methods=["POST"]) for route in routes]

    def running(self, app: object) -> AbstractAsyncContextManager[None]:
        """The SDK's session manager, to be entered while the page is served; call `routes` first."""
        return self._server.session_manager.run()

    def _limited(self, tool: Callable[..., Any]) -> Callable[..., Any]:
        """The tool in another thread, within the limits of its caller; `AttendError` becomes the agent's answer."""
        from mcp.server.mcpserver.exceptions import ToolError

        @wraps(tool)
        async def called(**arguments: Any) -> Any:
            CALLER.set(ADDRESS.get())
            try:
                if self._threads.statistics().tasks_waiting >= self._waiting:
                    raise AttendError("Too many calls are waiting: try again in a moment.")
                with self._limiter.acquire(ADDRESS.get()):
                    return await anyio.to_thread.run_sync(lambda: tool(**arguments), limiter=self._threads)
            except AttendError as error:
                raise ToolError(str(error)) from error

        return called


class _NoticesLeaving:
    """The SDK's app, which doesn't notice when a client leaves: then the run of its call ends."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        left = threading.Event()
        LEFT.set(left)
        messages: asyncio.Queue[Message] = asyncio.Queue(1)  # the SDK takes none after those of the body

        async def pass_on() -> None:
            while not left.is_set():
                message = await receive()
                if message["type"] == "http.disconnect":
                    left.set()
                await messages.put(message)

        passing = asyncio.create_task(pass_on())
        try:
            await self._app(scope, messages.get, send)
        finally:
            passing.cancel()


@contextmanager
def _unchanged_logging() -> Iterator[None]:
    """The SDK would make every library report to the console, each request included."""
    root = logging.getLogger()
    level, handlers = root.level, [*root.handlers]
    yield
    root.setLevel(level)
    root.handlers[:] = handlers
