"""The inspector's value of a run agrees with itself while another thread lengthens the run."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields
from typing import Any

from model.loaded import LoadedModel
from tests.ui.inspector.test_trace import SAMPLE, answered
from ui.inspector.inspector_value import inspector_value
from ui.runs.models import Models
from ui.runs.run import RunRecord, TokenRecord


class GrowingRun(RunRecord):
    """A run that has one more token each time its tokens are read."""

    def grow_by(self, tokens: Iterator[TokenRecord]) -> None:
        self.coming = tokens

    def __getattribute__(self, name: str) -> Any:
        value = super().__getattribute__(name)
        if name == "tokens" and (token := next(getattr(self, "coming", iter(())), None)):
            self.tokens = [*value, token]
        return value


def test_a_run_that_grows_meanwhile_is_shown_as_it_was(models: Models, tiny: LoadedModel) -> None:
    run = answered(models, "How are you?", SAMPLE)
    values = {field.name: getattr(run, field.name) for field in fields(RunRecord)}
    growing = GrowingRun(**{**values, "tokens": run.tokens[: run.first + 3]})
    growing.grow_by(iter(run.tokens[run.first + 3 :]))
    value = inspector_value(growing, tiny.tokenizer, busy=True)
    explained = len(value["ids"]) - value["first"]
    assert value["first"] == run.first and len(value["steps"]) == len(value["rows"]) == explained
    assert value["rows_from"] == value["first"] - 1


def test_a_complete_value_has_the_settings_that_chose_its_tokens(models: Models, tiny: LoadedModel) -> None:
    run = answered(models, "How are you?", SAMPLE)
    value = inspector_value(run, tiny.tokenizer, busy=False)
    assert value.get("settings") == run.require_trace().settings.to_dict() and value.get("settings_from") == run.first
    assert "settings" not in inspector_value(run, tiny.tokenizer, busy=False, since=run.first)
