"""Times the page without a server in a real browser: until a message can be sent, and until an answer begins.

    python -m benchmarks.web.page [--rounds 5]

The page comes from a server on this machine, so a download takes no time: the bytes that are fetched until a message
can be sent are counted instead. A first visit begins with an empty cache; the second one fetches no weights.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, Page

from benchmarks.flags import add_counts
from benchmarks.page import chromium
from benchmarks.timing import machine, print_times
from model.command_line import Parser, command

AIMS = {"first visit": 1500.0}  # milliseconds

# Records when a message can be sent, counted from the request for the page.
_WATCH_READY = """() => {
  const check = () => document.querySelector('form [role=status]')?.textContent.endsWith('is ready.')
    ? window.ready = performance.now() : requestAnimationFrame(check);
  check();
}"""

# Sends a message and resolves with the milliseconds until the answer's first words are on the screen.
_FIRST_TOKEN = """() => new Promise((done) => {
  const start = performance.now();
  document.querySelector('form textarea').value = 'Hi! How are you today?';
  document.querySelector('form').requestSubmit();
  const check = () => document.querySelector('.at-log > .at-turn .at-tok')
    ? done(performance.now() - start) : requestAnimationFrame(check);
  check();
})"""


@contextmanager
def served(folder: Path) -> Iterator[tuple[str, list[int]]]:
    """The address at which a folder is served, and the bytes of each file that was asked for."""
    sizes: list[int] = []

    class Counting(SimpleHTTPRequestHandler):
        def log_message(self, format: str, *args: object) -> None:
            """Print nothing."""

        def copyfile(self, source: Any, outputfile: Any) -> None:
            sizes.append(os.fstat(source.fileno()).st_size)
            with suppress(ConnectionError):  # the page was closed
                super().copyfile(source, outputfile)

    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Counting, directory=str(folder))) as host:
        threading.Thread(target=host.serve_forever).start()
        try:
            yield f"http://127.0.0.1:{host.server_port}/", sizes
        finally:
            host.shutdown()


def ready(page: Page) -> float:
    """Milliseconds until a message could be sent."""
    page.wait_for_function("() => window.ready")  # a string would need unsafe-eval
    return float(page.evaluate("window.ready"))


def measure(browser: Browser, address: str, sizes: list[int], rounds: int) -> tuple[dict[str, list[float]], int]:
    """Milliseconds of each measurement, in every round, and the bytes of a first visit."""
    fetched = 0
    times: dict[str, list[float]] = {"first visit": [], "first token": [], "second visit": []}
    for _ in range(rounds):
        with browser.new_context(viewport={"width": 1440, "height": 900}) as context:
            page = context.new_page()
            page.add_init_script(f"({_WATCH_READY})()")
            sizes.clear()
            page.goto(address)
            times["first visit"].append(ready(page))
            fetched = sum(sizes)
            times["first token"].append(float(page.evaluate(_FIRST_TOKEN)))
            page.reload()
            times["second visit"].append(ready(page))
    return times, fetched


@command
def main(arguments: Sequence[str] | None = None) -> None:
    parser = Parser(prog="python -m benchmarks.web.page", description="Time the page without a server in a browser.")
    add_counts(parser, rounds=5)
    options = parser.parse_args(arguments)
    from web import static  # imports Gradio, which takes seconds

    with tempfile.TemporaryDirectory() as name, chromium() as browser:
        folder = Path(name) / "page"
        static.write(folder)
        with served(folder) as (address, sizes):
            results, fetched = measure(browser, address, sizes, options.rounds)
    print(f"The page without a server in Chromium, {fetched / 1e6:.1f} MB, {options.rounds} visits")
    figures = print_times(results, AIMS)
    print(json.dumps({"benchmark": "web.page", "bytes": fetched, **figures, **machine()}))


if __name__ == "__main__":
    sys.exit(main())
