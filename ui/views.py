"""What people look at: the conversation, the inspector, the comparison, a run's record; what an encoder reads.

Each is one `gr.HTML` whose script (ui/views/*.js) draws with `textContent` alone, so a token is text and never markup.
This file knows nothing of sessions, handlers, models or tokenizers; what the values hold is in `ui/contract.py`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import gradio as gr

from ui.contract import (
    AlignmentValue,
    Answer,
    CompareValue,
    ConversationValue,
    InspectorValue,
    LessonValue,
    PromptValue,
    ReadingValue,
    RecordReply,
    TranslationValue,
    WordsValue,
)

FOLDER = Path(__file__).parent / "views"
SCRIPTS = {
    "conversation": ("answer", "conversation"),  # each may use those before it
    "inspector": (
        *("tokens", "step", "table", "contrast", "why", "stages"),
        *("attention", "axis", "map", "look"),
        *("search", "tree", "beams"),
        *("data", "inspector"),
    ),
    "record": ("whatif", "record"),
    "compare": ("answer", "figures", "form", "card", "compare"),
    "translation": ("answer", "translation"),
    "alignment": ("attention", "axis", "map", "look", "links", "alignment"),
    "about": ("about",),
    "reading": ("tokens", "attention", "axis", "map", "look", "data", "reading"),
    "words": ("data", "words"),
    "lesson": (
        *("matrix", "picture", "pieces", "word_map", "lesson"),
        *("lesson_tokens", "lesson_vocabulary", "lesson_vectors"),
        *("lesson_positions", "lesson_attention", "lesson_sentences"),
        *("lesson_told", "lesson_block_told", "lesson_block_steps", "lesson_block", "lesson_training"),
        "learn",
    ),
}
STYLES = {
    "conversation": ("answer", "conversation"),
    "inspector": ("inspector", "step", "plots", "beams"),
    "record": ("record",),
    "compare": ("answer", "compare", "card", "figures", "form"),
    "translation": ("answer", "translation"),
    "alignment": ("inspector", "plots", "alignment"),
    "about": (),
    "reading": ("inspector", "plots", "reading"),
    "words": ("inspector", "plots", "reading"),
    "lesson": (
        *("matrix", "picture", "pieces", "lesson", "lesson_words"),
        *("lesson_positions", "lesson_attention", "lesson_sentences"),
        *("lesson_told", "lesson_block", "lesson_training"),
    ),
}


def conversation() -> gr.HTML:
    """The conversation; its value is a `ConversationValue`."""
    return _component("conversation")


def inspector() -> gr.HTML:
    """The tokens, the table and the attention map; its value is an `InspectorValue`."""
    return _component("inspector")


def comparison(form: Mapping[str, Any]) -> gr.HTML:
    """Cards of settings and their texts; its values are a `CompareValue` or an `Answer`, its form never changes."""
    return _component("compare", form=_pack(form))


def record(form: Mapping[str, Any]) -> gr.HTML:
    """What can be done with the run that is shown; its values are `RecordReply`s, its form is a `WhatIfForm`."""
    return _component("record", form=_pack(form))


def translation() -> gr.HTML:
    """What a translator wrote; its value is a `TranslationValue`."""
    return _component("translation")


def alignment() -> gr.HTML:
    """Where it looked, in the source and in its own text; its value is an `AlignmentValue`, or nothing."""
    return _component("alignment")


def about() -> gr.HTML:
    """What there is to say of a page in a sentence or two, which are its value."""
    return _component("about")


def reading() -> gr.HTML:
    """A text as an encoder reads it; its value is a `ReadingValue`."""
    return _component("reading")


def words() -> gr.HTML:
    """One word's vectors in several sentences; its value is a `WordsValue`."""
    return _component("words")


def lesson(first: Mapping[str, Any]) -> gr.HTML:
    """The lesson, whose chapters ask for what they show; its values are `LessonValue`s.

    Args:
        first: what the fields of each chapter hold at first, which never changes.
    """
    return _component("lesson", form=_pack(dict(first)))


def _component(name: str, **props: str) -> gr.HTML:
    """Its style goes through `head`: `launch(css=…)` drops container queries and rewrites selectors wrongly."""
    style = "\n".join(_read(f"{part}.css") for part in ("shared", *STYLES[name]))
    return gr.HTML(
        html_template=f'<div class="attend-{name} at-view"></div>',
        js_on_load="\n".join(_read(f"{script}.js") for script in ("shared", *SCRIPTS[name])),
        head=f"<style>{style}</style>",
        apply_default_css=False,  # Gradio's prose styles are made for articles
        padding=False,
        elem_id=f"attend-{name}",
        **props,  # pyright: ignore[reportArgumentType]
    )


def packed_conversation(value: ConversationValue) -> dict[str, Any]:
    """What a handler returns for the conversation: every turn as one string.

    Gradio's page compares, copies and watches each list and number of a value, six times an update, which took longer
    than drawing; and a streamed token sends its own turn again, no other.
    """
    return {**value, "turns": [_pack(turn) for turn in value["turns"]]}


def packed(
    value: AlignmentValue
    | TranslationValue
    | InspectorValue
    | CompareValue
    | Answer
    | RecordReply
    | PromptValue
    | ReadingValue
    | WordsValue
    | LessonValue,
) -> str:
    """What a handler returns for any other component: one string, for the same reason.

    Handlers pack, not the components' `postprocess`: Gradio builds a component anew from its class for a session in
    which it was once skipped, and its differ mends nested lists wrongly, so the page showed tables of other tokens.
    """
    return _pack(value)


def _pack(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"))


def _read(name: str) -> str:
    return (FOLDER / name).read_text(encoding="utf-8")
