"""The entry point: `python app.py` reads its arguments, loads the models and serves the page."""

from __future__ import annotations

import gc
import importlib
import os
import sys
import time
from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from types import ModuleType
from typing import TYPE_CHECKING

import attend
from model import names
from model.arguments import ModelArguments
from model.command_line import INSTALLED, Parser, command, run_as
from model.errors import AttendError, EncoderOnly
from ui.limits import Limits
from ui.server.accounts import Accounts
from ui.server.connections.sockets import bind

if TYPE_CHECKING:
    from ui.server.metrics import Metrics
    from ui.server.refusals import Page

os.environ.setdefault("GRADIO_ANALYTICS_ENABLED", "False")  # no usage statistics are sent
os.environ.setdefault("HF_HUB_DISABLE_TELEMETRY", "1")

PORT = 7860


@dataclass(frozen=True, slots=True)
class Options:
    """The options of the command line."""

    host: str
    port: int
    model: ModelArguments
    public: bool
    share: bool
    allowed_hosts: tuple[str, ...] = ()  # further host names under which the page answers
    allowed_origins: tuple[str, ...] = ()  # other web pages that may call /v1
    limits: Limits = Limits()
    accounts: Accounts | None = None  # who may open the page; None for everybody
    agents: bool = False  # whether agents may call the page's tools


def options(arguments: Sequence[str] | None = None) -> Options:
    """Read the command line."""
    flags = command_parser().parse_args(arguments)
    return page_options(flags, ModelArguments.from_namespace(flags))


def command_parser() -> Parser:
    program = run_as("app")
    parser = Parser(
        prog=program,
        usage=f"{program} [flags]",
        description="Chat with a transformer in your browser and watch it choose every token.",
        epilog="Other commands: attend generate, attend score, attend export, attend completion." * INSTALLED,
    )
    add_page_flags(parser)
    parser.add_argument("--version", action="version", version=f"Attend {attend.__version__}")
    ModelArguments.add_flags(parser.add_argument_group("model"))
    return parser


def add_page_flags(parser: ArgumentParser) -> None:
    """Add what `page_options` reads. On a Hugging Face Space, the page is public and listens on all addresses."""
    space = bool(os.environ.get("SPACE_ID"))
    host = "0.0.0.0" if space else "127.0.0.1"
    parser.add_argument("--host", default=host, metavar="ADDRESS", help=f"address to listen on (default {host})")
    parser.add_argument("--port", type=int, metavar="N", help=f"port to listen on (default $PORT, or {PORT})")
    parser.add_argument("--public", action="store_true", default=space, help="limits for a page open to the public")
    parser.add_argument(
        "--allow-host",
        action="append",
        default=[],
        metavar="NAME",
        help="another host name for the page, such as that of a proxy; .example.org allows all names that end so",
    )
    parser.add_argument(
        "--allow-origin",
        action="append",
        default=[],
        metavar="ORIGIN",
        help="another web page that may call /v1, such as https://chat.example.org; null is a page opened from a file",
    )
    parser.add_argument(
        "--auth", default="", metavar="FILE", help="ask for a name and a password: NAME:PASSWORD, one on each line"
    )
    parser.add_argument("--mcp", action="store_true", help="also serve tools for agents (MCP) at /mcp")
    parser.add_argument("--share", action="store_true", help="also give the page a temporary address on gradio.live")


def page_options(flags: Namespace, model: ModelArguments) -> Options:
    """The options in parsed flags and in the environment; `AttendError` if they are invalid."""
    port = _port_of_environment() if flags.port is None else flags.port
    if flags.public and flags.allow_host:
        raise AttendError("A public page answers under every name: leave out --allow-host, or --public.")
    if flags.mcp and (find_spec("mcp") is None or find_spec("mcp.server.mcpserver") is None):
        raise AttendError("--mcp needs the package mcp, version 2: run pip install 'attend[mcp]', or make mcp.")
    limits = Limits.of(public=flags.public, environment=os.environ)
    accounts = Accounts.read(flags.auth, os.environ)
    hosts, origins = tuple(flags.allow_host), tuple(origin.rstrip("/") for origin in flags.allow_origin)
    return Options(flags.host, port, model, flags.public, flags.share, hosts, origins, limits, accounts, flags.mcp)


