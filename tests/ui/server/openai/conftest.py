"""A page with our trained model, a tiny one, one that only continues texts, and a translator, for all these tests."""

from __future__ import annotations

from collections.abc import Iterator

import httpx
import openai
import pytest

from model.loaded import LoadedModel
from tests.helpers.served import models_of, served
from ui.page.layout import build


@pytest.fixture(scope="session")
def server(
    chat: LoadedModel, tiny: LoadedModel, tiny_writer: LoadedModel, tiny_translator: LoadedModel
) -> Iterator[str]:
    page = build(models_of(chat, tiny, tiny_writer, tiny_translator))
    with served(page, origins=frozenset({"https://chat.example.org"})) as address:
        yield address


@pytest.fixture(scope="session")
def client(server: str) -> Iterator[openai.OpenAI]:
    """The package that programs use."""
    with openai.OpenAI(base_url=f"{server}/v1", api_key="none", max_retries=0, timeout=120) as client:
        yield client


@pytest.fixture(scope="session")
def http(server: str) -> Iterator[httpx.Client]:
    """For what the package would not send."""
    with httpx.Client(base_url=server, timeout=120) as client:
        yield client
