"""`python app.py` in a thread of this process, which saves the seconds of starting another Python."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

import httpx

import app
from tests.conftest import unused_port
from tests.helpers.waiting import eventually


@contextmanager
def app_page(*arguments: str) -> Iterator[str]:
    """The address of a page served with these arguments; its thread ends with the process."""
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
