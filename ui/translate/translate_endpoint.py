"""`/translate`: translates a text for a program. All input is untrusted until it has been checked."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from decoding.settings import DecodingSettings, for_translator
from ui.kit.validation import checked_start, checked_switch
from ui.runs.generation import run_for_program
from ui.runs.models import Models
from ui.runs.prompts import chat_prompt, chat_settings, check_translator
from ui.runs.traces import new_trace
from ui.runs.versions.conversation import Turn
from ui.settings.without import plain_settings, without_of


def translate_endpoint(models: Models) -> Callable[..., dict[str, Any]]:
    """The function behind `/translate`."""

    default = models.for_task("translation") or models.default

    def translate(
        text: str, model: str = default, settings: dict[str, Any] | None = None, trace: bool = False
    ) -> dict[str, Any]:
        """Translate a text, with a model that is an encoder with a decoder.

        Args:
            text: what the encoder reads.
            model: the name of a model of this page; a translator's with its languages, as in "name [fr->en]".
            settings: fields of DecodingSettings by name; what is missing keeps its default, but that the strategy is
                beam search where neither one is named nor a setting of sampling. "without", such as "2.1", switches off
                parts of the model, counted from 1.
            trace: whether the run comes with the text, as an attend.trace/2 document.

        Returns:
            {"text": the translation, "finish_reason", and with trace "trace"}
        """
        loaded = models.get(model)
        off, plain = without_of(settings), plain_settings(settings)
        named = for_translator(plain) if isinstance(plain, Mapping) else plain
        chosen = chat_settings(loaded, DecodingSettings.from_dict(named).seeded())
        turn = Turn("user", checked_start(text, "The text to translate"))
        check_translator(loaded)
        with_trace = checked_switch(trace, "trace")
        prompt, messages = chat_prompt(loaded, [turn], chosen)
        run = new_trace(loaded, prompt.ids, chosen, text=turn.text, messages=messages, interventions=off)
        run_for_program(models, run)
        result = {"text": run.text.strip(), "finish_reason": run.finish_reason}
        return {**result, "trace": run.document()} if with_trace else result

    return translate
