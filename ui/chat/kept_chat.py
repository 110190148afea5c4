"""What the visitor's browser keeps of Chat: the conversation in all versions, with its system prompt."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field
from typing_extensions import TypedDict

from decoding.run.reader import checked
from ui.kit.validation import checked_system
from ui.runs.documents.kept_document import Document, OpenedDocument, first_words, runs_so_far
from ui.runs.documents.turns import KeptPlacedTurn, conversation_document, read_conversation
from ui.runs.run import name_kept
from ui.runs.session import Session
from ui.runs.versions.conversation import MAX_MESSAGES, Conversation


class KeptChat(TypedDict):
    system: str
    messages: Annotated[list[KeptPlacedTurn], Field(max_length=MAX_MESSAGES)]


def chat_document(session: Session, key: str = "") -> Document | None:
    """None while there is no conversation. If it was cleared just before the page asked, the cleared one is returned,
    since the page asked about it. See `name_kept` for the key."""
    conversation = session.conversation
    if not conversation.messages() and session.cleared is not None:
        conversation = session.cleared
    messages = conversation.messages()
    if not messages:
        return None
    runs = runs_so_far(session, cleared=conversation is session.cleared)
    content = {"system": session.system, "messages": conversation_document(conversation, runs)}
    named = [runs.get(placed.turn.run or "") or placed.turn.kept_run for placed in messages]
    return Document(
        "chat",
        name_kept(conversation, key),
        first_words((conversation.turns or [messages[0].turn])[0].text),
        session.model.name,
        content,
        [run for run in named if run],
    )


def open_chat(session: Session, document: OpenedDocument) -> None:
    """Put a conversation that was kept in place of the one in view."""
    content = checked(KeptChat, document.content)
    conversation = read_conversation(content["messages"], document.runs, document.key)
    system = checked_system(content["system"])
    # nothing is refused from here on
    session.conversation, session.cleared, session.system = conversation, None, system
    session.runs |= {run.id: run for run in document.runs.values()}
    session.drop_unused_runs()


def discard_chat(session: Session) -> None:
    """Remove the conversation in view, and the one that Undo would bring back."""
    session.conversation, session.cleared = Conversation(), None
