"""The endpoints for programs: `/chat` streams an answer, `/generate` continues a text, `/compare` does so under cards,
`/translate` gives a text to a translator.

Everything that arrives is hostile until it has been checked here or by the functions that check the page's own input.
Errors come back as the same plain sentences. The programs' types are those of JSON; all give runs as documents.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from typing import Any

from gradio.events import api

from decoding.settings import DecodingSettings, for_translator
from decoding.trace import Trace
from model.errors import AttendError
from model.loaded import LoadedModel
from ui import compare as side_by_side
from ui import figures
from ui.chat import chat_prompt, chat_settings
from ui.checks import checked_message, checked_start, checked_switch, checked_system, checked_text
from ui.errors import for_programs
from ui.models import Models
from ui.session import Turn
from ui.spoken import Spoken
from ui.stream import stream
from ui.translate import check_translator

MOST_MESSAGES = 200  # of a history
_RUNS = 4  # at the same time


def register(models: Models) -> None:
    """Add the endpoints to the page that is being built."""

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
            settings: fields of DecodingSettings by name; what is missing keeps its default.
            system: the system prompt before the conversation, of a model that takes one.

        Returns:
            One item a token: {"text": the answer so far, "token": {"id", "text"}, "finish_reason": null}; the last has
            a finish_reason and, as "trace", the run as an attend.trace/1 document.
        """
        with for_programs():
            yield from chat_items(models, message, history or [], model, settings or {}, system)

    def generate(prompt: str, model: str = models.default, settings: dict[str, Any] | None = None) -> dict[str, Any]:
        """Continue a text.

        Args:
            prompt: the text, taken as it is.
            model: the name of a model of this page; a translator's with its languages, as in "name [fr->en]".
            settings: fields of DecodingSettings by name; what is missing keeps its default.

        Returns:
            The run as an attend.trace/1 document.
        """
        with for_programs():
            return continuation(models, prompt, model, settings or {})

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
            settings: 2 to 6 objects with fields of DecodingSettings by name; what is missing keeps its default.
            common_draws: whether all share one stream of random numbers; otherwise the seeds count on from the first.
            chat: whether the text is a message to answer instead.
            history: the conversation before such a message, as `/chat` takes it.
            system: the system prompt before that, likewise.

        Returns:
            The comparison as an attend.compare/1 document, with each run as an attend.trace/1 document.
        """
        with for_programs():
            return comparison(models, prompt, model, settings or [], common_draws, chat, history or [], system)

    def translate(
        text: str, model: str = models.default, settings: dict[str, Any] | None = None, trace: bool = False
    ) -> dict[str, Any]:
        """Translate a text, with a model that is an encoder with a decoder.

        Args:
            text: what the encoder reads.
            model: the name of a model of this page; a translator's with its languages, as in "name [fr->en]".
            settings: fields of DecodingSettings by name; what is missing keeps its default, but that the strategy is
                beam search where neither one is named nor a setting of sampling.
            trace: whether the run comes with the text, as an attend.trace/1 document.

        Returns:
            {"text": the translation, "finish_reason", and with trace "trace"}
        """
        with for_programs():
            return translated(models, text, model, settings or {}, trace)

    api(chat, api_name="chat", concurrency_limit=_RUNS, concurrency_id="programs")
    api(generate, api_name="generate", concurrency_limit=_RUNS, concurrency_id="programs")
    api(compare, api_name="compare", concurrency_limit=_RUNS, concurrency_id="programs")
    api(translate, api_name="translate", concurrency_limit=_RUNS, concurrency_id="programs")


def chat_items(
    models: Models, message: object, history: object, model: object, settings: object, system: object = ""
) -> Iterator[dict[str, Any]]:
    """What `/chat` streams."""
    loaded = models.get(model)
    chosen = DecodingSettings.from_dict(settings).seeded()
    chosen = chat_settings(loaded, chosen)
    turns = [*checked_history(history), Turn("user", checked_message(message))]
    prompt, messages = chat_prompt(loaded, turns, chosen, checked_system(system))
    trace = Models.trace(loaded, turns[-1].text, Models.request(loaded, prompt.ids), chosen, messages)
    spoken = Spoken(loaded.tokenizer, chosen.stop_texts, begins=loaded.begins_anew)
    for _ in _steps(models, loaded, trace):
        best = trace.best
        if best is not None:
            token = best.tokens[-1]
            spoken.tell(best.tokens)
            item = {
                "text": spoken.text(finished=False),
                "token": {"id": token, "text": loaded.tokenizer.label(token)},
                "finish_reason": None,
            }
            if trace.steps[-1].finished:
                break
            yield item
    yield {
        "text": trace.text,
        "token": {"id": trace.ids[-1], "text": loaded.tokenizer.label(trace.ids[-1])} if trace.ids else None,
        "finish_reason": trace.finish_reason,
        "trace": trace.document(),
    }


def continuation(models: Models, prompt: object, model: object, settings: object) -> dict[str, Any]:
    """What `/generate` returns."""
    loaded = models.get(model)
    chosen = DecodingSettings.from_dict(settings).seeded()
    text = checked_start(prompt, "The prompt")
    trace = Models.trace(loaded, text, Models.request(loaded, loaded.prompt(text)), chosen)
    for _ in _steps(models, loaded, trace):
        pass
    return trace.document()


def translated(models: Models, text: object, model: object, settings: object, trace: object) -> dict[str, Any]:
    """What `/translate` returns."""
    loaded = models.get(model)
    if isinstance(settings, Mapping):
        settings = for_translator(settings)
    chosen = chat_settings(loaded, DecodingSettings.from_dict(settings).seeded())
    turn = Turn("user", checked_start(text, "The text to translate"))
    check_translator(loaded)
    with_trace = checked_switch(trace, "trace")
    prompt, messages = chat_prompt(loaded, [turn], chosen)
    run = Models.trace(loaded, turn.text, Models.request(loaded, prompt.ids), chosen, messages)
    for _ in _steps(models, loaded, run):
        pass
    told = {"text": run.text.strip(), "finish_reason": run.finish_reason}
    return {**told, "trace": run.document()} if with_trace else told


def comparison(
    models: Models,
    prompt: object,
    model: object,
    settings: object,
    common_draws: object,
    chat: object,
    history: object,
    system: object = "",
) -> dict[str, Any]:
    """What `/compare` returns."""
    loaded = models.get(model)
    cards = side_by_side.checked_cards(settings)
    turns, instruction = checked_history(history), checked_system(system)
    if checked_switch(chat, "chat"):
        asked = side_by_side.said(loaded, [*turns, Turn("user", checked_message(prompt))], cards, instruction)
    elif turns or instruction:
        what = "A history" if turns else "A system prompt"
        raise AttendError(f"{what} stands before a message, not before a text to continue: set chat to true as well.")
    else:
        asked = side_by_side.written(loaded, prompt)
    compared = side_by_side.prepare(loaded, asked, cards, common_draws=checked_switch(common_draws, "common_draws"))
    for _ in side_by_side.run_cards(compared, models, stop=threading.Event(), attention=False):
        pass
    return figures.document(compared)


def checked_history(history: object) -> list[Turn]:
    """A conversation that somebody sent, or `AttendError` for anything that is not one."""
    if not isinstance(history, list):
        raise AttendError('The history must be a list of {"role": …, "content": …}: send [] for none.')
    if len(history) > MOST_MESSAGES:
        raise AttendError(f"The history has {len(history):,} messages: send the newest {MOST_MESSAGES} or fewer.")
    turns = []
    for place, entry in enumerate(history, start=1):
        role = entry.get("role") if isinstance(entry, dict) else None
        content = entry.get("content") if isinstance(entry, dict) else None
        if role not in ("user", "assistant") or not isinstance(content, str):
            raise AttendError(
                f'Message {place} of the history must be {{"role": "user" or "assistant", "content": text}}: mend it.'
            )
        turns.append(Turn(role, checked_text(content, f"Message {place} of the history")))
    return turns


def _steps(models: Models, loaded: LoadedModel, trace: Trace) -> Iterator[None]:
    """Decode into the trace, in turns with the page's visitors; one item a step, and one at every sign of life."""
    steps = models.decode(loaded.name, trace.request.given, trace.settings, 0)
    stop = threading.Event()
    for batch in stream(steps, lock=loaded.lock, stop=stop, time_limit=models.time_limit, per_second=1000.0):
        for step in batch.steps:
            trace.add(step)
            yield
        if not batch.steps and not trace.steps:
            yield
