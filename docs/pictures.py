"""Takes screenshots of every tab, light, dark and on a phone, of the page as `make run` serves it.

python -m docs.pictures DIR                every tab, to compare the page before and after a change
python -m docs.pictures --readme           docs/screenshot.png

Needs the development requirements and a Chromium (`apt install chromium`).
"""

from __future__ import annotations

import argparse
import re
import shutil
import socket
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from playwright.sync_api import Page, ViewportSize, expect

from benchmarks.page import chromium
from ui.tour import SEEN

ROOT = Path(__file__).resolve().parents[1]
PATIENCE = 120_000  # ms; the machine may be busy with a training
DESKTOP, PHONE = ViewportSize(width=1440, height=900), ViewportSize(width=390, height=844)
LOOKS = {"light": ("light", DESKTOP), "dark": ("dark", DESKTOP), "phone": ("light", PHONE)}


@contextmanager
def served(model: str) -> Iterator[str]:
    """Serve a page of the model from this checkout, for as long as the context lasts; yields its address."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [sys.executable, "app.py", "--port", str(port), "--model", model]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        while "ready" not in server.stdout.readline():
            if server.poll() is not None:
                raise SystemExit("The page did not start.")
        try:
            yield f"http://127.0.0.1:{port}/"
        finally:
            server.terminate()


def switch(page: Page, tab: str) -> None:
    page.locator("#attend-tabs label", has_text=tab).click()


def resting(page: Page) -> None:
    """Wait until no text is being written."""
    expect(page.locator("#attend-stop:visible, #attend-halt, .at-caret")).to_have_count(0, timeout=PATIENCE)


def chat(page: Page) -> None:
    page.locator("#attend-message textarea").fill("Hi! How are you today?")
    page.keyboard.press("Enter")
    expect(page.locator(".at-assistant")).to_have_count(1, timeout=PATIENCE)
    resting(page)
    page.locator(".at-assistant .at-tok").nth(3).click()


def why(page: Page) -> None:
    """From a token to the head that it depends on, in six clicks."""
    page.locator("#attend-message textarea").fill("My dog is called Tom. What is my dog called?")
    page.keyboard.press("Enter")
    expect(page.locator(".at-assistant")).to_have_count(1, timeout=PATIENCE)
    resting(page)
    page.locator(".at-assistant .at-tok", has_text="Tom").click()
    page.get_by_role("button", name="Look inside the model").click()
    page.locator(".at-causes label:has(> input[value='heads'])").click()
    page.get_by_role("button", name="Switch off each head in turn").click()
    page.get_by_role("button", name=re.compile(r"^head \d+\.\d+$")).click()  # the one that the token depends on most
    page.get_by_role("button", name="Switch off", exact=True).click()
    expect(page.locator(".at-without .at-changes li").first).to_be_visible()


def write(page: Page) -> None:
    switch(page, "Write")
    page.locator("#attend-text textarea").fill("Once upon a time there was a little fox who")
    page.get_by_role("button", name="Continue", exact=True).click()
    expect(page.locator(".at-box.at-generated").first).to_be_visible(timeout=PATIENCE)
    resting(page)


def compare(page: Page) -> None:
    switch(page, "Compare")
    page.locator(".attend-compare").get_by_role("button", name="Compare", exact=True).click()
    expect(page.locator(".at-compare-status")).to_contain_text("Done", timeout=PATIENCE)


def learn(page: Page) -> None:
    switch(page, "Learn")
    expect(page.locator(".attend-lesson")).to_be_visible(timeout=PATIENCE)


def translate(page: Page) -> None:
    page.locator("#attend-given textarea").fill("Où est la gare ?")
    page.get_by_role("button", name="Translate", exact=True).click()
    expect(page.locator(".attend-translation > .at-translated")).to_be_visible(timeout=PATIENCE)  # and no example
    expect(page.locator(".attend-alignment svg, .attend-alignment canvas").first).to_be_visible(timeout=PATIENCE)


CHATTING: dict[str, Callable[[Page], None]] = {
    "chat": chat,
    "why": why,
    "write": write,
    "compare": compare,
    "learn": learn,
}


def take(
    directory: Path, model: str, tabs: dict[str, Callable[[Page], None]], looks: Iterable[str] = tuple(LOOKS)
) -> None:
    """Take one picture for each tab and look, `tab-look.png`. A failing tab prints its error."""
    with served(model) as address, chromium() as browser:
        for look in looks:
            scheme, viewport = LOOKS[look]
            for tab, show in tabs.items():
                context = browser.new_context(
                    viewport=viewport, color_scheme="dark" if scheme == "dark" else "light", reduced_motion="reduce"
                )
                context.add_init_script(SEEN)
                page = context.new_page()
                page.set_default_timeout(PATIENCE)
                page.goto(address + "?seed=7")
                page.locator("body[data-ready][data-connected]").wait_for()
                try:
                    show(page)
                    page.wait_for_timeout(500)  # for the last frames, which set no state to wait for
                except Exception as error:  # the picture shows what went wrong
                    print(f"{tab}, {look}: {error}")
                page.screenshot(path=directory / f"{tab}-{look}.png", full_page=True)
                context.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("directory", type=Path, nargs="?", default=Path("pictures"), help="where the pictures go")
    parser.add_argument("--readme", action="store_true", help="only the README's picture, docs/screenshot.png")
    arguments = parser.parse_args()
    if arguments.readme:
        with TemporaryDirectory() as folder:
            take(Path(folder), "attend-chat", {"chat": chat}, ["light"])
            shutil.copy(Path(folder) / "chat-light.png", ROOT / "docs" / "screenshot.png")
        return
    arguments.directory.mkdir(parents=True, exist_ok=True)
    take(arguments.directory, "attend-chat", CHATTING)
    take(arguments.directory, "attend-translate", {"translate": translate})


if __name__ == "__main__":
    main()
