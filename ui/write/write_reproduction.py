"""Write as code: what "Copy as code" repeats. Nothing of gradio."""

from __future__ import annotations

import itertools

from decoding.settings import DecodingSettings
from model.loaded import LoadedModel
from ui.kit.validation import checked_text
from ui.runs.session import Session
from ui.settings.code import Reproduction, note_of_taken, with_last_seed

_EXAMPLE = "Once upon a time"  # where nothing has been written
_LATER = "This repeats only the first continuation."


def write_reproduction(session: Session, loaded: LoadedModel, text: object, unseeded: DecodingSettings) -> Reproduction:
    """The text in the box or, if the model wrote part of it, only the prompt, with the settings of the run."""
    prompt, settings, run = checked_text(text, "The text"), unseeded, session.runs.get(session.draft.run or "")
    note, off = "", ()
    if run is not None and run.model == loaded.name and prompt == session.draft.text:
        prompt_ids = [token.id for token in itertools.takewhile(lambda token: token.is_given, run.tokens)]
        prompt = loaded.tokenizer.decode(prompt_ids, begins=True)
        if (trace := run.trace) is not None and list(trace.request.prompt) == prompt_ids:
            settings, off = trace.settings, trace.request.options.interventions
        elif len(prompt_ids) < len(run.tokens):
            note = note_of_taken(run.tokens) or _LATER
    prompt = prompt if prompt.strip() else _EXAMPLE
    settings = with_last_seed(session, settings)
    return Reproduction(
        loaded.address,
        settings,
        unseeded,
        prompt,
        loaded.languages,
        loaded.dtype,
        note=note,
        interventions=off,
    )
