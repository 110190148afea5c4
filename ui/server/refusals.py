"""Error messages for calls that reach none of our functions: too few values, an unknown endpoint, or invalid JSON.

Gradio answers such calls without a reason. `ui/server/endpoints.py` checks the others.
"""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, cast

import gradio as gr
from fastapi.exception_handlers import request_validation_exception_handler
from fastapi.exceptions import RequestValidationError
from gradio.block_function import BlockFunction
from gradio.route_utils import FnIndexInferError
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from model.errors import AttendError
from ui.kit.errors import for_programs
from ui.runs.session import Session

Refusal = Callable[[Request, Exception], Response | Awaitable[Response]]


class Page(gr.Blocks):
    """The page's blocks. A call with too few values fails before any function of ours runs, as a fault whose words
    Gradio keeps to itself; here it is told what the endpoint takes."""

    departed: Callable[[Session], None] = staticmethod(lambda session: None)  # called when a visitor has left

    def validate_inputs(self, block_fn: BlockFunction, inputs: list[Any]) -> None:
        names = list(inspect.signature(block_fn.fn).parameters) if block_fn.fn else []
        if isinstance(block_fn.api_name, str) and len(inputs) < len(block_fn.inputs) == len(names):
            given = f"{len(inputs)} value{'' if len(inputs) == 1 else 's'}"
            with for_programs():
                raise AttendError(
                    f"/{block_fn.api_name} was sent {given}, but takes {len(names)}: send {', '.join(names)}."
                )
        if _holds_a_file(inputs):
            with for_programs():
                raise AttendError("This page takes no files: send text.")
        super().validate_inputs(block_fn, inputs)


def _holds_a_file(value: object) -> bool:
    """Whether Gradio would look for a file that some part of a value names."""
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
    """What answers a call that Gradio cannot bring to a function of ours, and would let fail without a word: of an
    endpoint that is not there, with arguments that it does not take, or with what is no JSON. Every other error is
    raised again, or answered as FastAPI does."""
    taken = {
        str(fn.api_name): inspect.signature(fn.fn).parameters
        for fn in page.fns.values()
        if fn.fn is not None and fn.api_visibility == "public"
    }

    def unknown(request: Request, error: Exception) -> Response:
        name = request.path_params.get("api_name")
        if name is None or name in taken:
            raise error
        sentence = f"There is no endpoint /{name[:80]} here: call {', '.join(f'/{known}' for known in taken)}."
        return JSONResponse({"detail": sentence}, status_code=404)

    def mismatched(request: Request, error: Exception) -> Response:
        name = request.path_params.get("api_name")
        if name not in taken:
            raise error
        parameters = taken[name].values()
        needed = [parameter.name for parameter in parameters if parameter.default is parameter.empty]
        sentence = f"/{name} takes {', '.join(taken[name])}: send only these, and always {' and '.join(needed)}."
        return JSONResponse({"detail": sentence}, status_code=422)

    async def unreadable(request: Request, error: Exception) -> Response:
        name = request.path_params.get("api_name")
        if name is None:
            return await request_validation_exception_handler(request, cast(RequestValidationError, error))
        if name not in taken:
            return unknown(request, error)
        arguments = ", ".join(taken[name])
        form = f"{{{arguments}}}" if "/v2/" in request.url.path else f'{{"data": [{arguments}]}}'
        return JSONResponse({"detail": f"This is not JSON that /{name} can read: send {form}."}, status_code=422)

    refusing: Mapping[type[Exception], Refusal] = {FnIndexInferError: unknown, KeyError: unknown, TypeError: mismatched}
    return {**refusing, RequestValidationError: unreadable}
