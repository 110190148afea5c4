"""The models in memory, and those being loaded.

A model stays in memory as long as something refers to it: a visitor's session, a run, an endpoint's call. Nothing needs
to count its users, so no error can leave a model behind. Each load has its own thread; everyone who asks for the same
model waits for the same load, which is cancelled when the last of them leaves.
"""

from __future__ import annotations

import gc
import threading
import time
import weakref
from collections.abc import Callable, Generator
from dataclasses import dataclass, replace
from typing import NoReturn

import torch

from model.device import release_freed_memory
from model.encoder import Encoder
from model.errors import AttendError
from model.loaded import LoadedModel
from model.names import display_name
from model.progress import Progress

AnyModel = LoadedModel | Encoder
Load = Callable[[str, Progress], AnyModel]

_ENCODERS = 4  # names remembered
_PATIENCE = 900.0  # seconds; large weights on a slow disk take minutes
_GIVEN_BACK_AFTER = 0.5  # seconds; a model's parts are freed after the object that is watched


@dataclass(frozen=True, slots=True)
class LoadProgress:
    """The progress of loading a model."""

    done: int = 0  # bytes downloaded
    total: int = 0  # 0 where nothing is downloaded


class _Unwanted(Exception):
    """Cancels a load that nobody is waiting for."""


class _Job:
    """One load, in a thread."""

    def __init__(self, name: str, load: Load) -> None:
        self.waiting = 0  # callers
        self.arriving = LoadProgress()
        self.moved = time.monotonic()  # when it last got anywhere
        self.ended = threading.Event()
        self.unwanted = threading.Event()
        self.loaded: AnyModel | None = None
        self.error: Exception | None = None
        threading.Thread(target=self._work, args=(name, load), name="attend-loading", daemon=True).start()

    def _work(self, name: str, load: Load) -> None:
        try:
            loaded = load(name, self._progress)
            if isinstance(loaded, LoadedModel) and loaded.name != name:
                loaded = replace(loaded, name=name)
            self.loaded = loaded
        except BaseException as error:  # raised in the waiting threads; a library's panic is no Exception
            self.error = error if isinstance(error, Exception) else RuntimeError(repr(error))
        finally:
            self.ended.set()

    def _progress(self, done: int, total: int) -> None:
        if self.unwanted.is_set():
            raise _Unwanted
        self.arriving, self.moved = LoadProgress(done, total), time.monotonic()


class ModelCache:
    """The models in memory, by the names under which they were requested."""

    def __init__(self, load: Load, *, patience: float = _PATIENCE) -> None:
        """
        Args:
            patience: seconds without progress after which a load is given up.
        """
        self._load = load
        self._patience = patience
        self._models: weakref.WeakValueDictionary[str, AnyModel] = weakref.WeakValueDictionary()
        self._jobs: dict[str, _Job] = {}
        self._encoders: tuple[str, ...] = ()  # the last ones used, the newest last
        self._lock = threading.Lock()  # never held while anything is loaded

    def cached(self, name: str) -> AnyModel | None:
        """The model, if it is in memory."""
        return self._models.get(name)

    def names(self) -> tuple[str, ...]:
        """The names of all models in memory."""
        return tuple(self._models)

    def encoders(self) -> tuple[str, ...]:
        """The names of the last encoders used, the newest last, whether or not they are still in memory."""
        return self._encoders

    def load(self, name: str, *, heartbeat: float = 0.25) -> Generator[LoadProgress, None, AnyModel]:
        """Return the model; until it is loaded, yield the progress every `heartbeat` seconds. Closing the generator
        ends the waiting."""
        with self._lock:
            cached = self._models.get(name)
            if cached is not None:
                self._note_use(name, cached)
                return cached
            job = self._jobs.get(name)
            if job is None:
                job = self._jobs[name] = _Job(name, self._load)
            job.waiting += 1
        try:
            while not job.ended.wait(heartbeat):
                if time.monotonic() - job.moved > self._patience:
                    self._give_up(name, job)
                yield job.arriving
            return self._taken(name, job)
        finally:
            with self._lock:
                job.waiting -= 1
                if not job.waiting:
                    job.unwanted.set()
                    if self._jobs.get(name) is job:
                        del self._jobs[name]

    def _give_up(self, name: str, job: _Job) -> NoReturn:
        """Leave a load that hangs to itself, so that the next one of this name begins anew."""
        with self._lock:
            if self._jobs.get(name) is job:
                del self._jobs[name]
        raise AttendError(
            f"{display_name(name)} got nowhere for {self._patience:,.0f} seconds while it loaded, so it was given up: "
            "check its files, or choose another model."
        )

    def _taken(self, name: str, job: _Job) -> AnyModel:
        """The result of a load that ended; the first caller puts it into the cache."""
        if job.loaded is None:
            assert job.error is not None
            raise job.error
        with self._lock:
            if self._models.get(name) is None:
                self._models[name] = job.loaded
                weakref.finalize(job.loaded, _give_back_soon).atexit = False
            self._note_use(name, job.loaded)
            return job.loaded

    def _note_use(self, name: str, model: AnyModel) -> None:
        if not isinstance(model, LoadedModel):
            self._encoders = (*(each for each in self._encoders if each != name), name)[-_ENCODERS:]


def when_loaded(loading: Generator[LoadProgress, None, AnyModel]) -> AnyModel:
    """The model that `ModelCache.load` returns, without its progress."""
    while True:
        try:
            next(loading)
        except StopIteration as ended:
            return ended.value


def _give_back_soon() -> None:
    """Free the memory: the model may be part of a reference cycle, and allocators keep what was freed."""
    timer = threading.Timer(_GIVEN_BACK_AFTER, _give_back)
    timer.daemon = True
    timer.start()


def _give_back() -> None:
    gc.collect()
    if torch.cuda.is_available():
        torch.cuda.empty_cache()
    release_freed_memory()
