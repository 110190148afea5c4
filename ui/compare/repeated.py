"""A text of any tab on two cards: as it was, and with parts of the model switched off. Knows nothing of gradio."""

from __future__ import annotations

from dataclasses import replace

from model.errors import AttendError
from model.loaded import LoadedModel
from ui.compare.comparison_value import FROM_PANEL, card_settings, form_settings
from ui.compare.running import prepare
from ui.inspector.why.question import Question
from ui.runs.comparison import Comparison, Prompt
from ui.runs.session import Session
from ui.settings.without import can_be_named, typed_without


def repeated_comparison(question: Question, identifier: str) -> Comparison:
    """The cards, ready to run, with exactly the prompt of the text and the random numbers that it drew.

    Args:
        question: which run it is, and what is changed inside the model.
        identifier: what the runs of the cards are called, with the card's number behind it.
    """
    run, changes = question.run(), question.changes()
    trace, before = run.require_trace(), run.interventions
    if not can_be_named(before):
        raise AttendError("This text was written with changes that cards don't have: they only switch off and scale.")
    loaded, request, messages = question.models.require_loaded(run.model), trace.request, tuple(trace.messages)
    prompt = Prompt(trace.prompt, request.input_ids, messages, run.dropped, request.options.draws_used)
    without = [before, (*before, *changes)]
    comparison = prepare(loaded, prompt, [trace.settings] * 2, without=without, identifier=identifier)
    comparison.repeats = True
    comparison.history = sum(message["role"] == "user" for message in messages) > 1
    added = loaded.chat.stop_texts if messages and loaded.chat else ()  # by the chat format, which adds them again
    own = replace(trace.settings, stop_texts=tuple(text for text in trace.settings.stop_texts if text not in added))
    for card in comparison.cards:
        card.form = card_settings(own) | form_settings(own, FROM_PANEL) | typed_without(card.run.interventions)
    return comparison


def repeated_prompt(session: Session, loaded: LoadedModel, typed: tuple[object, bool, bool, str]) -> Prompt | None:
    """The prompt that was taken from a text, if it is in view and the visitor hasn't changed it.

    The conversation before a message may have gone on since, so it isn't read again.

    Args:
        loaded: the visitor's model.
        typed: the text, whether it is a message, whether the conversation stands before it, and its system prompt.
    """
    comparison = session.comparison
    if comparison is None or not comparison.repeats or comparison.model != loaded.name:
        return None
    prompt = comparison.prompt
    system = next((message["content"] for message in prompt.messages if message["role"] == "system"), "")
    if typed != (prompt.text, bool(prompt.messages), comparison.history, system):
        return None
    # A document may be of other weights, or from anyone; only its runs say how many random numbers were taken before.
    if any(token >= loaded.model.vocabulary_size for token in prompt.ids):
        return None
    trace = next((card.run.trace for card in comparison.cards if card.run.trace is not None), None)
    return prompt if trace is None else replace(prompt, draws_used=trace.request.options.draws_used)
