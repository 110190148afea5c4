"""The page without a server beside one that has a server: written when it is first asked for, and kept in memory.

The files of its course take longer, so each is made when it is first asked for itself.
"""

from __future__ import annotations

import mimetypes
import tempfile
import threading
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.routing import Route

from web import recorded_course, static

PATH = "in-browser"
_COURSE = {f"course/{name}.json": name for name in recorded_course.FILES}
_writing, _recording = threading.Lock(), threading.Lock()  # so that each file is made once


def routes() -> list[Route]:
    """`launch(in_browser=routes())` serves it below `PATH`."""
    return [Route(f"/{PATH}", _to_folder), Route(f"/{PATH}/{{name:path}}", _serve)]


async def _to_folder(request: Request) -> Response:
    return RedirectResponse(f"{PATH}/")  # relative, for pages behind a proxy's path


async def _serve(request: Request) -> Response:
    name = request.path_params["name"] or "index.html"
    content = await run_in_threadpool(_content, name)
    if content is None:
        return PlainTextResponse("There is no such file: open the page again.", status_code=404)
    guessed = mimetypes.guess_type(name)[0] or "application/octet-stream"
    # Scripts have one type on every system: libraries register others, and a browser may refuse them.
    return Response(content, media_type="text/javascript" if name.endswith(".js") else guessed)


def _content(name: str) -> bytes | None:
    """A file of the page; None if it has none of this name."""
    if (chapter := _COURSE.get(name)) is not None:
        with _recording:
            return recorded_course.recorded_file(chapter).encode()
    with _writing:
        return _written().get(name)


@cache
def _written() -> Mapping[str, bytes]:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "page"
        static.write(folder, course=())
        return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
