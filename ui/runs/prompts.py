"""What a model is given: a conversation as its prompt, and the settings of an answer. Knows nothing of gradio."""

from __future__ import annotations

from collections.abc import Sequence

from decoding.settings import DecodingSettings
from model.errors import AttendError
from model.loaded import LoadedModel
from model.names import Task
from model.text.conversation import ChatPrompt, Message, as_dicts, message_from_dict
from ui.kit.validation import checked_text
from ui.runs.versions.conversation import MAX_TURNS, Turn

MAX_MESSAGES = 200  # of a history that a program sends


def task_of(loaded: LoadedModel) -> Task:
    """What the model is for."""
    return "translation" if is_translator(loaded) else "generation"


def is_translator(loaded: LoadedModel) -> bool:
    """Whether the model is an encoder-decoder, which answers each text with another."""
    return bool(loaded.model.decoder_start)


def check_translator(loaded: LoadedModel) -> None:
    """`AttendError` for a model that continues texts instead."""
    if not is_translator(loaded):
        raise AttendError(f"{loaded.name} continues texts and can't translate: choose an encoder-decoder model.")


def latest(turns: Sequence[Turn]) -> Sequence[Turn]:
    """The turns that a session keeps while it waits for the next answer."""
    return turns[-(MAX_TURNS - 1) :]


def checked_history(history: object) -> list[Turn]:
    """A conversation sent by a program; `AttendError` for anything else."""
    if not isinstance(history, list):
        raise AttendError('The history must be a list of {"role": …, "content": …}: send [] if there is none.')
    if len(history) > MAX_MESSAGES:
        raise AttendError(f"The history has {len(history):,} messages: send the newest {MAX_MESSAGES} or fewer.")
    turns = []
    for number, entry in enumerate(history, start=1):
        name = f"Message {number} of the history"
        message = message_from_dict(entry, name)
        turns.append(Turn(message.role, checked_text(message.text, name)))
    return turns


def supported_system_prompt(system: str, loaded: LoadedModel) -> str:
    """The system prompt; "" for a model that supports none."""
    return "" if loaded.no_system else system


def chat_prompt(
    loaded: LoadedModel, turns: Sequence[Turn], settings: DecodingSettings, system: str = ""
) -> tuple[ChatPrompt, list[dict[str, str]]]:
    """The prompt for the next answer, with room for its maximum length, and the messages for the run's document."""
    if loaded.chat is None:
        raise AttendError(f"{loaded.name} is not a chat model: switch to Write.")
    messages = [Message(turn.role, turn.text) for turn in turns]
    prompt = loaded.chat_prompt(messages, system=system, reserve=settings.max_new_tokens)
    return prompt, as_dicts(messages, system)


def chat_settings(loaded: LoadedModel, settings: DecodingSettings) -> DecodingSettings:
    """The settings of an answer, which also ends where the model's chat format begins the next turn."""
    return settings if loaded.chat is None else settings.ending_at(loaded.chat.stop_texts)


def drawn_seed(*settings: DecodingSettings) -> int:
    """The seed of a run, or of the first of several, from which the others count on; -1 if none of them draws."""
    return settings[0].seed if any(each.drawn for each in settings) else -1
