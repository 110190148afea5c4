"""Whatever JSON a program or a forged page sends, the answer is an answer or a sentence, and the server goes on."""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from model.loaded import LoadedModel
from tests.helpers.served import models_of, served
from ui.kit.errors import OURS
from ui.limits import Limits
from ui.page.layout import build
from ui.server.refusals import Page

FILE = {"path": "/etc/passwd", "meta": {"_type": "gradio.FileData"}}
KNOWN = ("tiny-chat", "user", "role", "content", "strategy", "beam", "max_new_tokens", "seed", "text", "index", "run")
LEAF = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=20)
    | st.sampled_from(KNOWN)
    | st.just(FILE)
)
VALUE = st.recursive(
    LEAF,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KNOWN) | st.text(max_size=5), inner, max_size=3)
    ),
    max_leaves=8,
)
CHEAP = settings(
    max_examples=25,
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)


class Log(logging.Handler):
    """What was a fault of ours."""

    def __init__(self) -> None:
        super().__init__(logging.ERROR)
        self.faults: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.faults.append(self.format(record))


NO_FILES = "This page takes no files: send text."


@pytest.fixture(scope="module")
def target(tiny: LoadedModel) -> Iterator[tuple[str, Page, httpx.Client, Log]]:
    page, log = build(models_of(tiny, limits=Limits(run_seconds=5.0))), Log()
    logging.getLogger("attend").addHandler(log)
    with served(page) as url, httpx.Client(base_url=f"{url}/gradio_api", timeout=60) as client:
        yield url, page, client, log
    logging.getLogger("attend").removeHandler(log)


def sent(value: object) -> dict[str, Any]:
    """A request's body as any client may write it: NaN and halves of characters too."""
    return {"content": json.dumps(value).encode(), "headers": {"content-type": "application/json"}}


@pytest.mark.parametrize("endpoint", ["chat", "generate", "translate", "compare", "inspect", "attribute", "patch"])
def test_an_endpoint_answers_any_values(
    target: tuple[str, Page, httpx.Client, Log], endpoint: str, capfd: pytest.CaptureFixture[str]
) -> None:
    _, page, client, log = target
    count = next(len(fn.inputs) for fn in page.fns.values() if fn.api_name == endpoint)

    @CHEAP
    @given(st.lists(VALUE, min_size=count, max_size=count) | st.lists(VALUE, max_size=count + 1))
    def answers(data: list[object]) -> None:
        begun = client.post(f"/call/{endpoint}", **sent({"data": data}))
        assert begun.status_code < 500
        if begun.status_code == 200:
            answer = client.get(f"/call/{endpoint}/{begun.json()['event_id']}").text
            assert "event: complete" in answer or "event: error" in answer
            assert OURS not in answer

    answers()
    assert not log.faults and "Traceback" not in capfd.readouterr().err


@pytest.mark.parametrize("method", ["call", "call/v2", "queue/join", "run", "cancel", "component_server", "reset"])
def test_any_body_is_answered(
    target: tuple[str, Page, httpx.Client, Log], method: str, capfd: pytest.CaptureFixture[str]
) -> None:
    _, _, client, log = target
    address = f"/{method}" + ("/generate" if method in ("call", "call/v2", "run") else "")
    fields = ("data", "fn_index", "session_hash", "event_data", "event_id", "component_id", "fn_name", "prompt")

    @CHEAP
    @given(VALUE | st.dictionaries(st.sampled_from(fields), VALUE))
    def answers(body: object) -> None:
        assert client.post(address, **sent(body)).status_code < 500

    answers()
    assert not log.faults and "Traceback" not in capfd.readouterr().err


def test_an_event_of_the_page_answers_any_values(
    target: tuple[str, Page, httpx.Client, Log], capfd: pytest.CaptureFixture[str]
) -> None:
    """All of them, in one visit, as by a page that was forged."""
    url, page, client, log = target
    numbers = [number for number, fn in page.fns.items() if fn.fn is not None and fn.api_visibility == "private"]
    assert len(numbers) > 40

    @settings(CHEAP, max_examples=150)
    @given(st.sampled_from(numbers), st.data())
    def answers(number: int, drawn: st.DataObject) -> None:
        fn = page.fns[number]
        body: dict[str, Any] = {
            "fn_index": number,
            "data": [drawn.draw(VALUE) for _ in fn.inputs],
            "event_data": drawn.draw(VALUE | st.dictionaries(st.sampled_from(KNOWN), VALUE)),
            "session_hash": "forged",
        }
        if not fn.queue:
            answer = client.post("/run/predict", **sent(body))
            assert answer.status_code < 500 or NO_FILES in answer.text  # Gradio sends every refusal as a 500 here
            return
        begun = client.post("/queue/join", **sent(body))
        assert begun.status_code < 500
        if begun.status_code == 200:
            with client.stream("GET", "/queue/data", params={"session_hash": "forged"}) as replies:
                assert any('"process_completed"' in line for line in replies.iter_lines())

    answers()
    # Gradio says so in the log where it refuses a value of its own components itself.
    raised = set(re.findall(r"^([\w.]+(?:Error|Exception))\b", capfd.readouterr().err, re.MULTILINE))
    assert not log.faults and raised <= {"gradio.exceptions.Error"}
    assert httpx.get(url).status_code == 200
