"""How the page's events are registered."""

from __future__ import annotations

from ui.page.layout import build
from ui.runs.models import Models


def test_events_with_data_are_never_merged(models: Models) -> None:
    functions = build(models).fns.values()
    repeated = [function for function in functions if function.trigger_mode == "always_last"]
    assert repeated
    assert not [function.name for function in repeated if function.collects_event_data]
