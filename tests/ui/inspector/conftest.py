"""What the questions of "Why?" are asked about: an answer, and the visitor who has it."""

from __future__ import annotations

import pytest

from tests.ui.inspector.test_trace import SAMPLE, answered
from ui.runs.models import Models
from ui.runs.run import RunRecord
from ui.runs.session import Session

TOKEN = 4  # of an answer


@pytest.fixture
def session() -> Session:
    return Session()


@pytest.fixture
def run(models: Models, session: Session) -> RunRecord:
    return answered(models, "How are you today?", SAMPLE, session)


@pytest.fixture
def before(run: RunRecord) -> tuple[int, ...]:
    return run.ids[: run.first + TOKEN]
