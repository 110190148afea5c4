"""The browser's fixtures, for these tests alone: gradio and Playwright take seconds to load."""

import pytest

from tests.helpers.browsing import (
    browser,
    embedded_url,
    held,
    opened,
    returning,
    second_visitor,
    served_held,
    shared_page,
    small_screen,
    tab,
    two_kinds_url,
    url,
    visit,
)
from tests.helpers.stage import forgetful, fresh, narrow, phone, served, shared, stage

__all__ = [
    "browser",
    "embedded_url",
    "forgetful",
    "fresh",
    "held",
    "narrow",
    "opened",
    "phone",
    "returning",
    "second_visitor",
    "served",
    "served_held",
    "shared",
    "shared_page",
    "small_screen",
    "stage",
    "tab",
    "two_kinds_url",
    "url",
    "visit",
]


@pytest.fixture(autouse=True)
def same_seeds(counted_seeds: None) -> None:
    """What the pages of these tests leave to chance is the same every time."""
