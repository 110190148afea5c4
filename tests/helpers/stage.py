"""A page with the two views alone, values to show on it, and browsers that show it: for the tests of the views."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import gradio as gr
import pytest
import torch
from playwright.sync_api import Browser, BrowserContext

from decoding.run.run_document import TokenOrigin
from decoding.step import CandidateRecord, Choice
from tests.browser.chromium import CHROMIUM, REASON
from tests.conftest import unused_port
from tests.helpers.visitor import PATIENCE, wait_for_drawing
from tests.helpers.waiting import eventually
from ui.chat.chat_contract import ConversationValue
from ui.chat.formatted.markdown import trees
from ui.inspector.inspector_contract import InspectorValue
from ui.inspector.inspector_value import step_value
from ui.kit import assets
from ui.kit.component import component
from ui.kit.events import field, reply
from ui.runs.attention_rows import attention_row
from ui.runs.runs_contract import AnswerUpdate, TurnValue

BROWSER = [
    pytest.mark.browser,
    pytest.mark.skipif(CHROMIUM is None and os.environ.get("CI") != "true", reason=REASON),
]
HOSTILE = [
    "<img src=x onerror=alert(1)>",
    " ${7*7}",
    " {{x}}",
    "</script><script>alert(2)</script>",
    " \u05e9\u05dc\u05d5\u05dd",
    "\u0301",
    "\u202eevil",
    "\n",
    "`",
    "\\",
    "&amp;",
]
LAYERS, HEADS, VOCABULARY = 2, 3, 4096
_CLICK_SHOW = """(show) => {
  show.focus();
  show.click();
  return document.querySelector('#count input').value;
}"""
THROTTLE_MS = 200  # as in ui/inspector/inspector.js
CONVERSATION_EVENTS = ("token", "retry", "proceed", "undo", "edit", "version", "example", "missing")
INSPECTOR_EVENTS = ("take", "branch", "explain", "missing")


def conversation_view() -> gr.HTML:
    return component("chat/conversation.js", *CONVERSATION_EVENTS, beginning={"recorded": False})


def inspector_view() -> gr.HTML:
    return component("inspector/inspector.js", *INSPECTOR_EVENTS, beginning={"recorded": False})


class Stage:
    """A page with the two views alone, and the switch of how answers are shown; `show` sends values to the views,
    `events` are those that they triggered."""

    def __init__(self) -> None:
        self.events: list[tuple[str, dict[str, Any]]] = []
        self.value: dict[str, Any] = {}
        self.page: Any = None
        with gr.Blocks(analytics_enabled=False) as self.demo:
            show = gr.Button("show", elem_id="show")
            count = gr.Number(0, elem_id="count")
            with gr.Row():
                with gr.Column(min_width=320):
                    conversation = conversation_view()
                    text_view = component("chat/text_view.js", "format", name="text-view")
                with gr.Column(min_width=320):
                    inspector = inspector_view()
            show.click(self._send, count, [conversation, inspector, count], queue=False, show_progress="hidden")
            text_view.format(self._format, None, text_view, queue=False, show_progress="hidden")
            for view, events in (
                (conversation, CONVERSATION_EVENTS),
                (inspector, INSPECTOR_EVENTS),
            ):
                for event in events:
                    getattr(view, event)(self._listen(event), queue=False, show_progress="hidden")

    def _send(self, count: float) -> tuple[Any, Any, float]:
        return self.value.get("conversation", gr.skip()), self.value.get("inspector", gr.skip()), count + 1

    def _format(self, event: gr.EventData) -> Any:
        return reply(lambda event: trees(field(event, "texts", list)), "trees")(event)

    def _listen(self, event: str) -> Callable[[gr.EventData], None]:
        def listen(data: gr.EventData) -> None:
            self.events.append((event, data._data))

        return listen

    def show(self, **values: ConversationValue | AnswerUpdate | InspectorValue) -> None:
        self.value = dict(values)
        self.page.mouse.move(0, 0)  # away from what may show more where it rests
        count = int(self.page.locator("#show").evaluate(_CLICK_SHOW))
        self.page.wait_for_function(f"document.querySelector('#count input').value === '{count + 1}'")
        # the count is set in the same update as the views; they draw in the next frame, or after a rest if a text grows
        wait_for_drawing(self.page, THROTTLE_MS if values.get("inspector", {}).get("busy") else 0)

    def wait_for_events(self, count: int = 1) -> list[tuple[str, dict[str, Any]]]:
        eventually(lambda: len(self.events) >= count)
        return self.events

    def find(self, selector: str) -> Any:
        return self.page.locator(selector)


def choice(token: int, p: float = 0.25, draw: float | None = 0.8) -> Choice:
    """The token with `p`, a better one and one that top-k removed; the rest of the vocabulary has what is left.

    With p = 0.25 the two that top-k left share the line from 0 to 1 at 0.6 / 0.85 = 0.7059.
    """
    better = CandidateRecord(900, (0.6, 0.6 / (0.6 + p)))
    mine = CandidateRecord(token, (p, p / (0.6 + p)))
    return Choice(
        token=token,
        rank=2,
        draw=draw,
        stages=("model", "top_k"),
        kept=(VOCABULARY, 2),
        candidates=(better, mine, CandidateRecord(901, (0.00001, 0.0))),
        rest=(0.4 - p - 0.00001, 0.0),
        mass=(1.0, 0.6 + p),
        stage_entropy=(2.0, 0.9),
        attention=None,
    )


def row(query: int) -> str:
    """Every head looks at the first token with one half, at the one before the query with the other."""
    weights = torch.zeros(LAYERS, HEADS, query + 1)
    weights[..., 0] += 0.5
    weights[..., max(0, query - 1)] += 0.5
    return attention_row(weights.half())


def inspector(
    words: list[str], *, first: int = 2, since: int = 0, run: str = "r1", origin: TokenOrigin = "chosen", **changes: Any
) -> InspectorValue:
    """A run whose tokens from `first` on were generated."""
    texts = dict(enumerate(words)) | {900: " better", 901: " removed"}
    numbers = range(since, len(words))
    kinds: Any = ["control" if n == 0 else "prompt" if n < first else "generated" for n in numbers]
    start = max(first, since)
    value: InspectorValue = {
        "run": run,
        "mode": "chat",
        "ids": list(numbers),
        "kinds": kinds,
        "probabilities": [None if n < first else 0.25 for n in numbers],
        "labels": {str(token): text for token, text in texts.items()} | ({"0": "<s>"} if words else {}),
        "source": 0,
        "first": first,
        "steps": [step_value(choice(i), origin) for i in range(start, len(words))],
        "layers": LAYERS,
        "heads": HEADS,
        "rows": [row(query) for query in range(start - 1, len(words) - 1)],
        "rows_from": start - 1,
        "search": None,
        "selected": None,
        "busy": False,
    }
    return {**value, "since": since, **changes}  # pyright: ignore[reportReturnType]


def turn(role: str, text: str, words: list[str] | None = None, **changes: Any) -> TurnValue:
    tokens = None if words is None else [{"text": word, "probability": 0.25} for word in words]
    value: Any = {"role": role, "text": text, "tokens": tokens, "run": "r1" if tokens else None}
    return {
        **value,
        "state": "done",
        "dropped": False,
        "note": None,
        "model": "",
        "unfinished": False,
        "version": 0,
        "versions": (0, 1),
        **changes,
    }  # pyright: ignore[reportReturnType]


def conversation(*turns: TurnValue, busy: bool = False) -> ConversationValue:
    return {"turns": list(turns), "examples": ["Hi! How are you?"], "busy": busy}


def update(version: int, since: int, words: list[str], **changes: Any) -> AnswerUpdate:
    """What is new of the answer of run r1 since the update before."""
    tokens: Any = [{"text": word, "probability": 0.25} for word in words]
    value: Any = {"run": "r1", "base": version - 1, "version": version, "since": since, "tokens": tokens}
    return {**value, "state": "streaming", "note": None, "unfinished": False, "busy": True, **changes}  # pyright: ignore[reportReturnType]


WORDS = ["<s>", "Hi", "I", " am", " a", " fox", "."]


@contextmanager
def context_of(browser: Browser, **options: Any) -> Iterator[BrowserContext]:
    """A browser of its own, which caches the scripts: a page costs three times as much without."""
    context = browser.new_context(**{"viewport": {"width": 1440, "height": 900}, **options}, reduced_motion="reduce")
    context.set_default_timeout(PATIENCE)
    yield context
    context.close()


@contextmanager
def open_page(stage: Stage, context: BrowserContext) -> Iterator[tuple[Any, list[str]]]:
    """A page, and what went wrong on it: script errors, console errors, dialogs."""
    page: Any = context.new_page()
    faults: list[str] = []
    page.on("pageerror", lambda error: faults.append(str(error)))
    page.on("console", lambda message: faults.append(message.text) if message.type == "error" else None)
    page.on("dialog", lambda dialog: (faults.append(f"dialog: {dialog.message}"), dialog.dismiss()))
    page.goto(stage.demo.local_url)
    page.wait_for_function("window.__gradio_session_hash__")
    page.wait_for_selector(".attend-inspector > *")
    yield page, faults
    page.close()


def use(stage: Stage, page: Any, faults: list[str]) -> Iterator[Stage]:
    stage.page = page
    page.bring_to_front()
    stage.show(conversation=conversation(), inspector=inspector(["<s>"], first=1, run="before"))
    stage.events = []
    yield stage
    assert not faults


@pytest.fixture(scope="session")
def served(browser: Browser) -> Iterator[tuple[Stage, Browser]]:
    stage = Stage()
    stage.demo.launch(
        server_port=unused_port(),
        prevent_thread_lock=True,
        quiet=True,
        ssr_mode=False,
        run_history=False,
        app_kwargs={"routes": assets.routes()},
    )
    yield stage, browser
    stage.demo.close()


@pytest.fixture(scope="session")
def shared(served: tuple[Stage, Browser]) -> Iterator[tuple[Any, list[str]]]:
    with context_of(served[1]) as context, open_page(served[0], context) as opened:
        yield opened


@pytest.fixture
def stage(served: tuple[Stage, Browser], shared: tuple[Any, list[str]]) -> Iterator[Stage]:
    """A page that several tests use one after the other: none of them may leave a choice behind."""
    yield from use(served[0], *shared)


@pytest.fixture(scope="session")
def forgetful(served: tuple[Stage, Browser]) -> Iterator[BrowserContext]:
    with context_of(served[1]) as context:
        yield context


@pytest.fixture
def fresh(served: tuple[Stage, Browser], forgetful: BrowserContext) -> Iterator[Stage]:
    """A page for one test, which may leave what it likes."""
    stage = served[0]
    with open_page(stage, forgetful) as opened:
        yield from use(stage, *opened)
        opened[0].evaluate("localStorage.clear()")
    forgetful.clear_permissions()


@pytest.fixture(scope="session")
def narrow(served: tuple[Stage, Browser]) -> Iterator[tuple[Any, list[str]]]:
    small = context_of(served[1], viewport={"width": 390, "height": 844}, has_touch=True)
    with small as context, open_page(served[0], context) as opened:
        yield opened


@pytest.fixture
def phone(served: tuple[Stage, Browser], narrow: tuple[Any, list[str]]) -> Iterator[Stage]:
    yield from use(served[0], *narrow)
