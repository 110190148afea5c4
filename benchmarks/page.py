"""Times the page in a real browser: until it can be used, from Enter to the first token, from a click to the table.

    python -m benchmarks.page [--model attend-chat] [--rounds 10] [--port 7861]

The browser itself measures the times, up to the frame that shows the change. Every visit is a first one, with an empty
cache.
"""

from __future__ import annotations

import json
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from playwright.sync_api import Browser, Error, Page, sync_playwright

from benchmarks.flags import add_counts, add_model, add_port
from benchmarks.timing import machine, print_times
from model.command_line import Parser, command
from model.errors import AttendError
from model.names import locate
from ui.tour import SEEN

ROOT = Path(__file__).resolve().parents[1]
_PATIENCE = 120.0  # seconds until the server must be up
BROWSER_FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"]
OPENINGS = "Hi! How are you today?", "What do you like to do?", "I feel a bit tired."
AIMS = {"usable": 1500.0, "first token": 200.0, "click": 50.0, "click, older answer": 50.0}  # milliseconds

# Records when a message can be typed and sent, counted from the request for the page.
_WATCH_USABLE = """() => {
  const check = () => document.querySelector('body[data-ready][data-connected] #attend-message textarea')
    ? window.usable = performance.now() : requestAnimationFrame(check);
  check();
}"""

# Resolves when the page shows one more token than before Enter was pressed; the promise is awaited afterwards.
_WATCH_FIRST_TOKEN = """() => {
  const tokens = () => document.querySelectorAll('.at-assistant .at-tok:not(.at-recorded *)').length;
  const before = tokens();
  window.firstToken = new Promise((done, fail) => document.addEventListener('keydown', () => {
    const start = performance.now();
    const check = () => tokens() > before ? done(performance.now() - start) : requestAnimationFrame(check);
    check();
    setTimeout(() => fail(new Error('no token within 30 s')), 30000);
  }, { once: true, capture: true }));
}"""

# Clicks one token and resolves when the inspector's headline has changed.
_CLICK_TOKEN = """([turn, index]) => new Promise((done) => {
  const headline = () => document.querySelector('.at-headline').textContent;
  const token = document.querySelectorAll('.at-assistant')[turn].querySelectorAll('.at-tok')[index];
  const before = headline(), start = performance.now();
  token.click();
  const check = () => headline() !== before ? done(performance.now() - start) : requestAnimationFrame(check);
  check();
})"""


@contextmanager
def chromium() -> Iterator[Browser]:
    """Start a browser and close it at the end; `AttendError` if none is installed."""
    path = shutil.which("chromium") or shutil.which("chromium-headless-shell")
    if path is None:
        raise AttendError("This needs a browser: install chromium (Debian: apt install chromium).")
    with (
        sync_playwright() as playwright,
        playwright.chromium.launch(executable_path=path, args=BROWSER_FLAGS) as browser,
    ):
        yield browser


def check_free(port: int) -> None:
    """`AttendError` if a program answers on the port: it would be measured instead of the page."""
    with suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
        raise AttendError(f"Another program uses port {port}: choose another with --port.")


@contextmanager
def served(model: str, port: int) -> Iterator[None]:
    """Serve the page with `python app.py`, in a process of its own."""
    check_free(port)
    command = [sys.executable, "app.py", "--model", model, "--port", str(port)]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL) as process:
        try:
            yield
        finally:
            process.terminate()


def open_page(browser: Browser, port: int, path: str = "/") -> Page:
    """Open the page as a new visitor, without the tour, and wait until it is ready for a message."""
    page = browser.new_page(viewport={"width": 1440, "height": 900})
    page.add_init_script(SEEN)
    page.add_init_script(f"({_WATCH_USABLE})()")
    started = time.monotonic()
    while True:
        try:
            page.goto(f"http://127.0.0.1:{port}{path}")
            break
        except Error:  # the server is not up yet
            if time.monotonic() - started > _PATIENCE:
                raise
            time.sleep(0.05)
    page.locator("body[data-ready][data-connected]").wait_for()
    page.locator("#attend-message textarea").wait_for()
    page.locator(".at-example").first.wait_for()
    return page


def first_token(page: Page, message: str) -> float:
    """Milliseconds from Enter to the first token of the answer on the screen; returns when the answer is complete."""
    page.locator("#attend-message textarea").fill(message)
    page.evaluate(_WATCH_FIRST_TOKEN)
    page.locator("#attend-message textarea").press("Enter")
    milliseconds = float(page.evaluate("window.firstToken"))
    page.locator("#attend-stop").wait_for(state="hidden")
    page.locator("#attend-send").wait_for()
    return milliseconds


def click_token(page: Page, turn: int, index: int) -> float:
    """Milliseconds from a click on a token until the inspector shows it."""
    return float(page.evaluate(_CLICK_TOKEN, [turn, index]))


def measure(model: str, port: int, rounds: int) -> dict[str, list[float]]:
    """Milliseconds of each measurement, in every round."""
    times: dict[str, list[float]] = {"usable": [], "first token": [], "click": [], "click, older answer": []}
    with chromium() as browser, served(model, port):
        for _ in range(rounds):
            page = open_page(browser, port)
            times["usable"].append(float(page.evaluate("window.usable")))
            times["first token"] += [first_token(page, message) for message in OPENINGS[:2]]
            times["click"] += [click_token(page, 1, index) for index in (0, 2, 1)]
            times["click, older answer"].append(click_token(page, 0, 1))
            page.close()
    return times


@command
def main(arguments: Sequence[str] | None = None) -> None:
    parser = Parser(prog="python -m benchmarks.page", description="Time Attend's page in a real browser.")
    add_model(parser)
    add_port(parser, 7861)
    add_counts(parser, rounds=10)
    options = parser.parse_args(arguments)
    locate(options.model)  # refuse a mistyped name here, since the page would never start

    results = measure(options.model, options.port, options.rounds)
    print(f"{options.model} in Chromium, {options.rounds} visits")
    figures = print_times(results, AIMS)
    print(json.dumps({"benchmark": "page", "model": options.model, **figures, **machine()}))


if __name__ == "__main__":
    sys.exit(main())
