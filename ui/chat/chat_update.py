"""What changes on the screen in Chat. Knows nothing of gradio."""

from __future__ import annotations

from dataclasses import dataclass

from model.errors import AttendError
from model.loaded import LoadedModel
from model.text.conversation import Message
from ui.chat.chat_contract import ConversationValue, PromptValue
from ui.chat.conversation_value import conversation_value
from ui.chat.prompt_value import prompt_value
from ui.inspector.opening import opened_if_loaded
from ui.page_update import PageUpdate
from ui.runs.models import Models
from ui.runs.prompts import supported_system_prompt
from ui.runs.run import RunRecord
from ui.runs.run_values import meter_value
from ui.runs.runs_contract import AnswerUpdate, MeterValue
from ui.runs.session import Session


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatUpdate(PageUpdate):
    """What changes in Chat."""

    conversation: ConversationValue | None = None
    answer: AnswerUpdate | None = None  # what is new of the newest answer, where the conversation is the same
    message: str | None = None  # the text in the message box
    prompt: PromptValue | None = None
    cleared: bool | None = None  # whether Clear can be undone
    undone: bool | None = None  # whether Undo can be undone


def overview(session: Session, models: Models, name: str, inspected: RunRecord | None = None) -> ChatUpdate:
    """The current state of Chat: the conversation, an answer in the inspector, and the context usage.

    Args:
        inspected: the answer's run; None for the newest.
    """
    loaded = models.get(name)
    session.inspected_run = None
    run = session.newest_answer
    return ChatUpdate(
        conversation=conversation_value(session),
        prompt=prompt_value(session, loaded),
        inspector=opened_if_loaded(session, models, inspected or run, "chat"),
        meter=_context_usage(session, loaded, run),
        undone=session.conversation.has_more,
    )


def _context_usage(session: Session, loaded: LoadedModel, run: RunRecord | None) -> MeterValue:
    """Context usage; for a model that wrote none of the conversation, counted in its own tokens."""
    limit = loaded.model.context_length
    if run is None or run.model == loaded.name:
        return meter_value(run.length if run else 0, limit, session.dropped)
    *turns, answer = session.turns
    messages = [Message(turn.role, turn.text) for turn in turns]
    try:
        prompt = loaded.chat_prompt(messages, system=supported_system_prompt(session.system, loaded), reserve=1)
        used = len(prompt.ids) + len(loaded.tokenizer.encode(answer.text))
    except AttendError:  # this model cannot take the conversation
        return meter_value(0, limit)
    return meter_value(min(used, limit), limit, prompt.dropped)
