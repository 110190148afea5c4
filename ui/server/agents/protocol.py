"""The Model Context Protocol, by which agents find and call `tools`: the SDK speaks it, on the page's own port.

Gradio can turn a page's endpoints into tools by itself. They would be all of them, with run documents as answers and
"JSON" as the type of every argument, and each call would go through a second connection to the page, which a page with
accounts refuses. So the functions of `tools` are given to the SDK that Gradio uses as well; each call runs within the
page's limits.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from functools import wraps
from typing import TYPE_CHECKING, Any

import anyio
import anyio.to_thread
from starlette.routing import BaseRoute

from model.errors import AttendError
from ui.limits import Limits
from ui.runs.generation import CALLER
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

        self._limiter, self._threads = limiter, anyio.CapacityLimiter(limits.program_runs)
        self._server: MCPServer[Any] = MCPServer("attend", instructions=_INSTRUCTIONS.format(", ".join(models.names)))
        for tool in agent_tools(models):
            self._server.add_tool(self._limited(tool))

    def routes(self) -> list[BaseRoute]:
        from mcp.server.transport_security import TransportSecuritySettings

        unchecked = TransportSecuritySettings(enable_dns_rebinding_protection=False)  # `ui.server.security` checks it
        app = self._server.streamable_http_app(
            streamable_http_path=MCP_PATH, stateless_http=True, json_response=True, transport_security=unchecked
        )
        return app.routes

    def running(self, app: object) -> AbstractAsyncContextManager[None]:
        """What must be open while the page is served, after `routes`."""
        return self._server.session_manager.run()

    def _limited(self, tool: Callable[..., Any]) -> Callable[..., Any]:
        """The tool in another thread, within the limits of its caller; `AttendError` becomes the agent's answer."""
        from mcp.server.mcpserver.exceptions import ToolError

        @wraps(tool)
        async def called(**arguments: Any) -> Any:
            CALLER.set(ADDRESS.get())
            try:
                with self._limiter.acquire(ADDRESS.get()):
                    return await anyio.to_thread.run_sync(lambda: tool(**arguments), limiter=self._threads)
            except AttendError as error:
                raise ToolError(str(error)) from error

        return called
