"""The models in Python, with the weights that the browser has."""

import pytest

import attend
from model import names
from web.weights import save_rounded


def rounded(name: str, factory: pytest.TempPathFactory) -> attend.Model:
    folder = factory.mktemp("rounded") / name
    save_rounded(names.EMBEDDED / name, folder)
    return attend.load(str(folder))


@pytest.fixture(scope="session")
def rounded_chat(tmp_path_factory: pytest.TempPathFactory) -> attend.Model:
    return rounded("attend-chat", tmp_path_factory)


@pytest.fixture(scope="session")
def rounded_translator(tmp_path_factory: pytest.TempPathFactory) -> attend.Model:
    return rounded("attend-translate", tmp_path_factory)
