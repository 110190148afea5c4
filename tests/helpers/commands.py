"""Runs a command in a fork of a process that has imported nothing slow yet."""

from __future__ import annotations

import io
import multiprocessing
import os
import runpy
import sys
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from multiprocessing.connection import Connection

from tests.helpers.paths import ROOT

_PROCESSES = multiprocessing.get_context("forkserver")
_PROCESSES.set_forkserver_preload([__name__, "decoding.settings"])  # which nearly all of them bring


@dataclass(frozen=True, slots=True)
class Ran:
    """The output of a command, its exit code, and the packages it had imported by the end."""

    code: int
    out: str
    err: str
    packages: frozenset[str]


def run_command(module: str, *arguments: str) -> Ran:
    """Run `python -m MODULE ARGUMENTS` in the project's folder."""
    result, sent = _PROCESSES.Pipe(duplex=False)
    process = _PROCESSES.Process(target=_run, args=(sent, module, arguments))
    process.start()
    sent.close()
    try:
        return result.recv()
    finally:
        process.join()
        process.close()


def _run(sent: Connection, module: str, arguments: tuple[str, ...]) -> None:
    os.chdir(ROOT)
    sys.argv = [module, *arguments]
    with redirect_stdout(io.StringIO()) as out, redirect_stderr(io.StringIO()) as err:
        code = 0
        try:
            runpy.run_module(module, run_name="__main__", alter_sys=True)
        except SystemExit as ended:
            code = int(ended.code or 0)
    packages = frozenset(name.partition(".")[0] for name in sys.modules)
    sent.send(Ran(code, out.getvalue(), err.getvalue(), packages))
