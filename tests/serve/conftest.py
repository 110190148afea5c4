"""A Ray cluster of two nodes on this machine, for the tests that need one; without Ray they are skipped."""

from __future__ import annotations

import os
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest

from model import catalog
from model.loaded import LoadedModel
from tests.conftest import make_checkpoint

LONG = 4000  # tokens that take the tiny model some seconds


@pytest.fixture(scope="session")
def long_checkpoint(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tiny model whose texts can be so long that they are still being generated when a test interferes."""
    return make_checkpoint(tmp_path_factory.mktemp("cluster") / "tiny-long", context_length=LONG + 96)


@pytest.fixture(scope="session")
def long_model(long_checkpoint: Path) -> LoadedModel:
    return catalog.load(str(long_checkpoint))


@pytest.fixture(scope="session")
def cluster() -> Iterator[str]:
    """The address of the cluster, to which this process is connected."""
    if find_spec("ray") is None:
        pytest.skip("Ray is not installed: make test-cluster brings it")
    if os.environ.get("PYTEST_XDIST_WORKER"):
        pytest.skip("a cluster is too much beside other tests: make test-cluster runs it")
    from serve.local_nodes import local_nodes

    with local_nodes() as address:
        from serve.deploy import connected

        with connected(address):
            yield address
