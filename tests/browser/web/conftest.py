"""The model in Python, with the weights that the browser has."""

import pytest

import attend
from model import names
from web.weights import save_rounded


@pytest.fixture(scope="session")
def rounded_chat(tmp_path_factory: pytest.TempPathFactory) -> attend.Model:
    folder = tmp_path_factory.mktemp("rounded") / "attend-chat"
    save_rounded(names.EMBEDDED / "attend-chat", folder)
    return attend.load(str(folder))
