"""Folders that visitors type as a model's name, on a real server: whoever loads a hostile one holds up nobody else."""

from __future__ import annotations

import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import httpx
import psutil
import pytest
from gradio_client import Client

from model import catalog
from model.arguments import ModelArguments
from model.huggingface.generation import chat_template
from model.loaded import LoadedModel
from tests.helpers.folders import gpt2
from tests.helpers.served import served
from tests.helpers.waiting import LONGEST, eventually
from tests.model.sandbox.test_chat_template import ENDLESS
from ui.page.layout import build
from ui.runs.models import Models
from ui.server.refusals import Page


@pytest.fixture(scope="module")
def page(tiny: LoadedModel) -> Iterator[tuple[str, Page]]:
    """A page whose visitors may type folders."""
    models = Models(
        (tiny.name,),
        lambda name, progress: tiny if name == tiny.name else catalog.load_another(ModelArguments(), name, progress),
        any_name=True,
    )
    blocks = build(models)
    with served(blocks) as url:
        yield url, blocks


def type_folder(page: tuple[str, Page], folder: Path, visit: str) -> str:
    """Choose a model as the page does; everything that the server sends until the event has ended."""
    url, blocks = page
    picker = next(block for block in blocks.blocks.values() if getattr(block, "elem_id", "") == "attend-model")
    chosen = next(number for number, fn in blocks.fns.items() if (picker._id, "choose") in fn.targets)
    data = {"model": str(folder), "typed": True}
    event = {"data": [None], "fn_index": chosen, "session_hash": visit, "event_data": data, "trigger_id": picker._id}
    httpx.post(f"{url}/gradio_api/queue/join", json=event).raise_for_status()
    sent = ""
    with httpx.stream("GET", f"{url}/gradio_api/queue/data?session_hash={visit}", timeout=LONGEST) as answer:
        for line in answer.iter_lines():
            sent += line
            if "process_completed" in line:
                break
    return sent


def answered(page: tuple[str, Page]) -> bool:
    """Whether another visitor gets an answer."""
    client = Client(page[0], verbose=False)
    return bool(client.predict("Hi", settings={"max_new_tokens": 3}, api_name="/chat")["text"])


def renderers() -> set[psutil.Process]:
    """The processes that render chat templates, without the one that forks them."""
    processes = set[psutil.Process]()
    page = psutil.Process()
    for child in page.children(recursive=True):
        with suppress(psutil.Error):  # it has ended
            if "model.sandbox.chat_template" in child.cmdline() and child.ppid() != page.pid:
                processes.add(child)
    return processes


@pytest.mark.usefixtures("counted_seeds")
def test_a_template_that_never_ends_holds_up_nobody_else(
    page: tuple[str, Page], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(chat_template, "_SECONDS", LONGEST)  # until another visitor has been answered
    others = renderers()
    folder = gpt2(tmp_path / "tower", ENDLESS[0])
    with ThreadPoolExecutor(1) as thread:
        loading = thread.submit(type_folder, page, folder, "attacker")
        eventually(lambda: bool(renderers() - others))
        assert answered(page) and not loading.done()
        (renderer,) = renderers() - others
        renderer.kill()  # as at the end of its time
        assert "The chat template of this model" in loading.result()


@pytest.mark.usefixtures("counted_seeds")
def test_a_config_that_is_a_pipe_blocks_no_load_that_follows(page: tuple[str, Page], tmp_path: Path) -> None:
    evil, good = gpt2(tmp_path / "evil"), gpt2(tmp_path / "good")
    (evil / "config.json").unlink()
    os.mkfifo(evil / "config.json")
    assert "config.json is not a regular file" in type_folder(page, evil, "attacker")
    assert answered(page)
    sent = type_folder(page, good, "visitor")
    assert "good" in sent and "not a regular file" not in sent
