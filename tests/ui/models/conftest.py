"""A page whose models load slowly, and its visitors."""

from __future__ import annotations

import threading
from collections.abc import Generator
from pathlib import Path
from typing import TypeVar

import pytest

from decoding.settings import DecodingSettings
from model import catalog
from model.errors import AttendError
from model.loaded import LoadedModel
from model.progress import Progress
from ui.models import select as choosing
from ui.models.models_contract import ModelValue
from ui.models.select import PickerUpdate
from ui.runs.models import Models
from ui.runs.models.model_cache import LoadProgress
from ui.runs.session import Session

T = TypeVar("T")


SAMPLE = DecodingSettings(seed=5, max_new_tokens=8)


class Slow:
    """Loads a folder's model under any name, once it is let; records which names were requested."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.requested: list[str] = []
        self.ended: list[str] = []  # loads that were broken off
        self.reports = 0  # of progress, each of which may break a load off
        self.go = threading.Event()

    def __call__(self, name: str, progress: Progress) -> LoadedModel:
        self.requested.append(name)
        if name == "broken":
            raise AttendError("The weights of broken are cut short: copy them again.")
        if name != "first":
            try:
                for done in range(10**6):
                    progress(min(done, 99), 100)
                    self.reports += 1
                    if self.go.wait(0.01):
                        break
            except Exception:
                self.ended.append(name)
                raise
        return catalog.load(str(self.folder))


@pytest.fixture
def slow(tiny_checkpoint: Path) -> Slow:
    return Slow(tiny_checkpoint)


@pytest.fixture
def page(slow: Slow) -> Models:
    return Models(["first", "second", "third", "broken"], slow)


def result(loading: Generator[LoadProgress, None, T]) -> T:
    while True:
        try:
            next(loading)
        except StopIteration as ended:
            return ended.value


def visitor(page: Models) -> Session:
    session = Session.using(page.default)
    page.current(session)
    return session


def model_value(update: PickerUpdate) -> ModelValue:
    assert update.model is not None
    return update.model


def there(update: PickerUpdate) -> dict[str, str]:
    """What the list says of whether each model is here."""
    return {choice["name"]: choice["availability"] for choice in model_value(update)["choices"]}


def use(session: Session, page: Models, slow: Slow, name: str) -> None:
    slow.go.set()
    list(choosing.choose(session, page, name))
    assert session.model.name == name
