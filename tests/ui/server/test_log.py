"""The log of a page: no request can fill the disk."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import ExitStack, suppress

import httpx
import pytest
from gradio import queueing, route_utils, routes

from model.loaded import LoadedModel
from tests.helpers.served import models_of, served
from ui.limits import Limits
from ui.page.layout import build
from ui.server.connections.log import OncePerMinute, limit_log


class Log:
    """A logger of its own, with a clock that stands still."""

    def __init__(self) -> None:
        self.seconds = 0.0
        self.logger = logging.Logger("test")
        self.logger.addHandler(OncePerMinute(lambda: self.seconds))


def test_each_kind_is_logged_once_a_minute_with_the_number_left_out(capsys: pytest.CaptureFixture[str]) -> None:
    log = Log()
    for _ in range(1001):
        log.logger.error("socket.accept() out of system resource\nsocket: <%s>", object())
    log.logger.warning("something else")
    log.seconds = 60.0
    log.logger.error("socket.accept() out of system resource\nsocket: <%s>", object())
    first, _, other, again, left_out = capsys.readouterr().err.splitlines()
    assert first == again == "ERROR: socket.accept() out of system resource" and other == "WARNING: something else"
    assert left_out.startswith("socket: <") and left_out.endswith("(1,000 more like this since the last one)")
    log.logger.error("socket.accept() out of system resource\nsocket: <%s>", object())
    assert capsys.readouterr().err == ""


def test_errors_raised_in_different_places_are_different_kinds(capsys: pytest.CaptureFixture[str]) -> None:
    log = Log()
    for number in range(10):
        try:
            int("x") if number % 2 else [].pop()
        except (ValueError, IndexError):
            log.logger.exception("an error")
    assert capsys.readouterr().err.count("Traceback") == 2


def test_what_is_left_out_is_said_and_a_record_has_an_end(capsys: pytest.CaptureFixture[str]) -> None:
    log = Log()
    for _ in range(3):
        log.logger.error("%s", "x" * 1_000_000)
    log.seconds = 61.0
    log.logger.error("%s", "short")
    first, second = capsys.readouterr().err.splitlines()
    assert len(first) == 20_000 and second == "ERROR: short (2 more like this since the last one)"


def test_kinds_are_forgotten_at_last() -> None:
    log = Log()
    handler = log.logger.handlers[0]
    assert isinstance(handler, OncePerMinute)
    for number in range(2000):
        log.logger.error(f"kind {number}")
    assert len(handler._kinds) == 500


@pytest.fixture
def limited() -> Iterator[None]:
    """The log of this process as that of a page, for one test."""
    root, modules = logging.getLogger(), (queueing, routes, route_utils)
    handlers, tracebacks = [*root.handlers], [module.traceback for module in modules]
    root.handlers = []
    limit_log()
    yield
    root.handlers = handlers
    for module, its in zip(modules, tracebacks, strict=True):
        module.traceback = its  # type: ignore[assignment]


def test_requests_that_fail_do_not_fill_the_log(
    limited: None, tiny: LoadedModel, capfd: pytest.CaptureFixture[str]
) -> None:
    """Twenty of each kind; the first of a kind may have its traceback."""
    blocks = build(models_of(tiny))
    event = next(fn for fn in blocks.fns.values() if not fn.queue and fn.fn is not None)
    capfd.readouterr()
    with served(blocks) as url, httpx.Client(base_url=url) as client:
        for number in range(20):
            client.post("/gradio_api/run/predict", json={"fn_index": event._id, "data": [{"a": 1}] * 99})
            client.post("/gradio_api/run/predict", json={"fn_index": event._id, "data": [], "session_hash": "x" * 101})
            client.get(f"/gradio_api/custom_component/{number}/client/a/b%0Ainjected")
            with suppress(httpx.RemoteProtocolError):  # there is no such session
                client.get("/gradio_api/queue/data", params={"session_hash": str(number)})
            client.get("/", headers={"upgrade": "websocket", "connection": "upgrade"})
            client.get("/gradio_api/file=/etc/passwd")
            client.get("/monitoring")
    out, err = capfd.readouterr()
    assert "injected" not in out
    assert (out + err).count("Traceback") <= 10


def test_an_address_at_its_limit_is_refused_and_others_are_not(tiny: LoadedModel) -> None:
    """This machine is a trusted proxy by default, so it may forward the addresses of others."""
    same = ("2001:db8:1:2::1", "2001:db8:1:2:3:4:5:6", "2001:db8:1:2:ffff::")  # one customer
    page = served(build(models_of(tiny)), limits=Limits(connections=3), names=None)
    with page as url, httpx.Client(base_url=url) as client, ExitStack() as pages:
        for number, address in enumerate(same):
            headers = {"x-forwarded-for": address}
            opened = pages.enter_context(client.stream("GET", f"/gradio_api/heartbeat/{number}", headers=headers))
            assert opened.status_code == 200
        refused = client.get("/config", headers={"x-forwarded-for": "2001:db8:1:2::9"})
        assert refused.status_code == 503
        assert "3 connections from your address are in use" in refused.json()["detail"]
        assert client.get("/config", headers={"x-forwarded-for": "2001:db8:1:3::9"}).status_code == 200
        long = client.get(f"/gradio_api/heartbeat/{'x' * 101}")
        assert long.status_code == 422 and "100 characters" in long.json()["detail"]
        event = {"fn_index": 0, "data": [], "session_hash": "x" * 101}
        assert "100 characters" in client.post("/gradio_api/queue/join", json=event).json()["detail"]
