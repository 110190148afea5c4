"""Pages that this process serves, which saves the seconds of starting another Python."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import httpx

import app
from model.loaded import LoadedModel
from tests.conftest import unused_port
from tests.helpers.waiting import eventually
from ui.runs.models import Models
from ui.server import launch as serve
from ui.server.hosts import own_names
from ui.server.refusals import Page


def models_of(*loaded: LoadedModel, **options: Any) -> Models:
    """These models; `options` are those of `Models`."""
    by_name = {each.name: each for each in loaded}
    return Models(tuple(by_name), lambda name, _: by_name[name], **options)


@contextmanager
def served(page: Page, port: int | None = None, **options: Any) -> Iterator[str]:
    """The address of a page until the context ends; `options` are those of `launch`."""
    at = port or unused_port()
    serve.launch(page, host="127.0.0.1", port=at, block=False, **{"names": own_names("127.0.0.1"), **options})
    try:
        yield f"http://127.0.0.1:{at}"
    finally:
        page.close()


@contextmanager
def app_page(*arguments: str) -> Iterator[str]:
    """The address of `python app.py` with these arguments; its thread ends with the process."""
    port = unused_port()
    threading.Thread(target=app.main, args=(["--port", str(port), *arguments],), daemon=True).start()
    address = f"http://127.0.0.1:{port}/"
    eventually(lambda: answers(address))
    yield address


def answers(address: str) -> bool:
    try:
        return httpx.get(address).is_success
    except httpx.TransportError:
        return False
