"""The models that come with Attend, for programs."""

from __future__ import annotations

import pytest

import attend


@pytest.fixture(scope="module")
def chat() -> attend.Model:
    return attend.load("attend-chat")


@pytest.fixture(scope="module")
def translator() -> attend.Model:
    return attend.load("attend-translate")
