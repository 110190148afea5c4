"""What leases the GPU of a ZeroGPU Space, and for how long.

The real `spaces` leases GPUs on Spaces only. The one here treats a call as it does: it asks for the duration, runs the
call in a fork, and pickles its arguments and results.
"""

from __future__ import annotations

import multiprocessing
import os
import sys
from collections.abc import Callable
from dataclasses import replace
from functools import partial, wraps
from inspect import isgeneratorfunction
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest
import torch

import app
from decoding.call import DecodeCall
from decoding.settings import DecodingSettings
from model import catalog
from model.arguments import ModelArguments
from model.errors import AttendError
from model.interface import Want
from model.loaded import LoadedModel
from model.progress import silent
from tests.helpers.waiting import LONGEST, steps_of
from ui.runs.attention_rows import explain
from ui.runs.models import Models
from ui.server.zero_gpu import LeasedModel, ZeroGpu

SETTINGS = DecodingSettings(max_new_tokens=6, min_new_tokens=6, seed=1)
PROMPT = (1, 5, 9)
LARGE, SMALL = "Qwen2.5-0.5B-Instruct", "attend-chat"
_FORKS = multiprocessing.get_context("fork")


class Spaces(ModuleType):
    """Leases the processor."""

    def __init__(self) -> None:
        super().__init__("spaces")
        self.leases: list[Any] = []  # seconds of each
        self.emulated = 0  # how often CUDA was to be emulated
        self.zero = SimpleNamespace(torch=SimpleNamespace(enter_mode=self._enter_mode))

    def _enter_mode(self) -> None:
        self.emulated += 1

    def GPU(self, task: Any = None, *, duration: Any = 60) -> Any:
        if task is None:
            return partial(self.GPU, duration=duration)

        @wraps(task)
        def values(*arguments: Any) -> Any:
            self.leases.append(duration(*arguments) if callable(duration) else duration)
            here, there = _FORKS.Pipe()
            process = _FORKS.Process(target=_work, args=(there, task), daemon=True)
            process.start()
            here.send(arguments)
            try:
                while (received := here.recv())[0] != "end":
                    if received[0] == "error":
                        raise RuntimeError(received[1])
                    yield received[1]
            finally:
                process.terminate()
                process.join(LONGEST)

        return values if isgeneratorfunction(task) else wraps(task)(lambda *arguments: next(values(*arguments)))


def _work(pipe: Any, task: Callable[..., Any]) -> None:
    """In the fork."""
    torch.set_num_threads(1)
    try:
        result = task(*pipe.recv())
        for value in result if isgeneratorfunction(task) else [result]:
            pipe.send(("value", value))
    except Exception as error:
        pipe.send(("error", type(error).__name__))  # all that spaces sends
    pipe.send(("end", None))
    pipe.recv()  # tensors that were sent are fetched from this process, which waits for its end


@pytest.fixture
def spaces() -> Spaces:
    return Spaces()


