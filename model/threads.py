"""How many threads this machine should decode with, found by timing real steps.

A step of a small model consists of many short operations: on a busy machine, handing them to a second thread costs 3 to
10 times what it saves. So the app times a few steps when it starts. Knows nothing of decoding or of the page.
"""

from __future__ import annotations

import os
import time

import torch
from threadpoolctl import threadpool_limits

from model.interface import LanguageModel, Want

_STEPS = 6  # per round; the faster of two rounds counts, so a single hiccup has no effect
_WORTH = 0.9  # more threads must save at least a tenth of the time, since other processes need them, too


def available_processors() -> int:
    """The processors that this process may run on."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def use_threads(count: int) -> None:
    """Compute with this many threads from now on; NumPy always uses one."""
    torch.set_num_threads(count)
    threadpool_limits(1, user_api="blas")


def fastest_threads(model: LanguageModel, *, most: int | None = None) -> int:
    """Time real decode steps with 1, 2, 4 … threads and return the fastest count, which stays in use.

    A compiled step runs in one thread, so there is nothing to time.
    """
    most = available_processors() if most is None else most
    use_threads(1)
    if most == 1 or getattr(model, "compiled", None) is not None:
        return 1
    best, best_time = 1, _time_with(1, model)
    threads = 2
    while threads <= most:
        taken = _time_with(threads, model)
        if taken > best_time * _WORTH:
            break  # more threads only make it worse
        best, best_time = threads, taken
        threads *= 2
    use_threads(best)
    return best


def _time_with(threads: int, model: LanguageModel) -> float:
    """Seconds for one round of decode steps, after a prompt that fills part of the context."""
    use_threads(threads)
    want = Want(attention=True)
    prompt = [0] * max(1, min(64, model.context_length - _STEPS))
    steps = min(_STEPS, model.context_length - len(prompt))
    rounds = []
    for _ in range(2):
        forward = model.prefill(prompt, want=want)
        started = time.perf_counter()
        for _ in range(steps):
            forward = model.step([0], forward.cache, want=want)
        rounds.append(time.perf_counter() - started)
    return min(rounds)
