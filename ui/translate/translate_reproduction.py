"""Translate as code: what "Copy as code" repeats. Nothing of gradio."""

from __future__ import annotations

from decoding.settings import DecodingSettings
from model.loaded import LoadedModel
from ui.kit.validation import checked_text
from ui.runs.prompts import chat_settings
from ui.runs.session import Session
from ui.runs.versions.conversation import Turn
from ui.settings.code import Reproduction, with_last_seed
from ui.translate.translate_actions import examples

_EXAMPLE = "Hi! How are you today?"  # where nothing is typed and no example is known


def translate_reproduction(
    session: Session, loaded: LoadedModel, text: object, unseeded: DecodingSettings
) -> Reproduction:
    """The text in the box, as the one message; if its translation is shown, with the settings of that."""
    typed = checked_text(text, "The text")
    source = typed if typed.strip() else [*examples(loaded.address), _EXAMPLE][0]
    translation = session.translation
    run = session.runs.get(translation.answer.run or "") if translation and translation.text == typed else None
    settings = run.trace.settings if run and run.trace and run.model == loaded.name else unseeded
    chosen = chat_settings(loaded, with_last_seed(session, settings))
    turns = (Turn("user", source),)
    return Reproduction(
        loaded.address,
        chosen,
        chat_settings(loaded, unseeded),
        source,
        loaded.languages,
        loaded.dtype,
        turns,
        translates=True,
    )
