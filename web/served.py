"""The page without a server beside one that has a server: written when it is first asked for, and kept in memory.

The files of its course take longer, so each is made when it is first asked for itself.
"""

from __future__ import annotations

import mimetypes
import tempfile
from collections.abc import Mapping
from functools import cache
from pathlib import Path

import anyio
import anyio.to_thread
from starlette.requests import Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.routing import Route

from web import recorded_course, static

PATH = "in-browser"
_COURSE = {f"course/{name}.json": name for name in recorded_course.FILES}


def routes() -> list[Route]:
    """`launch(in_browser=routes())` serves it below `PATH`."""
    # One thread each, so that every file is made once and a class that waits for one leaves the server its threads.
    writing, recording = anyio.CapacityLimiter(1), anyio.CapacityLimiter(1)

    async def serve(request: Request) -> Response:
        name = request.path_params["name"] or "index.html"
        content: str | bytes | None
        if name in _COURSE:
            content = await anyio.to_thread.run_sync(recorded_course.recorded_file, _COURSE[name], limiter=recording)
        else:
            content = (await anyio.to_thread.run_sync(_written, limiter=writing)).get(name)
        if content is None:
            return PlainTextResponse("There is no such file: open the page again.", status_code=404)
        guessed = mimetypes.guess_type(name)[0] or "application/octet-stream"
        # Scripts have one type on every system: libraries register others, and a browser may refuse them.
        return Response(content, media_type="text/javascript" if name.endswith(".js") else guessed)

    return [Route(f"/{PATH}", _to_folder), Route(f"/{PATH}/{{name:path}}", serve)]


async def _to_folder(request: Request) -> Response:
    return RedirectResponse(f"{PATH}/")  # relative, for pages behind a proxy's path


@cache
def _written() -> Mapping[str, bytes]:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "page"
        static.write(folder, course=())
        return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
