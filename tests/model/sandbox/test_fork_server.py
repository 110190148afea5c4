"""Sandboxes are forked from a process that knows nothing of the page, ends with it, and comes again."""

from __future__ import annotations

import json
import math
import signal
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import psutil
import pytest

from model.errors import AttendError
from model.huggingface.trial.limits import try_out
from model.sandbox import child
from model.sandbox.process import NotStarted, OutOfBounds, Sandbox
from tests.helpers.folders import gpt2
from tests.helpers.paths import ROOT
from tests.helpers.waiting import LONGEST, eventually

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only Linux forks sandboxes")

ENDLESS = {
    "template": "{% for i in range(99999) %}{% for j in range(99999) %}{% endfor %}{% endfor %}",
    "variables": {},
}
# Starts two sandboxes, says which processes they and their servers are, and ends without a goodbye.
PAGE = """
import os, sys, threading, psutil
from model.sandbox.process import Sandbox
sandboxes = [Sandbox("chat_template", seconds=600), Sandbox("tokenizer", seconds=600)]
processes = [psutil.Process(sandbox.answer(None)) for sandbox in sandboxes]
threading.Thread(target=sandboxes[0].answer, args=(QUESTION,), daemon=True).start()
while processes[0].cpu_percent(0.01) < 50:  # until it computes
    pass
print(*[pid for process in processes for pid in (process.pid, process.ppid())], flush=True)
os._exit(0)
"""

# Forks while it has a sandbox; the fork starts another and exits as a program does.
FORK = """
import os, sys, psutil
from model.sandbox.process import Sandbox
of_page = Sandbox("chat_template", seconds=600)
process = psutil.Process(of_page.answer(None))
if (pid := os.fork()) == 0:
    of_fork = Sandbox("chat_template", seconds=600)  # named, since a sandbox that nobody holds ends at once
    own = psutil.Process(of_fork.answer(None))
    print("own" if own.ppid() != process.ppid() else "shared", flush=True)
    sys.exit()
os.waitpid(pid, 0)
print("kept" if of_page.answer(None) == process.pid else "ended", flush=True)
"""


def sandbox_of_template() -> Sandbox:
    return Sandbox("chat_template", seconds=LONGEST)


def rendered(sandbox: Sandbox, template: str) -> str:
    return sandbox.answer({"template": template, "variables": {}})


def process(sandbox: Sandbox) -> psutil.Process:
    return psutil.Process(sandbox.answer(None))


def server(sandbox: Sandbox) -> psutil.Process:
    parent = process(sandbox).parent()
    assert parent is not None and parent.cmdline()[-1] == "fork"
    return parent


def files(of: psutil.Process) -> set[str]:
    return {str(path.readlink()) for path in Path(f"/proc/{of.pid}/fd").iterdir()}


def test_each_sandbox_is_a_process_of_its_own_with_one_socket() -> None:
    sandboxes = [sandbox_of_template() for _ in range(3)]
    assert len({process(sandbox) for sandbox in sandboxes}) == 3
    assert len({server(sandbox) for sandbox in sandboxes}) == 1
    kept = [files(each) - {"/dev/null"} for each in (server(sandboxes[0]), *map(process, sandboxes))]
    assert [len(each) for each in kept] == [1] * 4 and len(set.union(*kept)) == 4


