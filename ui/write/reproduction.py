"""Write as code: what "Copy as code" repeats. Nothing of gradio."""

from __future__ import annotations

import itertools
from dataclasses import replace

from decoding.settings import DecodingSettings
from model.loaded import LoadedModel
from ui.runs.session import Session
from ui.settings.code import Reproduction, with_last_seed

_EXAMPLE = "Once upon a time"  # where nothing has been written
_LATER = "This repeats only the first continuation."


def write_reproduction(session: Session, loaded: LoadedModel, text: str, settings: DecodingSettings) -> Reproduction:
    """The text in the box or, if the model wrote part of it, only the prompt, with the length of all continuations."""
    run = session.runs.get(session.draft.run or "")
    note, off = "", ()
    if run is not None and run.model == loaded.name and text == session.draft.text:
        given = [token.id for token in itertools.takewhile(lambda token: token.given, run.tokens)]
        text = loaded.tokenizer.decode(given, begins=True)
        if (trace := run.trace) is not None and tuple(trace.request.prompt) == tuple(given):
            settings, off = _lengthened(settings, trace.settings), trace.request.options.interventions
        elif len(given) < len(run.tokens):
            note = _LATER
    prompt = text if text.strip() else _EXAMPLE
    settings = with_last_seed(session, settings)
    return Reproduction(loaded.address, settings, prompt, loaded.languages, loaded.dtype, note=note, interventions=off)


def _lengthened(settings: DecodingSettings, used: DecodingSettings) -> DecodingSettings:
    """With the length of several continuations in one, where these settings made them all."""
    free = {"max_new_tokens": used.max_new_tokens} | ({"seed": used.seed} if settings.seed < 0 else {})
    return replace(settings, max_new_tokens=used.max_new_tokens) if replace(settings, **free) == used else settings
