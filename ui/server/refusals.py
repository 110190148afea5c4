"""Error messages for calls that reach none of our functions: too few values, an unknown endpoint, invalid JSON, or an
unknown EVENT_ID.

Gradio would answer such calls without a reason. All other calls are checked by the functions themselves.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, cast

import gradio as gr
from fastapi.exception_handlers import request_validation_exception_handler
from fastapi.exceptions import RequestValidationError
from gradio.block_function import BlockFunction
from gradio.route_utils import FnIndexInferError
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from model.encoder import Encoder
from model.errors import AttendError
from ui.kit.errors import for_programs
from ui.runs.models import Models
from ui.runs.session import Session
from ui.server.callers import ConcurrencyLimiter
from ui.server.responses import refusal

Refusal = Callable[[Request, Exception], Response | Awaitable[Response]]
_RESULT_PATH = re.compile(r"/gradio_api/call/(?:v2/)?[^/]+/([^/]+)$")  # where a caller waits for an EVENT_ID's result


class Page(gr.Blocks):
    """The page's blocks, which refuse values that no function of the page could take."""

    departed: Callable[[Session], None] = staticmethod(lambda session: None)  # called when a visitor has left
    models: Models | None = None  # that generate; None on the page of an encoder alone
    encoder: Encoder | None = None  # of such a page
    calls: ConcurrencyLimiter  # of programs, by address

    def validate_inputs(self, block_fn: BlockFunction, inputs: list[Any]) -> None:
        """Raises `AttendError` for too few values, which Gradio would refuse without a reason, and for files."""
        names = list(inspect.signature(block_fn.fn).parameters) if block_fn.fn else []
        if isinstance(block_fn.api_name, str) and len(inputs) < len(block_fn.inputs) == len(names):
            count = f"{len(inputs)} value{'' if len(inputs) == 1 else 's'}"
            with for_programs():
                raise AttendError(
                    f"/{block_fn.api_name} was sent {count}, but takes {len(names)}: send {', '.join(names)}."
                )
        if _holds_a_file(inputs):
            with for_programs():
                raise AttendError("This page takes no files: send text.")
        super().validate_inputs(block_fn, inputs)


def _holds_a_file(value: object) -> bool:
    """Whether Gradio would take some part of a value for the path of a file."""
    parts = [value]
    while parts:
        part = parts.pop()
        if isinstance(part, Mapping):
            if "path" in part and "meta" in part:
                return True
            parts += part.values()
        elif isinstance(part, list):
            parts += part
    return False


def refusals(page: gr.Blocks) -> Mapping[type[Exception], Refusal]:
    """Exception handlers for calls that Gradio can't pass to a function: to an unknown endpoint, with unknown
    arguments, or with invalid JSON. Other exceptions are raised again, or left to FastAPI."""
    parameters_of = {
        str(fn.api_name): inspect.signature(fn.fn).parameters
        for fn in page.fns.values()
        if fn.fn is not None and fn.api_visibility == "public"
    }

    def unknown(request: Request, error: Exception) -> Response:
        name = request.path_params.get("api_name")
        if name is None or name in parameters_of:
            raise error
        sentence = f"There is no endpoint /{name[:80]} here: call {', '.join(f'/{known}' for known in parameters_of)}."
        return refusal(404, sentence)

    def mismatched(request: Request, error: Exception) -> Response:
        name = request.path_params.get("api_name")
        if name not in parameters_of:
            raise error
        parameters = parameters_of[name].values()
        required = [parameter.name for parameter in parameters if parameter.default is parameter.empty]
        sentence = (
            f"/{name} takes {', '.join(parameters_of[name])}: send only these, and always {' and '.join(required)}."
        )
        return refusal(422, sentence)

    async def unreadable(request: Request, error: Exception) -> Response:
        name = request.path_params.get("api_name")
        if name is None:
            return await request_validation_exception_handler(request, cast(RequestValidationError, error))
        if name not in parameters_of:
            return unknown(request, error)
        arguments = ", ".join(parameters_of[name])
        form = f"{{{arguments}}}" if "/v2/" in request.url.path else f'{{"data": [{arguments}]}}'
        return refusal(422, f"This is not JSON that /{name} can read: send {form}.")

    return {
        FnIndexInferError: unknown,
        KeyError: unknown,
        TypeError: mismatched,
        RequestValidationError: unreadable,
    }


class RefuseUnknownEvents:
    """Middleware that refuses to wait for a call that isn't there; Gradio would begin a response and break it off."""

    def __init__(self, app: ASGIApp, knows: Callable[[str], bool]) -> None:
        """
        Args:
            knows: whether there is a call with this EVENT_ID, whose result nobody has fetched yet.
        """
        self._app = app
        self._knows = knows

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        match = _RESULT_PATH.search(scope["path"]) if scope["type"] == "http" and scope["method"] == "GET" else None
        if match is None or self._knows(match[1]):
            return await self._app(scope, receive, send)
        sentence = f"No call has the EVENT_ID {match[1][:80]}, or its result has been fetched: make the call again."
        await refusal(404, sentence)(scope, receive, send)
