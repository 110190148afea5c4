"""Chat as code: what "Copy as code" repeats. Nothing of gradio."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from decoding.settings import DecodingSettings
from model.loaded import LoadedModel
from ui.chat.conversation_value import EXAMPLES
from ui.kit.validation import checked_system, checked_text, without_blank_end
from ui.runs.prompts import chat_settings, is_translator, supported_system_prompt
from ui.runs.session import Session
from ui.runs.versions.conversation import Turn
from ui.settings.code import Reproduction, note_of_taken, with_last_seed


def chat_reproduction(
    session: Session, loaded: LoadedModel, text: object, unseeded: DecodingSettings, system: object = None
) -> Reproduction:
    """The message in the box or, where it is blank, the last one that was sent, with the settings of its answer.

    Args:
        system: the system prompt in its box; None for the session's.
    """
    message = checked_text(text, "The message")
    instruction = session.system if system is None else checked_system(system)
    turns, settings, answer, off, note = list(session.turns), unseeded, session.newest_answer, (), ""
    if message.strip() or not turns:
        turns.append(Turn("user", without_blank_end(message) if message.strip() else EXAMPLES[0]))
    else:
        turns = turns[: 1 + max(number for number, turn in enumerate(turns) if turn.role == "user")]
        note = note_of_taken(answer.tokens if answer is not None else ())
        if answer is not None and answer.model == loaded.name:
            off = answer.interventions
            if (trace := answer.trace) is not None:
                settings, instruction = trace.settings, _system_prompt(trace.messages, instruction)
    return Reproduction(
        loaded.address,
        chat_settings(loaded, with_last_seed(session, settings)),
        chat_settings(loaded, unseeded),
        turns[-1].text,
        loaded.languages,
        loaded.dtype,
        tuple(turns),
        supported_system_prompt(instruction, loaded),
        translates=is_translator(loaded),
        note=note,
        interventions=off,
    )


def _system_prompt(messages: Sequence[Mapping[str, str]], otherwise: str) -> str:
    """The system prompt of a run's conversation; `otherwise` where the conversation isn't stored."""
    if not messages:
        return otherwise
    return messages[0].get("content", "") if messages[0].get("role") == "system" else ""
