"""Errors in OpenAI's form, with the status that its clients expect."""

from __future__ import annotations

import logging
from typing import Any

from starlette.responses import JSONResponse

from decoding.parameters.parameter import SettingError
from model.errors import AttendError
from ui.kit.errors import OURS
from ui.server.responses import error_entry

_log = logging.getLogger("attend")


class RequestError(AttendError):
    """A request that can't be answered, with its status, the field that is wrong and OpenAI's code for it."""

    def __init__(self, sentence: str, *, status: int = 400, field: str | None = None, code: str | None = None) -> None:
        super().__init__(sentence)
        self.status, self.field, self.code = status, field, code


def error_body(error: Exception) -> dict[str, Any]:
    """What a client is told. An error that is our own fault goes to the log and gets one sentence."""
    if not isinstance(error, AttendError):
        _log.error("unexpected error at /v1", exc_info=error)
        return {"error": error_entry(500, OURS)}
    if isinstance(error, SettingError):
        return {"error": error_entry(400, str(error), field=error.names[0] if error.names else None)}
    if isinstance(error, RequestError):
        return {"error": error_entry(error.status, str(error), field=error.field, code=error.code)}
    return {"error": error_entry(400, str(error))}


def error_response(error: Exception) -> JSONResponse:
    ours = 400 if isinstance(error, AttendError) else 500
    return JSONResponse(error_body(error), error.status if isinstance(error, RequestError) else ours)
