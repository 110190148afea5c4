"""`/compare`: one text under several settings, for a program. All input is untrusted until it has been checked."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from model.errors import AttendError
from ui.compare.results.metrics import document
from ui.compare.running import checked_cards, checked_without, message_prompt, prepare, run_cards, text_prompt
from ui.kit.validation import checked_message, checked_switch, checked_system
from ui.runs.generation import CALLER
from ui.runs.models import Models
from ui.runs.prompts import checked_history
from ui.runs.versions.conversation import Turn


def compare_endpoint(models: Models) -> Callable[..., dict[str, Any]]:
    """The function behind `/compare`."""

    def compare(
        prompt: str,
        model: str = models.default,
        settings: list[dict[str, Any]] | None = None,
        common_draws: bool = True,
        chat: bool = False,
        history: list[dict[str, str]] | None = None,
        system: str = "",
    ) -> dict[str, Any]:
        """Continue one text under several settings, side by side in one batch.

        Args:
            prompt: the text, taken as it is.
            model: the name of a model of this page; a translator's with its languages, as in "name [fr->en]".
            settings: 2 to 6 objects with fields of DecodingSettings by name; what is missing keeps its default. A
                card may also have "without", such as "6.5": the parts of the model to switch off, counted from 1.
            common_draws: whether all share one stream of random numbers; otherwise the seeds count on from the first.
            chat: whether the text is a message to answer instead.
            history: the conversation before such a message, as `/chat` takes it.
            system: the system prompt before that, likewise.

        Returns:
            The comparison as an attend.compare/1 document, with each run as an attend.trace/2 document.
        """
        loaded = models.get(model)
        cards = checked_cards(settings or [])
        without = checked_without(settings or [])
        turns, instruction = checked_history(history or []), checked_system(system)
        if checked_switch(chat, "chat"):
            whole_prompt = message_prompt(loaded, [*turns, Turn("user", checked_message(prompt))], cards, instruction)
        elif turns or instruction:
            subject = "A history" if turns else "A system prompt"
            raise AttendError(f"{subject} needs a message to answer, not a text to continue: set chat to true as well.")
        else:
            whole_prompt = text_prompt(loaded, prompt)
        common = checked_switch(common_draws, "common_draws")
        compared = prepare(loaded, whole_prompt, cards, without=without, common_draws=common)
        for _ in run_cards(compared, models, stop=threading.Event(), attention=False, visitor=CALLER.get()):
            pass
        return document(compared)

    return compare
