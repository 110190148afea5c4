"""A sandboxed process opens nothing once it is closed off."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from model.sandbox.process import Sandbox
from tests.helpers.folders import gpt2
from tests.helpers.paths import ROOT

pytest.importorskip("resource", reason="this system has no such limits")

ATTEMPTS = """
import os, socket, sys
from model.sandbox.child import close_off
if sys.argv[1:]:
    os.setuid(65534)  # nobody: a limit of processes does not hold for root
close_off()
for attempt in (lambda: open("/dev/null"), socket.socket, os.pipe, os.fork):
    try:
        attempt()
        print("done", flush=True)
    except OSError as error:
        print(error.strerror, flush=True)
"""


def test_no_file_no_connection_and_no_process() -> None:
    user = ["nobody"] if os.geteuid() == 0 else []
    run = subprocess.run([sys.executable, "-c", ATTEMPTS, *user], cwd=ROOT, capture_output=True, text=True, check=True)
    assert run.stdout.splitlines() == ["Too many open files"] * 3 + ["Resource temporarily unavailable"]


@pytest.mark.skipif(not hasattr(psutil.Process, "rlimit"), reason="psutil can't read the limits of a process here")
def test_strangers_files_are_used_only_by_processes_that_are_closed_off(tmp_path: Path) -> None:
    template, tokenizer = Sandbox("chat_template", seconds=30), Sandbox("tokenizer", seconds=60)
    template.answer({"template": "", "variables": {}})
    tokenizer.answer(str(gpt2(tmp_path / "checkpoint") / "tokenizer.json"))
    for sandbox in (template, tokenizer):
        assert psutil.Process(sandbox.answer(None)).rlimit(psutil.RLIMIT_NOFILE) == (0, 0)
