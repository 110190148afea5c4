"""Our trained model, which the programs that call a page talk to."""

from __future__ import annotations

import pytest

from model import catalog
from model.arguments import DEFAULT
from model.loaded import LoadedModel


@pytest.fixture(scope="session")
def chat() -> LoadedModel:
    return catalog.load(DEFAULT)
