"""Write as code: what "Copy as code" repeats. Nothing of gradio."""

from __future__ import annotations

import itertools

from decoding.settings import DecodingSettings
from model.loaded import LoadedModel
from ui.runs.session import Session
from ui.settings.code import Reproduction, with_last_seed

_EXAMPLE = "Once upon a time"  # where nothing has been written


def write_reproduction(session: Session, loaded: LoadedModel, text: str, settings: DecodingSettings) -> Reproduction:
    """The text in the box, or what of it was there before the model went on."""
    run = session.runs.get(session.draft.run or "")
    if run is not None and text == session.draft.text:
        given = itertools.takewhile(lambda one: one.given, run.tokens)
        text = loaded.tokenizer.decode((token.id for token in given), begins=True)
    prompt = text if text.strip() else _EXAMPLE
    return Reproduction(loaded.address, with_last_seed(session, settings), prompt, loaded.languages)
