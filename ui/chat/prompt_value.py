"""How a conversation is written for the model, as the page shows it: in which manner, and the exact prompt.

Knows nothing of gradio.
"""

from __future__ import annotations

from model.errors import AttendError
from model.loaded import LoadedModel
from model.text.conversation import Message
from ui.chat.chat_contract import PromptValue
from ui.chat.conversation_value import EXAMPLES
from ui.runs.prompts import supported_system_prompt
from ui.runs.session import Session


def prompt_value(session: Session, loaded: LoadedModel) -> PromptValue:
    """The prompt of the newest answer; where this model has not answered yet, that of an example."""
    run = session.newest_answer
    if loaded.chat is None:
        return {"manner": "", "of": "", "parts": []}
    if run is not None and not run.forgotten and run.model == loaded.name:
        ids, of = run.ids[: run.first], "Prompt of the latest answer"
    else:
        try:
            example = [Message("user", EXAMPLES[0])]
            ids = loaded.chat_prompt(example, system=supported_system_prompt(session.system, loaded), reserve=1).ids
        except AttendError:  # a context or a template that has no room for it
            ids = ()
        of = "Prompt of an example"
    return {"manner": loaded.chat.manner, "of": of if ids else "", "parts": _parts(ids, loaded)}


def _parts(ids: tuple[int, ...], loaded: LoadedModel) -> list[tuple[str, bool]]:
    """Control tokens one by one, and the texts between them, each decoded whole."""
    parts: list[tuple[str, bool]] = []
    text: list[int] = []
    for piece in (*ids, None):
        if piece is not None and not loaded.tokenizer.is_special(piece):
            text.append(piece)
            continue
        if text:
            parts.append((loaded.tokenizer.decode(text, begins=not any(not control for _, control in parts)), False))
            text = []
        if piece is not None:
            parts.append((loaded.tokenizer.label(piece), True))
    return parts
