"""How a browser fetches the scripts: each one once, even when late, and behind a proxy path."""

from __future__ import annotations

import threading
from collections import Counter
from typing import Any

import uvicorn
from playwright.sync_api import expect
from starlette.applications import Starlette
from starlette.routing import Mount

from tests.conftest import unused_port
from tests.helpers.stage import BROWSER, WORDS, Stage, conversation, inspector, turn
from tests.helpers.waiting import eventually

pytestmark = BROWSER


def test_what_is_set_before_the_scripts_arrive_is_shown(served: tuple[Stage, Any]) -> None:
    stage, browser = served
    context = browser.new_context()
    page, held, late = context.new_page(), list[Any](), threading.Event()
    page.route("**/attend/**/*.js", lambda route: route.continue_() if late.is_set() else held.append(route))
    page.goto(stage.demo.local_url)
    page.wait_for_function("window.__gradio_session_hash__")
    page.locator("#show").click(trial=True)  # until Gradio hears it
    stage.page = page
    stage.show(conversation=conversation(turn("assistant", "I am", ["I", " am"])), inspector=inspector(WORDS))
    assert page.locator(".at-log").count() == 0
    late.set()
    for route in held:
        route.continue_()
    page.wait_for_selector(".at-box >> nth=6")
    expect(page.locator(".at-assistant .at-tok")).to_have_text(["I", " am"])
    stage.events = []
    page.locator(".at-assistant .at-tok").first.click()  # whose run the inspector shows
    expect(page.locator(".at-box[aria-selected=true]")).to_have_text("I")
    context.close()


def test_every_module_is_fetched_once_behind_a_path_as_well(served: tuple[Stage, Any]) -> None:
    stage, browser = served
    port = unused_port()
    behind = Starlette(routes=[Mount("/some/path", app=stage.demo.app)])
    server = uvicorn.Server(uvicorn.Config(behind, host="127.0.0.1", port=port, log_level="error"))
    thread = threading.Thread(target=server.run)
    thread.start()
    eventually(lambda: server.started)
    page, faults, fetched = browser.new_page(), list[str](), Counter[str]()
    page.on("request", lambda request: fetched.update([request.url]))
    page.on("pageerror", lambda error: faults.append(str(error)))
    page.on("response", lambda answer: faults.append(answer.url) if answer.status >= 400 else None)
    page.goto(f"http://127.0.0.1:{port}/some/path/")
    page.wait_for_selector(".attend-inspector > *")
    assert [fault for fault in faults if "/attend/" in fault or "Error" in fault] == []
    modules = {url: count for url, count in fetched.items() if "/attend/" in url}
    assert any(url.endswith("/kit/js/dom.js") for url in modules), "both components use it"
    assert set(modules.values()) == {1}
    page.close()
    server.should_exit = True
    thread.join()
