"""A page with our trained model, a tiny one, one that only continues texts, and a translator."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import httpx
import openai
import pytest

from model import catalog
from model.arguments import DEFAULT
from model.loaded import LoadedModel
from tests.conftest import unused_port
from ui.page.layout import build
from ui.runs.models import Models
from ui.server import launch as serve
from ui.server.hosts import own_names


@pytest.fixture(scope="session")
def chat() -> LoadedModel:
    return catalog.load(DEFAULT)


@contextmanager
def serving(models: Sequence[LoadedModel], *, origins: set[str], public: bool = False) -> Iterator[str]:
    """The address of a page with these models.

    Args:
        origins: the other web pages that may call it.
    """
    loaded = {each.name: each for each in models}
    page, port = build(Models(tuple(loaded), lambda name, _: loaded[name])), unused_port()
    names = None if public else own_names("127.0.0.1")
    serve.launch(page, host="127.0.0.1", port=port, block=False, names=names, origins=frozenset(origins))
    try:
        yield f"http://127.0.0.1:{port}"
    finally:
        page.close()


@pytest.fixture(scope="module")
def server(
    chat: LoadedModel, tiny: LoadedModel, tiny_writer: LoadedModel, tiny_translator: LoadedModel
) -> Iterator[str]:
    with serving((chat, tiny, tiny_writer, tiny_translator), origins={"https://chat.example.org"}) as address:
        yield address


@pytest.fixture(scope="module")
def client(server: str) -> Iterator[openai.OpenAI]:
    """The package that programs use."""
    with openai.OpenAI(base_url=f"{server}/v1", api_key="none", max_retries=0, timeout=120) as client:
        yield client


@pytest.fixture(scope="module")
def http(server: str) -> Iterator[httpx.Client]:
    """For what the package would not send."""
    with httpx.Client(base_url=server, timeout=120) as client:
        yield client
