"""The door: `python app.py` reads its arguments, loads the models and serves the page."""

from __future__ import annotations

import argparse
import os
import socket
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from model.choice import ModelChoice

if TYPE_CHECKING:
    import gradio as gr

os.environ.setdefault("GRADIO_ANALYTICS_ENABLED", "False")  # nothing about anybody leaves this machine
os.environ.setdefault("HF_HUB_DISABLE_TELEMETRY", "1")

F = TypeVar("F", bound=Callable[..., Any])

PUBLIC_SECONDS, PRIVATE_SECONDS = 60.0, 600.0  # that one run may take
PUBLIC_QUEUE, PRIVATE_QUEUE = 16, 64  # visitors that may wait


@dataclass(frozen=True, slots=True)
class Options:
    """What the command line asked for."""

    host: str
    port: int
    model: ModelChoice
    public: bool
    share: bool


def options(arguments: Sequence[str] | None = None) -> Options:
    """Read the command line; on a Hugging Face Space the page is public and listens to everyone."""
    space = bool(os.environ.get("SPACE_ID"))
    parser = argparse.ArgumentParser(description="Chat with a transformer in the browser and watch every token.")
    parser.add_argument("--host", default="0.0.0.0" if space else "127.0.0.1", help="address to listen on")
    parser.add_argument("--port", type=int, default=int(os.environ.get("PORT", 7860)), help="port to listen on")
    ModelChoice.add_flags(parser)
    parser.add_argument("--public", action="store_true", default=space, help="limits for a page that strangers use")
    parser.add_argument("--share", action="store_true", help="also give the page a temporary address on gradio.live")
    read = parser.parse_args(arguments)
    return Options(read.host, read.port, ModelChoice.of(read), read.public, read.share)


def check_port(host: str, port: int) -> None:
    """Exit with one sentence when nobody could listen there, before anything slow is loaded."""
    if not 0 < port < 65536:
        sys.exit(refuse(f"The port is {port}, but must lie between 1 and 65535: choose another with --port."))
    try:
        with socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind((host, port))
    except socket.gaierror:
        sys.exit(refuse(f"There is no address {host}: give one of this machine with --host."))
    except OSError as error:
        sys.exit(refuse(f"Port {port} on {host} cannot be used ({error.strerror}): choose another with --port."))


def gpu_lender() -> Callable[[F], F]:
    """What borrows a GPU for each call where the host lends one (a ZeroGPU Space); elsewhere it changes nothing."""
    try:
        import spaces  # type: ignore[import-not-found]  # only there, and it must come before torch
    except ImportError:
        return lambda function: function
    return spaces.GPU


def refuse(sentence: str) -> int:
    print(sentence, file=sys.stderr)
    return 2


def main(arguments: Sequence[str] | None = None) -> int:
    started = time.monotonic()
    chosen = options(arguments)
    check_port(chosen.host, chosen.port)

    wrap = gpu_lender()
    # Slow imports come after everything that can be refused without them.
    from model import catalog
    from model.errors import AttendError, EncoderOnly
    from model.threads import fastest_threads
    from ui import page
    from ui.models import Models

    try:
        if chosen.public:
            catalog.check_listed(chosen.model.name)
        try:
            first = chosen.model.load()
        except EncoderOnly:
            return inspect(chosen, started)
        listed = (entry.name for entry in catalog.ENTRIES if not entry.embedded or entry.name in catalog.embedded())
        models = Models(
            tuple(dict.fromkeys((first.name, *listed))),
            lambda name, progress: first if name == first.name else chosen.model.load_another(name, progress),
            any_name=not chosen.public,
            time_limit=PUBLIC_SECONDS if chosen.public else PRIVATE_SECONDS,
            wrap=wrap,
        )
    except AttendError as error:
        return refuse(str(error))
    for note in first.notes:
        print(f"Note: {note}", file=sys.stderr)
    threads = fastest_threads(first.model)
    return launch(page.build(models), chosen, f"{first.name}, {threads} thread{'s' * (threads > 1)}", started)


def launch(blocks: gr.Blocks, chosen: Options, shown: str, started: float) -> int:
    """Serve a page until it is interrupted; returns the exit code.

    Args:
        shown: what stands beside the address once it can be opened.
        started: when the program began, by the monotonic clock.
    """
    from ui import serve

    try:
        serve.launch(
            blocks,
            host=chosen.host,
            port=chosen.port,
            share=chosen.share,
            waiting=PUBLIC_QUEUE if chosen.public else PRIVATE_QUEUE,
            ready=lambda url: print(
                f"Attend is ready at {url} ({shown}, {time.monotonic() - started:.1f} s)", flush=True
            ),
        )
    except OSError as error:  # somebody took the port meanwhile
        return refuse(f"Port {chosen.port} on {chosen.host} cannot be used ({error}): choose another with --port.")
    return 0


def inspect(chosen: Options, started: float) -> int:
    """The same for an encoder alone, which can only be looked into."""
    from ui import inspect_page

    encoder = chosen.model.load_encoder()
    for note in encoder.notes:
        print(f"Note: {note}", file=sys.stderr)
    return launch(inspect_page.build(encoder), chosen, encoder.name, started)


if __name__ == "__main__":
    sys.exit(main())