@pytest.mark.parametrize("module", ["chat_template", "tokenizer"])
def test_a_server_has_no_secret_and_no_file_of_the_page(
    module: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ATTEND_AUTH", "teacher:secret")
    monkeypatch.setattr("model.sandbox.fork_server._SERVERS", {})
    with (tmp_path / "of the page").open("w"):
        of = server(Sandbox(module, seconds=LONGEST))
        assert not any("of the page" in name for name in files(of))
    assert b"secret" not in Path(f"/proc/{of.pid}/environ").read_bytes()


def test_what_is_forked_is_limited_and_its_server_is_not(tmp_path: Path) -> None:
    """The server has no threads: they would not be there in what is forked, but the locks that they hold would."""
    trial = Sandbox("model.huggingface.trial.reading", seconds=LONGEST)
    assert trial.answer({"path": str(gpt2(tmp_path / "tiny")), "name": "tiny", "engine": "auto"}) is None
    assert process(trial).rlimit(psutil.RLIMIT_DATA) == (child.MAX_BYTES, child.MAX_BYTES)
    assert process(trial).rlimit(psutil.RLIMIT_FSIZE) == (0, 0)
    assert server(trial).rlimit(psutil.RLIMIT_DATA) == psutil.Process().rlimit(psutil.RLIMIT_DATA)
    assert server(trial).num_threads() == 1


def test_what_was_ended_leaves_no_process_and_harms_no_other() -> None:
    other, hanging = sandbox_of_template(), Sandbox("chat_template", seconds=0.5)
    assert rendered(other, "{{ 1 }}") == "1"
    ended = process(hanging)
    with pytest.raises(OutOfBounds):
        hanging.answer(ENDLESS)
    eventually(lambda: not ended.is_running())  # not even as a zombie
    assert process(hanging) != ended and server(hanging) == server(other)
    left = process(hanging)
    del hanging
    eventually(lambda: not left.is_running())
    assert rendered(other, "{{ 2 }}") == "2"


def test_a_server_that_was_killed_comes_again() -> None:
    before = sandbox_of_template()
    killed = server(before)
    killed.kill()
    eventually(lambda: not killed.is_running() or killed.status() == psutil.STATUS_ZOMBIE)
    assert rendered(before, "{{ 1 }}") == "1"  # what it had forked goes on
    after = sandbox_of_template()
    assert rendered(after, "{{ 2 }}") == "2"
    assert server(after) != killed


def test_a_sandbox_whose_process_ended_while_idle_gets_another() -> None:
    """As when the system needs its memory, or its fork server was killed and another of its sandboxes ends."""
    idle, other = sandbox_of_template(), sandbox_of_template()
    assert rendered(idle, "{{ 1 }}") == rendered(other, "{{ 1 }}") == "1"
    ended = process(idle)
    ended.kill()
    eventually(lambda: not ended.is_running() or ended.status() == psutil.STATUS_ZOMBIE)
    assert rendered(idle, "{{ 2 }}") == "2"
    ended, killed = process(idle), server(idle)
    killed.kill()
    eventually(lambda: not killed.is_running() or killed.status() == psutil.STATUS_ZOMBIE)
    other.close()
    eventually(lambda: not ended.is_running() or ended.status() == psutil.STATUS_ZOMBIE)
    assert rendered(idle, "{{ 3 }}") == "3"


def test_sandboxes_of_many_threads_get_their_own_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("model.sandbox.fork_server._SERVERS", {})
    with ThreadPoolExecutor(16) as threads:
        answers = list(threads.map(lambda n: rendered(sandbox_of_template(), f"{{{{ {n} * 2 }}}}"), range(48)))
    assert answers == [str(number * 2) for number in range(48)]


def test_after_an_interrupt_the_next_answer_is_that_to_the_next_question() -> None:
    sandbox, main = sandbox_of_template(), threading.get_ident()
    computing = process(sandbox)
    interrupted = threading.Event()

    def raise_once(*_: object) -> None:
        if not interrupted.is_set():
            interrupted.set()
            raise KeyboardInterrupt

    def interrupt() -> None:
        eventually(lambda: computing.cpu_times().user > begun)
        while not interrupted.wait(0.1):  # a signal just before a blocking read is noticed after it only
            signal.pthread_kill(main, signal.SIGINT)

    begun = computing.cpu_times().user
    thread = threading.Thread(target=interrupt)
    default = signal.signal(signal.SIGINT, raise_once)
    try:
        thread.start()
        with pytest.raises(KeyboardInterrupt):
            sandbox.answer(ENDLESS)
        thread.join()
    finally:
        signal.signal(signal.SIGINT, default)
    assert rendered(sandbox, "{{ 1 }}") == "1"
    eventually(lambda: not computing.is_running())


def test_a_refused_checkpoint_leaves_no_process_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Even while its refusal is kept, whose traceback holds the sandboxes."""
    monkeypatch.setattr("model.sandbox.fork_server._SERVERS", {})
    before = set(psutil.Process().children())
    gpt2(folder := tmp_path / "folder")
    (folder / "config.json").write_text('{"model_type": "gpt2", "n_positions": 0}')
    with pytest.raises(AttendError) as refusal:
        try_out(folder, "folder", math.inf)
    with pytest.raises(OutOfBounds) as crash, closing(Sandbox("chat_template", seconds=1)) as endless:
        endless.answer(ENDLESS)
    servers = set(psutil.Process().children()) - before
    assert len(servers) == 2 and refusal.tb is not None and crash.tb is not None
    eventually(lambda: not any(server.children() for server in servers))


def test_a_fork_of_the_page_has_sandboxes_of_its_own_and_ends_none_of_the_pages() -> None:
    """As on a ZeroGPU Space, whose leased calls may load a model."""
    forked = subprocess.run([sys.executable, "-c", FORK], cwd=ROOT, capture_output=True, text=True, timeout=LONGEST)
    assert forked.stdout.split() == ["own", "kept"], forked.stderr


def test_where_no_file_can_be_opened_a_sandbox_is_refused_and_others_go_on() -> None:
    sandbox = sandbox_of_template()
    before = server(sandbox)
    import resource  # which Windows lacks

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (0, hard))
    try:
        with pytest.raises(NotStarted):
            sandbox_of_template().answer(None)
        assert rendered(sandbox, "{{ 1 }}") == "1"
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    assert server(sandbox_of_template()) == before


def test_all_ends_with_the_page() -> None:
    page = PAGE.replace("QUESTION", json.dumps(ENDLESS))
    run = subprocess.run([sys.executable, "-c", page], cwd=ROOT, capture_output=True, text=True, check=True)
    pids = [int(word) for word in run.stdout.split()]
    assert len(set(pids)) == 4
    eventually(lambda: not any(psutil.pid_exists(pid) and _runs(pid) for pid in pids))


def _runs(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False
