"""What a model is given: a conversation as its prompt, and the settings of an answer. Nothing of gradio."""

from __future__ import annotations

from collections.abc import Sequence

from decoding.settings import DecodingSettings
from model.errors import AttendError
from model.loaded import LoadedModel
from model.text.conversation import ChatPrompt, Message, as_dicts, message_from_dict
from ui.kit.validation import checked_text
from ui.runs.session import MOST_TURNS, Turn

MOST_MESSAGES = 200  # of a history that a program sends


def is_translator(loaded: LoadedModel) -> bool:
    """Whether the model answers each text with another: an encoder with a decoder."""
    return bool(loaded.model.decoder_start)


def check_translator(loaded: LoadedModel) -> None:
    """`AttendError` for a model that goes on with texts instead."""
    if not is_translator(loaded):
        raise AttendError(f"{loaded.name} continues texts and can't translate: choose an encoder-decoder model.")


def latest(turns: Sequence[Turn]) -> Sequence[Turn]:
    """Those that are kept of a conversation whose answer is still to come."""
    return turns[-(MOST_TURNS - 1) :]


def checked_history(history: object) -> list[Turn]:
    """A conversation that somebody sent, or `AttendError` for anything that is not one."""
    if not isinstance(history, list):
        raise AttendError('The history must be a list of {"role": …, "content": …}: send [] if there is none.')
    if len(history) > MOST_MESSAGES:
        raise AttendError(f"The history has {len(history):,} messages: send the newest {MOST_MESSAGES} or fewer.")
    turns = []
    for number, entry in enumerate(history, start=1):
        name = f"Message {number} of the history"
        message = message_from_dict(entry, name)
        turns.append(Turn(message.role, checked_text(message.text, name)))
    return turns


def supported_system_prompt(system: str, loaded: LoadedModel) -> str:
    """The system prompt, or none where the model takes none."""
    return "" if loaded.no_system else system


def chat_prompt(
    loaded: LoadedModel, turns: Sequence[Turn], settings: DecodingSettings, system: str = ""
) -> tuple[ChatPrompt, list[dict[str, str]]]:
    """The prompt that asks for the next answer, with room for as long a one as the settings allow, and the conversation
    as the run's document has it."""
    if loaded.chat is None:
        raise AttendError(f"{loaded.name} is not a chat model: switch to Write.")
    messages = [Message(turn.role, turn.text) for turn in turns]
    prompt = loaded.chat_prompt(messages, system=system, reserve=settings.max_new_tokens)
    return prompt, as_dicts(messages, system)


def chat_settings(loaded: LoadedModel, settings: DecodingSettings) -> DecodingSettings:
    """The settings of an answer, which also ends where this model's conversations have the next turn."""
    return settings if loaded.chat is None else settings.ending_at(loaded.chat.stop_texts)


def drawn_seed(settings: DecodingSettings) -> int:
    """The seed that decided; -1 where nothing was left to chance."""
    return settings.seed if settings.drawn else -1
