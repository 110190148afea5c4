"""The browser of the tests: an installed Chromium or Chrome, else the one that `make test` has Playwright download.

`python -m tests.browser.chromium` succeeds where there is one.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

from tests.helpers.paths import ROOT

DOWNLOADED = ROOT / ".venv" / "browsers"  # PLAYWRIGHT_BROWSERS_PATH in the Makefile
_INSTALLED = (
    "chromium-headless-shell",  # the same browser without its window, in which a page costs a third less
    *("chromium", "chromium-browser", "google-chrome", "google-chrome-stable"),
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
)
_SHELLS = ("chrome-headless-shell", "headless_shell")  # newer and older names in Playwright's download
REASON = "there is no Chromium for the tests of the page"
HINT = (
    "install one (Debian, Ubuntu: apt install chromium) or, with a network, run "
    ".venv/bin/python -m playwright install --with-deps chromium-headless-shell"
)
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--js-flags=--no-opt",  # no page of a test lives long enough for optimised code to pay: loading one costs 15 % less
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",  # no other host can be reached
]


def find_chromium() -> str | None:
    """The path of a browser that starts."""
    if installed := next(filter(None, map(shutil.which, _INSTALLED)), None):
        return installed
    shells = (path for path in DOWNLOADED.glob("chromium_headless_shell-*/*/*") if path.stem in _SHELLS)
    return next((str(path) for path in shells if _starts(path)), None)


def _starts(path: Path) -> bool:
    """A download does not start where the system's libraries for it are missing."""
    return subprocess.run([path, "--version"], capture_output=True, check=False).returncode == 0


CHROMIUM = find_chromium()

if __name__ == "__main__":
    sys.exit(CHROMIUM is None)
