"""Which models are in memory, and those that are on their way there.

A model stays for as long as somebody uses it, and that is whoever holds the object: a visitor's session, a run, an
endpoint's call. So nobody needs to count, and nothing that ends badly can leave a model behind. Each load has a thread
of its own; all who ask for the same model wait for the same load, and once the last of them has left, it ends.
"""

from __future__ import annotations

import ctypes
import gc
import threading
import weakref
from collections import deque
from collections.abc import Callable, Generator
from contextlib import suppress
from dataclasses import dataclass, replace

import torch

from model.encoder import Encoder
from model.loaded import LoadedModel
from model.progress import Progress

AnyModel = LoadedModel | Encoder
Load = Callable[[str, Progress], AnyModel]

_ENCODERS = 4  # whose names are remembered
_GIVEN_BACK_AFTER = 0.5  # seconds; a model's own parts go after the object that is watched


@dataclass(frozen=True, slots=True)
class LoadProgress:
    """How far a load has come."""

    done: int = 0  # bytes of the download that are here
    total: int = 0  # 0 where nothing has to come


class _Unwanted(Exception):
    """Ends a download that nobody waits for any more."""


class _Job:
    """One load, in a thread."""

    def __init__(self, name: str, load: Load) -> None:
        self.waiting = 0  # how many wait for it
        self.arriving = LoadProgress()
        self.ended = threading.Event()
        self.unwanted = threading.Event()
        self.loaded: AnyModel | None = None
        self.error: BaseException | None = None
        threading.Thread(target=self._work, args=(name, load), name="attend-loading", daemon=True).start()

    def _work(self, name: str, load: Load) -> None:
        try:
            loaded = load(name, self._progress)
            if isinstance(loaded, LoadedModel) and loaded.name != name:
                loaded = replace(loaded, name=name)
            self.loaded = loaded
        except BaseException as error:  # carried over to those who wait, who raise it
            self.error = error
        finally:
            self.ended.set()

    def _progress(self, done: int, total: int) -> None:
        if self.unwanted.is_set():
            raise _Unwanted
        self.arriving = LoadProgress(done, total)


class ModelCache:
    """The models in memory, by the names under which they were asked for."""

    def __init__(self, load: Load) -> None:
        self._load = load
        self._models: weakref.WeakValueDictionary[str, AnyModel] = weakref.WeakValueDictionary()
        self._jobs: dict[str, _Job] = {}
        self._encoders: deque[str] = deque(maxlen=_ENCODERS)  # that were taken last
        self._lock = threading.Lock()  # never held while anything is loaded

    def cached(self, name: str) -> AnyModel | None:
        """The model, if somebody uses it."""
        return self._models.get(name)

    def names(self) -> tuple[str, ...]:
        """Of all that somebody uses."""
        return tuple(self._models)

    def encoders(self) -> tuple[str, ...]:
        """Of the last encoders that somebody looked into, though they may have gone."""
        return tuple(self._encoders)

    def load(self, name: str, *, heartbeat: float = 0.25) -> Generator[LoadProgress, None, AnyModel]:
        """The model, which its caller then uses. Until it is there, tells every `heartbeat` seconds how far it is;
        whoever closes this waits no longer."""
        with self._lock:
            cached = self._models.get(name)
            if cached is not None:
                return cached
            job = self._jobs.get(name)
            if job is None:
                job = self._jobs[name] = _Job(name, self._load)
            job.waiting += 1
        try:
            while not job.ended.wait(heartbeat):
                yield job.arriving
            return self._taken(name, job)
        finally:
            with self._lock:
                job.waiting -= 1
                if not job.waiting:
                    job.unwanted.set()
                    if self._jobs.get(name) is job:
                        del self._jobs[name]

    def _taken(self, name: str, job: _Job) -> AnyModel:
        """What has come of a load that ended; the first to take it puts it into the cache."""
        if job.loaded is None:
            assert job.error is not None
            raise job.error
        with self._lock:
            if self._models.get(name) is None:
                self._models[name] = job.loaded
                if not isinstance(job.loaded, LoadedModel) and name not in self._encoders:
                    self._encoders.append(name)
                weakref.finalize(job.loaded, _give_back_soon).atexit = False
            return job.loaded


def _give_back_soon() -> None:
    """What held the model together may be a ring of objects, and the allocators keep what they have."""
    timer = threading.Timer(_GIVEN_BACK_AFTER, _give_back)
    timer.daemon = True
    timer.start()


def _give_back() -> None:
    gc.collect()
    if torch.cuda.is_available():
        torch.cuda.empty_cache()
    with suppress(OSError, AttributeError):  # only where the C library is GNU's
        ctypes.CDLL(None).malloc_trim(0)
