"""How the server refuses a request before Gradio sees it."""

from __future__ import annotations

from starlette.responses import JSONResponse


def refusal(status: int, sentence: str, *, close: bool = False) -> JSONResponse:
    """A response in FastAPI's form, {"detail": sentence}, which no cache may keep.

    Args:
        close: whether the connection ends with the refusal.
    """
    headers = {"cache-control": "no-store", **({"connection": "close"} if close else {})}
    return JSONResponse({"detail": sentence}, status, headers)
