"""What machines ask a page: whether it takes visitors, and its numbers, in which no text stands."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from gradio_client import Client
from prometheus_client.parser import text_string_to_metric_families
from starlette.applications import Starlette
from starlette.testclient import TestClient

from decoding.call import DecodeCall, Passes
from decoding.observer import Observer, Outcome, observing
from decoding.scheduled_run import Pass
from model.loaded import LoadedModel
from tests.helpers.served import models_of, served
from tests.helpers.waiting import eventually
from ui.limits import Limits
from ui.page.layout import build
from ui.runs import stream
from ui.server import monitoring
from ui.server.metrics import Metrics


def numbers(text: str) -> dict[str, float]:
    """Every sample by its name, and by its labels where it has any."""
    return {
        sample.name + "".join(f" {label}={value}" for label, value in sample.labels.items()): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


@pytest.fixture(scope="module")
def page(tiny: LoadedModel) -> Iterator[str]:
    """The address of a page, with the numbers that `python app.py` adds."""
    metrics = Metrics()
    models = models_of(tiny, limits=Limits(request_mb=0.1), observer=metrics)
    metrics.gauge("runs_waiting", "Runs that have not begun.", lambda: models.schedulers.waiting)
    with served(build(models), limits=models.limits, metrics=metrics) as url:
        yield url


def test_the_numbers_of_a_page_are_those_of_what_it_did_and_hold_no_text(page: str, tiny: LoadedModel) -> None:
    before = numbers(httpx.get(f"{page}/metrics").text)
    client, settings = Client(page, verbose=False), {"max_new_tokens": 7, "min_new_tokens": 7, "seed": 1}
    client.predict("A very secret message", [], tiny.name, settings, "", api_name="/chat")
    text = httpx.get(f"{page}/metrics").text
    after = numbers(text)
    assert after["attend_tokens_total"] == before["attend_tokens_total"] + 7
    assert after["attend_first_token_seconds_count"] == 1 and after["attend_token_seconds_count"] == 6
    assert after["attend_first_token_seconds_sum"] > 0
    assert after["attend_step_rows_sum"] == after["attend_step_rows_count"] == 6  # the first came with the prompt
    assert after["attend_runs_total outcome=finished"] == 1 and after["attend_runs_waiting"] == 0
    assert after["attend_requests_total status=200"] > before["attend_requests_total status=200"]
    assert after["attend_sessions"] >= 1 and after["process_resident_memory_bytes"] > 1e7
    assert "secret" not in text and tiny.name not in text and "127.0.0.1" not in text


def test_refusals_count_as_requests(page: str) -> None:
    assert httpx.post(f"{page}/gradio_api/call/chat", content=b"x" * 100_001).status_code == 413
    assert numbers(httpx.get(f"{page}/metrics").text)["attend_requests_total status=413"] == 1


def test_each_page_counts_for_itself() -> None:
    one, other = Metrics(), Metrics()
    one.stepped(3)
    assert numbers(one.text().decode())["attend_step_rows_sum"] == 3
    assert numbers(other.text().decode())["attend_step_rows_sum"] == 0


class Counted(Observer):
    def __init__(self) -> None:
        self.decoded_tokens: list[tuple[int, bool]] = []
        self.outcomes: list[Outcome] = []

    def decoded(self, tokens: int, seconds: float, *, first: bool) -> None:
        self.decoded_tokens.append((tokens, first))

    def ended(self, outcome: Outcome) -> None:
        self.outcomes.append(outcome)


def test_a_run_ends_once_as_it_did_and_heartbeats_count_for_nothing() -> None:
    def decode(call: DecodeCall) -> Passes:
        for _ in call.prompt:
            yield None
            yield Pass({}, 0.0)
        if call.model == "fails":
            raise ArithmeticError

    counted = Counted()
    measured = observing(decode, counted)
    assert len(list(measured(DecodeCall("ends", (1, 2), ())))) == 4
    left = measured(DecodeCall("ends", (1, 2), ()))
    next(left)
    left.close()
    with pytest.raises(ArithmeticError):
        list(measured(DecodeCall("fails", (1,), ())))
    assert counted.outcomes == ["finished", "stopped", "failed"]
    assert counted.decoded_tokens == [(0, True), (0, False), (0, True)]


LOCAL = {"base_url": "http://127.0.0.1:7860", "client": ("127.0.0.1", 1)}


@pytest.mark.parametrize(
    ("asks", "headers", "status"),
    [
        (LOCAL, {}, 200),
        ({**LOCAL, "base_url": "http://localhost:7860"}, {}, 200),
        ({"base_url": "http://[::1]:7860", "client": ("::1", 1)}, {}, 200),
        ({**LOCAL, "client": ("10.0.0.9", 1)}, {}, 403),
        ({**LOCAL, "base_url": "https://abc.gradio.live"}, {}, 403),  # the tunnel of --share ends on this machine
        (LOCAL, {"x-forwarded-for": "6.6.6.6"}, 403),
        (LOCAL, {"forwarded": "for=6.6.6.6"}, 403),
        ({**LOCAL, "client": None}, {}, 403),
    ],
)
def test_the_metrics_are_for_this_machine_unless_they_are_opened(
    asks: dict[str, Any], headers: dict[str, str], status: int
) -> None:
    for open_to_all in (False, True):
        app = Starlette(routes=monitoring.routes(Metrics(), open_to_all=open_to_all))
        client = asks["client"]

        async def served(scope: Any, receive: Any, send: Any, app: Starlette = app, client: Any = client) -> None:
            await app({**scope, "client": client}, receive, send)

        answer = TestClient(served, base_url=asks["base_url"]).get("/metrics", headers=headers)
        assert answer.status_code == (200 if open_to_all else status)
        if answer.status_code == 403:
            assert "ATTEND_METRICS=1" in answer.json()["detail"]


def test_it_is_ready_until_it_gets_a_stop_signal(page: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stream, "_closing", threading.Event())
    assert (httpx.get(f"{page}/healthz").status_code, httpx.head(f"{page}/healthz").status_code) == (200, 200)
    threading.Thread(target=stream.finish_all, args=(0,)).start()
    eventually(lambda: httpx.get(f"{page}/healthz").status_code == 503)
    assert httpx.get(f"{page}/healthz").json() == {"status": "closing"}
