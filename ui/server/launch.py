"""Serves the page, with everything that protects it."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Sequence
from functools import partial

from fastapi import FastAPI
from gradio.route_utils import CustomCORSMiddleware
from starlette.middleware import Middleware
from starlette.middleware.cors import CORSMiddleware
from starlette.routing import Route

from model.device import release_freed_memory
from ui.classroom import scores
from ui.kit import assets
from ui.limits import Limits
from ui.runs.stream import finish_all
from ui.server import monitoring
from ui.server.accounts import Accounts, SignIns
from ui.server.agents.protocol import Agents
from ui.server.callers import LimitRequests, address_of
from ui.server.connections.log import limit_log
from ui.server.connections.server import serving_with
from ui.server.connections.sockets import within_open_files
from ui.server.metrics import CountRequests, Metrics
from ui.server.openai.routes import OpenAI
from ui.server.queue import FairQueue
from ui.server.refusals import Page, RefuseUnknownEvents, refusals
from ui.server.security import CheckForwarded, Guard
from ui.server.sessions import TrackVisits
from ui.server.sign_in import SignIn
from ui.share import bundle
from ui.styles import styles
from ui.theme import theme

FAVICON = assets.FOLDER / "favicon.svg"
_FEW_FILES = (
    "the system's limit of open files (ulimit -n) leaves {:,} connections to the page, for all visitors together."
)
_SEND_SECONDS = 1.0  # for the last messages to reach their readers
_RELEASE_INTERVAL = 15.0  # seconds


def _head(*, signed_in: bool, in_browser: bool) -> str:
    icon = '<link rel="icon" type="image/svg+xml" href="favicon.ico">'  # where Gradio serves it, behind any path
    script = (
        f'import {{ reloadWhenSignedOut }} from "./{assets.address("server/signed_out.js")}"; reloadWhenSignedOut();'
    )
    alternate = '<link rel="alternate" href="in-browser/">' * in_browser  # which ui/models/in_browser.js looks for
    return icon + alternate + (f'<script type="module">{script}</script>' if signed_in else "")


def _finish(seconds: float) -> None:
    """Let running answers finish, then end the process."""
    finish_all(seconds)
    time.sleep(_SEND_SECONDS)
    os._exit(0)


def _take_no_cookies(app: FastAPI, *, public: bool) -> None:
    """Let other websites call a public page, but without the visitor's cookies, which Gradio would accept from them."""
    app.user_middleware = [each for each in app.user_middleware if each.cls is not CustomCORSMiddleware]
    if public:
        for_all = Middleware(CORSMiddleware, allow_origins=["*"], allow_methods=["GET", "POST"], allow_headers=["*"])
        app.user_middleware.insert(0, for_all)
    app.middleware_stack = None  # is rebuilt for the next request


def _release_memory() -> None:
    """Regularly return free memory to the system: with many visitors, fragments add up to hundreds of MB."""
    while True:
        time.sleep(_RELEASE_INTERVAL)
        release_freed_memory()


def launch(
    page: Page,
    *,
    host: str,
    port: int,
    share: bool = False,
    limits: Limits = Limits(),
    names: frozenset[str] | None = None,
    origins: frozenset[str] = frozenset(),
    accounts: Accounts | None = None,
    agents: bool = False,
    metrics: Metrics | None = None,
    in_browser: Sequence[Route] = (),
    ready: Callable[[str], None] = lambda url: None,
    block: bool = True,
) -> None:
    """Serve the page until interrupted, or in the background of this process.

    Args:
        names: the host names under which the page answers. None, for a public page, means all names, and that other
            websites may call the page, but without cookies.
        origins: those of other web pages that may call /v1.
        accounts: who may open the page, after signing in; None for everyone.
        agents: whether agents may call its tools, which needs the package mcp.
        metrics: where to count; by default in metrics of its own.
        in_browser: where the page without a server is, whose models run in the visitor's browser; none to offer none.
        ready: called with the address as soon as the page can be opened.
        block: whether to return only at the end; tests pass False, to return as soon as the page can be opened.
    """
    wanted, limits = limits, within_open_files(limits)
    if block:
        limit_log()
        if limits.all_connections < wanted.all_connections:
            print(f"Note: {_FEW_FILES.format(limits.all_connections)}", file=sys.stderr)
    metrics = metrics or Metrics()
    page.queue(api_open=False)
    queue = page._queue = FairQueue(page, limits)
    sign_ins = SignIns(limits)
    numbers = monitoring.routes(metrics, open_to_all=bool(limits.metrics))
    programs = OpenAI(page.models, page.encoder, page.calls, limits, origins)
    tools = Agents(page.models, page.calls, limits) if agents and page.models is not None else None
    with serving_with(limits, partial(CheckForwarded, names=names)):
        _, local_url, share_url = page.launch(
            server_name=host,
            server_port=port,
            share=share,
            quiet=True,
            prevent_thread_lock=True,
            ssr_mode=False,
            run_history=False,  # it would store what people type in their browser
            enable_monitoring=False,
            max_threads=limits.threads,
            max_file_size="100kb",  # Gradio's upload route is open even if no component takes files
            footer_links=["api"],
            show_error=False,
            auth=accounts and accounts.admits,
            theme=theme(),
            css=styles(),
            favicon_path=FAVICON,
            head=_head(signed_in=accounts is not None, in_browser=bool(in_browser)),
            js=assets.call("page/page.js", "start"),
            app_kwargs={
                "middleware": [
                    Middleware(CountRequests, metrics=metrics),
                    Middleware(LimitRequests, limit=limits.connections),
                    Middleware(Guard, max_bytes=limits.request_bytes, names=names, origins=origins),
                    *([] if accounts is None else [Middleware(SignIn, sign_ins=sign_ins, admits=accounts.admits)]),
                    Middleware(TrackVisits, visits=queue.visits),
                    Middleware(RefuseUnknownEvents, knows=queue.knows),
                ],
                "exception_handlers": refusals(page),
                "routes": [
                    *bundle.routes(),
                    *assets.routes(),
                    *scores.routes(address_of),
                    *programs.routes(),
                    *(tools.routes() if tools else ()),
                    *numbers,
                    *in_browser,
                ],
                **({"lifespan": tools.running} if tools else {}),
            },
        )
    page.app.state_holder = page.state_holder = queue.visits
    page.app.tokens = sign_ins  # type: ignore[assignment]  # Gradio uses it as a mapping only
    _take_no_cookies(page.app, public=names is None)
    sessions = "Visitors whose page the server keeps."
    metrics.gauge("sessions", sessions, lambda: len(page.app.state_holder.session_data))
    ready(share_url or local_url)
    if block:
        threading.Thread(target=_release_memory, name="attend-memory", daemon=True).start()
        if threading.current_thread() is threading.main_thread():  # only this one may handle signals
            finish = partial(_finish, limits.finish_seconds)
            signal.signal(signal.SIGTERM, lambda *_: threading.Thread(target=finish, daemon=True).start())
        page.block_thread()