def _port_of_environment() -> int:
    """The port in the environment's PORT, which hosting services set, or the default."""
    value = os.environ.get("PORT", "").strip()
    if value and not (value.isascii() and value.isdigit() and len(value) <= 5):
        raise AttendError(
            f"The environment's PORT is {value[:80]!r}, not a port: change it, or choose one with --port."
        )
    return int(value or PORT)


def check_port(host: str, port: int) -> None:
    """`AttendError` if the port cannot be used, before anything slow is loaded."""
    for listener in bind(host, port):
        listener.close()


def import_spaces() -> ModuleType | None:
    """The module by which a ZeroGPU Space lends its GPU, which must come before all use of CUDA; None elsewhere."""
    return importlib.import_module("spaces") if "SPACES_ZERO_GPU" in os.environ else None


@command
def main(arguments: Sequence[str] | None = None) -> None:
    """Load the model and serve the page until it is interrupted."""
    started = time.monotonic()
    spaces = import_spaces()
    chosen = options(arguments)
    check_port(chosen.host, chosen.port)
    if chosen.public:
        names.check_listed(chosen.model.name)

    # The start creates 600,000 objects, and nearly all stay. Collecting garbage every 700 took a fifth of the time.
    gc.set_threshold(50_000, 50)
    # Slow imports come after everything that can be checked without them.
    from model.device import limit_heaps
    from ui.server.machine import Machine

    limit_heaps()
    if spaces is None:
        machine = Machine(chosen.model)
    else:
        from ui.server.zero_gpu import ZeroGpu

        machine = ZeroGpu(chosen.model, spaces, chosen.limits.run_seconds)
    try:
        first = machine.load_first()
    except EncoderOnly:
        inspect(chosen, started)
        return
    from model.threads import fastest_threads
    from ui.kit.light_import import import_gradio

    import_gradio()
    from ui.page.layout import build
    from ui.runs.models import Models
    from ui.server.metrics import Metrics

    metrics = Metrics()
    listed = (entry.name for entry in names.ENTRIES if not entry.embedded or entry.name in names.embedded())
    models = Models(
        tuple(dict.fromkeys((first.name, *listed))),
        lambda name, progress: first if name == first.name else machine.load_another(name, progress),
        any_name=not chosen.public,
        limits=chosen.limits,
        wrap=machine.with_gpu_lease,
        alone=machine.needs_gpu_lease,
        observer=metrics,
    )
    metrics.gauge("runs_waiting", "Runs that have not begun.", lambda: models.schedulers.waiting)
    metrics.gauge("prefix_bytes", "Bytes kept of texts that were read.", lambda: models.schedulers.prefix_bytes)
    for note in first.notes:
        print(f"Note: {note}", file=sys.stderr)
    threads = 1 if machine.needs_gpu_lease(first.name) else fastest_threads(first.model)
    description = f"{first.name}, {threads} thread{'s' * (threads > 1)}"
    launch(build(models), chosen, description, started, metrics)


def launch(page: Page, chosen: Options, description: str, started: float, metrics: Metrics | None = None) -> None:
    """Serve a page until it is interrupted.

    Args:
        description: printed beside the address once the page can be opened.
        started: when the program began, by the monotonic clock.
        metrics: where to count; by default in new metrics.
    """
    from ui.server import launch as serve
    from ui.server.hosts import own_names
    from web import served

    serve.launch(
        page,
        host=chosen.host,
        port=chosen.port,
        share=chosen.share,
        limits=chosen.limits,
        names=None if chosen.public else own_names(chosen.host, added=chosen.allowed_hosts, share=chosen.share),
        origins=frozenset(chosen.allowed_origins),
        accounts=chosen.accounts,
        agents=chosen.agents,
        metrics=metrics,
        in_browser=served.routes(),
        ready=lambda url: print(
            f"Attend is ready at {url} ({description}, {time.monotonic() - started:.1f} s)", flush=True
        ),
    )


def inspect(chosen: Options, started: float) -> None:
    """Serve the page of an encoder alone."""
    from model import catalog
    from ui.kit.light_import import import_gradio

    import_gradio()
    from ui.page.layout import build_encoder

    encoder = catalog.load_encoder_arguments(chosen.model)
    for note in encoder.notes:
        print(f"Note: {note}", file=sys.stderr)
    launch(build_encoder(encoder, chosen.limits), chosen, encoder.name, started)


if __name__ == "__main__":
    sys.exit(main())
