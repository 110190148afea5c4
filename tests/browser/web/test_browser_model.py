"""A model in a real browser: it runs in a worker, is stopped at once, and comes from the cache the second time."""

from __future__ import annotations

import shutil
import threading
from collections.abc import Iterator
from functools import partial
from http.server import ThreadingHTTPServer
from pathlib import Path

import pytest
from playwright.sync_api import Browser

import attend
from tests.browser.web.static_page import Quiet
from tests.helpers.paths import ROOT
from tests.helpers.stage import BROWSER
from web.export import export

pytestmark = BROWSER

PAGE = """<!doctype html><script type="module">
  import { BrowserModel } from './web/browser_model.js';
  window.model = new BrowserModel();
</script>"""
MESSAGES = [{"role": "user", "content": "Hi! How are you?"}]
RUN = "async ([messages, settings]) => (await model.run(messages, settings)).document"
STOPPED_AFTER_THREE = """async ([messages, settings]) => {
  let steps = 0;
  const run = await model.run(messages, settings, () => { if (++steps === 3) model.stop(); });
  return run.document;
}"""


BOTH_FILES_KEPT = "caches.open('attend-models').then((cache) => cache.keys()).then((kept) => kept.length === 2)"


@pytest.fixture
def site(tmp_path: Path) -> Iterator[tuple[str, list[str]]]:
    """The address of a folder with the scripts, a model and a page, and the paths that were asked for."""
    paths: list[str] = []

    class Counting(Quiet):
        def do_GET(self) -> None:
            paths.append(self.path)
            super().do_GET()

    export("attend-chat", tmp_path / "model")
    shutil.copytree(ROOT / "web", tmp_path / "web", ignore=shutil.ignore_patterns("*.py", "__pycache__"))
    (tmp_path / "index.html").write_text(PAGE, encoding="utf-8")
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Counting, directory=str(tmp_path)))
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/", paths
    server.shutdown()
    thread.join()
    server.server_close()


def test_a_model_runs_in_a_worker_and_stops_at_once(
    site: tuple[str, list[str]], browser: Browser, rounded_chat: attend.Model
) -> None:
    address, paths = site
    context = browser.new_context()
    page, faults = context.new_page(), list[str]()
    page.on("pageerror", lambda error: faults.append(str(error)))
    page.goto(address)
    page.wait_for_function("window.model")
    assert page.evaluate("model.load(new URL('./model/', location.href).href)") == "attend-chat"
    greedy = {"strategy": "greedy", "max_new_tokens": 12}
    document = page.evaluate(RUN, [MESSAGES, greedy])
    run = rounded_chat.chat(MESSAGES, **greedy)
    assert (document["ids"], document["text"]) == (run.document()["ids"], run.text)

    endless = {"strategy": "greedy", "max_new_tokens": 400, "logit_bias": {"2": -100}}
    stopped = page.evaluate(STOPPED_AFTER_THREE, [MESSAGES, endless])
    assert stopped["finish_reason"] == "cancelled"
    assert 3 <= len(stopped["ids"]) < 20

    page.wait_for_function(BOTH_FILES_KEPT)
    page.reload()
    page.wait_for_function("window.model")
    page.evaluate("model.load(new URL('./model/', location.href).href)")
    assert len([path for path in paths if "weights.safetensors" in path]) == 1
    assert faults == []
    context.close()
