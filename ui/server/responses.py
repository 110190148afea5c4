"""How the server refuses a request before Gradio sees it, in the form that a page or a program expects."""

from __future__ import annotations

from typing import Any

from starlette.responses import JSONResponse

TOKEN_PATHS = ("/tokenize", "/detokenize", "/tokenizer_info")
MCP_PATH = "/mcp"
_TYPES = {401: "authentication_error", 403: "permission_error", 404: "not_found_error", 429: "rate_limit_error"}
_CODES = {401: "invalid_api_key", 429: "rate_limit_exceeded"}


def is_program_path(path: str) -> bool:
    """Whether a path is one that programs call and pages don't."""
    return path.startswith("/v1/") or path in (*TOKEN_PATHS, MCP_PATH)


def error_entry(status: int, sentence: str, *, field: str | None = None, code: str | None = None) -> dict[str, Any]:
    """An error in OpenAI's form.

    Args:
        field: the one that is wrong.
        code: OpenAI's name of the error, where that of the status is not enough.
    """
    kind = _TYPES.get(status, "server_error" if status >= 500 else "invalid_request_error")
    return {"message": sentence, "type": kind, "code": code or _CODES.get(status), "param": field}


def refusal(status: int, sentence: str, *, path: str = "", close: bool = False) -> JSONResponse:
    """A response that no cache may keep, in FastAPI's form, {"detail": sentence}; in OpenAI's where programs call.

    Args:
        path: of the request.
        close: whether the connection ends with the refusal.
    """
    headers = {"cache-control": "no-store", **({"connection": "close"} if close else {})}
    body = {"error": error_entry(status, sentence)} if is_program_path(path) else {"detail": sentence}
    return JSONResponse(body, status, headers)
