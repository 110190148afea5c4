"""`/generate`: continues a text for a program. All input is untrusted until it has been checked."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from decoding.settings import DecodingSettings
from ui.kit.validation import checked_start
from ui.runs.generation import run_for_program
from ui.runs.models import Models
from ui.runs.traces import new_trace
from ui.settings.without import plain_settings, without_of


def generate_endpoint(models: Models) -> Callable[..., dict[str, Any]]:
    """The function behind `/generate`."""

    def generate(prompt: str, model: str = models.default, settings: dict[str, Any] | None = None) -> dict[str, Any]:
        """Continue a text.

        Args:
            prompt: the text, taken as it is.
            model: the name of a model of this page; a translator's with its languages, as in "name [fr->en]".
            settings: fields of DecodingSettings by name; what is missing keeps its default. "without", such as "6.5",
                switches off parts of the model, counted from 1.

        Returns:
            The run as an attend.trace/2 document.
        """
        loaded = models.get(model)
        chosen = DecodingSettings.from_dict(plain_settings(settings)).seeded()
        text = checked_start(prompt, "The prompt")
        trace = new_trace(loaded, loaded.prompt(text), chosen, text=text, interventions=without_of(settings))
        run_for_program(models, trace)
        return dict(trace.document())

    return generate
