"""What Chat shows of its conversation. Pure functions."""

from __future__ import annotations

from ui.chat.chat_contract import ConversationValue
from ui.runs.run_values import turn_value
from ui.runs.session import Session

EXAMPLES = (
    "Hi! How are you today?",
    "What do you like to do on weekends?",
    "I feel a bit tired this evening.",
    "What kind of music do you like?",
)


def conversation_value(session: Session) -> ConversationValue:
    dropped = session.dropped
    versions = zip(session.turns, session.conversation.versions, strict=True)
    return {
        "turns": [
            turn_value(turn, session.runs.get(turn.run or ""), dropped=index < dropped, versions=pair)
            for index, (turn, pair) in enumerate(versions)
        ],
        "examples": list(EXAMPLES),
        "busy": session.busy,
        "sent": session.sent,
    }
