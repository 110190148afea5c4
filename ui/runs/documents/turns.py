"""Messages as plain values, and read back. An answer refers to its run, which is packed separately."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, cast

from ui.kit.validation import MAX_CHARACTERS
from ui.runs.answers import is_unfinished
from ui.runs.documents.reader import (
    InvalidDocument,
    as_count,
    as_mapping,
    as_number,
    as_switch,
    as_text,
    list_in,
    wrong,
)
from ui.runs.documents.runs import MAX_NAME, run_name
from ui.runs.documents.steps import MAX_STEPS
from ui.runs.run import RunRecord
from ui.runs.versions.conversation import MAX_MESSAGES, Conversation, PlacedTurn, Turn


def turn_document(turn: Turn, runs: Mapping[str, RunRecord]) -> dict[str, Any]:
    """
    Args:
        runs: the session's, as `runs_so_far` gives them.
    """
    run, is_growing = runs.get(turn.run or ""), turn.state == "streaming"
    return {
        "role": turn.role,
        "text": turn.text,
        "tokens": turn.tokens,
        "labels": turn.labels,
        "run": run_name(run) if run is not None else turn.kept_run or None,
        "state": "stopped" if is_growing else turn.state,
        "note": turn.note,
        "model": turn.model,
        "unfinished": is_unfinished(run) if is_growing and run is not None else turn.unfinished,
    }


def read_turn(value: object, runs: Mapping[str, RunRecord]) -> Turn:
    """
    Args:
        runs: those read back, by the names that they have in documents. An answer whose run is not among them has its
            text alone.
    """
    turn = as_mapping("a message", value)
    role, state, note, run = (turn.get(name) for name in ("role", "state", "note", "run"))
    if role not in ("user", "assistant") or state not in ("done", "stopped"):
        raise wrong("the state of a message", state)
    tokens = None if turn.get("tokens") is None else read_tokens(turn)
    name = "" if run is None else as_text("the run of a message", run)
    known = runs.get(name)
    return Turn(
        cast(Literal["user", "assistant"], role),
        as_text("a message", turn.get("text"), MAX_CHARACTERS),
        tokens,
        known and known.id,
        cast(Literal["done", "stopped"], state),
        None if note is None else as_text("the note of a message", note),
        as_text("the model of a message", turn.get("model"), MAX_NAME),
        as_switch("the end of a message", turn.get("unfinished")) and known is not None,
        labels=[] if turn.get("labels") is None else _read_labels(turn),  # absent in older documents
        kept_run="" if known else name,
    )


def conversation_document(conversation: Conversation, runs: Mapping[str, RunRecord]) -> list[dict[str, Any]]:
    """The messages of all versions."""
    return [
        {**turn_document(placed.turn, runs), "parent": placed.parent, "shown": placed.shown}
        for placed in conversation.messages()
    ]


def read_conversation(listed: Sequence[object], runs: Mapping[str, RunRecord], key: str) -> Conversation:
    """Read a conversation; `InvalidDocument` if the messages are not one."""
    if len(listed) > MAX_MESSAGES:
        raise InvalidDocument(f"{len(listed):,} messages are more than {MAX_MESSAGES:,}")
    placed: list[PlacedTurn] = []
    for number, value in enumerate(listed):
        message = as_mapping("a message", value)
        turn = read_turn(message, runs)
        parent = as_count("the position of a message", message.get("parent"), -1, number - 1)
        before = "assistant" if parent < 0 else placed[parent].turn.role
        if turn.role == before:
            raise InvalidDocument("questions and answers don't alternate")
        placed.append(PlacedTurn(turn, parent, as_switch("the position of a message", message.get("shown"))))
    return Conversation.of(placed, key=key)


def read_tokens(holder: Mapping[str, Any]) -> list[tuple[str, float]]:
    """Text and probability of each token of an answer."""
    return [_read_token(each) for each in list_in("the tokens of an answer", holder, "tokens", MAX_STEPS)]


def _read_labels(turn: Mapping[str, Any]) -> list[tuple[int, str]]:
    """The number and the label of each token without a text."""
    labels = list_in("the labels of an answer", turn, "labels", MAX_STEPS)
    if any(not isinstance(each, list | tuple) or len(each) != 2 for each in labels):
        raise wrong("the labels of an answer", labels)
    return [
        (as_count("a label of an answer", number, 0, MAX_STEPS), as_text("a label of an answer", label, MAX_NAME))
        for number, label in cast(list[tuple[object, object]], labels)
    ]


def _read_token(value: object) -> tuple[str, float]:
    if not isinstance(value, list | tuple) or len(value) != 2:
        raise wrong("a token of an answer", value)
    return as_text("a token of an answer", value[0], MAX_CHARACTERS), as_number("a probability", value[1], 0, 1)
