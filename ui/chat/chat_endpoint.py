"""`/chat`: streams an answer to a program. All input is untrusted until it has been checked."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from decoding.settings import DecodingSettings
from ui.kit.validation import checked_message, checked_system
from ui.runs.answer_text import AnswerText
from ui.runs.generation import stream_for_program
from ui.runs.models import Models
from ui.runs.prompts import chat_prompt, chat_settings, checked_history
from ui.runs.traces import new_trace
from ui.runs.versions.conversation import Turn
from ui.settings.without import plain_settings, without_of


def chat_endpoint(models: Models) -> Callable[..., Iterator[dict[str, Any]]]:
    """The function behind `/chat`."""

    def chat(
        message: str,
        history: list[dict[str, str]] | None = None,
        model: str = models.default,
        settings: dict[str, Any] | None = None,
        system: str = "",
    ) -> Iterator[dict[str, Any]]:
        """Answer a message.

        Args:
            message: what the user says.
            history: the conversation so far, oldest first: [{"role": "user" or "assistant", "content": text}, …].
            model: the name of a model of this page; a translator's with its languages, as in "name [fr->en]".
            settings: fields of DecodingSettings by name; what is missing keeps its default. "without", such as "6.5",
                switches off parts of the model, counted from 1.
            system: the system prompt before the conversation, of a model that takes one.

        Returns:
            Whenever there is more, {"text": the answer so far, "tokens": the new ones, [{"id", "text"}, …],
            "finish_reason": null}; a search may still change what it gave. The last item has a finish_reason and, as
            "trace", the run as an attend.trace/2 document.
        """
        loaded = models.get(model)
        chosen = chat_settings(loaded, DecodingSettings.from_dict(plain_settings(settings)).seeded())
        turns = [*checked_history(history or []), Turn("user", checked_message(message))]
        prompt, messages = chat_prompt(loaded, turns, chosen, checked_system(system))
        off = without_of(settings)
        trace = new_trace(loaded, prompt.ids, chosen, text=turns[-1].text, messages=messages, interventions=off)
        written, sent = AnswerText(loaded.tokenizer, chosen.stop_texts, begins=loaded.starts_new_text), 0

        def since_the_last(ids: tuple[int, ...]) -> list[dict[str, Any]]:
            return [{"id": token, "text": loaded.tokenizer.label(token)} for token in ids[sent:]]

        for _ in stream_for_program(models, trace):
            best = trace.best
            if best is not None and not trace.steps[-1].finished:
                written.update(best.tokens)
                tokens = since_the_last(best.tokens)
                yield {"text": written.text(finished=False), "tokens": tokens, "finish_reason": None}
                sent = len(best.tokens)
        yield {
            "text": trace.text,
            "tokens": since_the_last(trace.ids),
            "finish_reason": trace.finish_reason,
            "trace": trace.document(),
        }

    return chat