@pytest.fixture
def devices(tiny: LoadedModel, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """The device that each model was loaded to; all of them are the tiny one, on the processor."""
    named: dict[str, str] = {}

    def load(arguments: ModelArguments, name: str, _: object) -> LoadedModel:
        named[name] = arguments.device
        return replace(tiny, name=name)

    monkeypatch.setattr(catalog, "load_another", load)
    monkeypatch.setattr(catalog, "load_arguments", lambda arguments: load(arguments, arguments.name, None))
    return named


@pytest.fixture
def machine(spaces: Spaces, devices: dict[str, str]) -> ZeroGpu:
    return ZeroGpu(ModelArguments(), spaces, 60)


@pytest.fixture
def models(machine: ZeroGpu) -> Models:
    return Models((SMALL, LARGE), machine.load_another, wrap=machine.with_gpu_lease, alone=machine.needs_gpu_lease)


@pytest.mark.parametrize(
    ("name", "leases"),
    [
        (SMALL, False),
        (LARGE, True),
        (f"{LARGE} [8 bits]", False),
        (f"{LARGE} [16 bits]", True),
        ("attend-translate", False),
    ],
)
def test_only_larger_models_lease_the_gpu_and_none_in_8_bits(
    machine: ZeroGpu, devices: dict[str, str], name: str, leases: bool
) -> None:
    assert machine.needs_gpu_lease(name) is leases
    loaded = machine.load_another(name, silent)
    assert isinstance(loaded, LoadedModel) and isinstance(loaded.model, LeasedModel) is leases
    assert devices == {name: "cuda" if leases else "cpu"}


def test_a_device_from_the_command_line_is_used(spaces: Spaces, devices: dict[str, str]) -> None:
    machine = ZeroGpu(ModelArguments(LARGE, device="cpu"), spaces, 60)
    assert not isinstance(machine.load_first().model, LeasedModel)
    assert devices == {LARGE: "cpu"}


def test_the_embedded_model_runs_here_and_shares_its_passes(models: Models, spaces: Spaces, tiny: LoadedModel) -> None:
    steps = steps_of(models.decode(DecodeCall(SMALL, PROMPT, (SETTINGS,))))
    assert len(steps) == 6 and spaces.leases == []
    assert models.schedulers.of(models.get(SMALL).lock) is models.schedulers.of(tiny.lock)


def test_a_larger_model_writes_the_same_in_a_lease_as_long_as_it_may_take(models: Models, spaces: Spaces) -> None:
    here, there = (steps_of(models.decode(DecodeCall(name, PROMPT, (SETTINGS,)))) for name in (SMALL, LARGE))
    chosen = [
        [(each.tokens, each.choice.candidates) for step in steps for each in step.hypotheses] for steps in (here, there)
    ]
    assert chosen[0] == chosen[1] and len(chosen[0]) == 6
    assert spaces.leases == [11]  # ten seconds to begin, and a tenth for each token
    list(models.decode(DecodeCall(LARGE, PROMPT, (SETTINGS, replace(SETTINGS, max_new_tokens=40)))))
    assert spaces.leases == [11, 14]


def test_no_lease_is_longer_than_a_run_may_take(machine: ZeroGpu) -> None:
    assert machine.duration(DecodeCall(LARGE, PROMPT, (replace(SETTINGS, max_new_tokens=4096),))) == 70


def test_closing_a_run_releases_the_gpu(models: Models, spaces: Spaces) -> None:
    passes = models.decode(DecodeCall(LARGE, PROMPT, (SETTINGS,)))
    next(passes)
    passes.close()
    assert len(spaces.leases) == 1
    assert not multiprocessing.active_children()


def test_a_refusal_in_a_lease_is_the_same_sentence(models: Models) -> None:
    with pytest.raises(AttendError, match="The prompt has 500 tokens, but the model reads at most 128"):
        list(models.decode(DecodeCall(LARGE, (5,) * 500, (SETTINGS,))))


def test_inspecting_a_text_leases_the_gpu_for_one_pass(models: Models, spaces: Spaces) -> None:
    leased, local = models.get(LARGE), models.get(SMALL)
    (there, shape), (here, _) = (
        explain((1, 5, 9, 7), loaded.model, loaded.lock, candidates=3) for loaded in (leased, local)
    )
    assert [token.row for token in there] == [token.row for token in here] and shape == (2, 4)
    assert leased.model.logits((1, 5), (9,)).equal(local.model.logits((1, 5), (9,)))
    assert spaces.leases == [15, 15]


def test_outside_a_lease_no_pass_runs_on_emulated_cuda(models: Models) -> None:
    model = models.get(LARGE).model
    with pytest.raises(AttendError, match="shared GPU"):
        model.prefill(PROMPT, want=Want())
    with pytest.raises(AttendError, match="shared GPU"):
        model.step([1], None)


def test_cuda_is_emulated_in_the_thread_that_loads_a_larger_model(models: Models, spaces: Spaces) -> None:
    models.get(SMALL)
    assert spaces.emulated == 0
    models.get(LARGE)  # in a thread, where spaces does not do so by itself
    assert spaces.emulated == 1


def test_spaces_is_imported_first_and_on_zero_gpu_alone(
    spaces: Spaces, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "spaces", spaces)
    monkeypatch.delenv("SPACES_ZERO_GPU", raising=False)
    assert app.import_spaces() is None
    monkeypatch.setenv("SPACES_ZERO_GPU", "true")
    assert app.import_spaces() is spaces
    monkeypatch.delitem(sys.modules, "spaces")
    with pytest.raises(ModuleNotFoundError):  # before the flags are read
        app.main(["--no-such-flag"])
    assert os.environ["SPACES_ZERO_GPU"] == "true"
