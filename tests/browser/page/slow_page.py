"""A page in a process of its own, which can be killed: `python -m tests.browser.page.slow_page CHECKPOINT PORT`."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

from tests.helpers.paths import ROOT


@dataclass(slots=True)
class SlowPage:
    """A page of one model that writes no more than eight tokens, always under the same address."""

    checkpoint: Path
    port: int
    _process: subprocess.Popen[str] | None = field(default=None)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/"

    def start(self) -> None:
        command = [sys.executable, "-m", "tests.browser.page.slow_page", str(self.checkpoint), str(self.port)]
        self._process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)
        assert self._process.stdout is not None
        while "ready" not in (line := self._process.stdout.readline()):
            assert line, "it has ended"

    def kill(self) -> None:
        assert self._process is not None
        self._process.kill()
        self._process.wait()
        assert self._process.stdout is not None
        self._process.stdout.close()


def _serve(checkpoint: str, port: int) -> None:
    import threading

    from model import catalog
    from tests.helpers.browsing import page_of
    from tests.helpers.waiting import Gate
    from ui.runs.models import Models

    loaded = catalog.load(checkpoint)
    with page_of(Models((loaded.name,), lambda name, _: loaded, wrap=Gate(free=8)), port):
        print("ready", flush=True)
        threading.Event().wait()


if __name__ == "__main__":
    _serve(sys.argv[1], int(sys.argv[2]))
