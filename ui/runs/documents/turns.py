"""Messages as plain values, and read back. An answer refers to its run, which is packed separately."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal, NotRequired

from pydantic import BeforeValidator, Field, StrictBool
from typing_extensions import TypedDict

from decoding.run.reader import checked
from decoding.run.run_document import MAX_STEPS, InvalidDocument, Label, Name
from ui.kit.validation import MAX_CHARACTERS
from ui.runs.answers import is_unfinished
from ui.runs.documents.runs import run_name
from ui.runs.run import RunRecord
from ui.runs.runs_contract import AnswerToken
from ui.runs.versions.conversation import Conversation, PlacedTurn, Turn

ShortText = Annotated[str, Field(max_length=MAX_CHARACTERS)]


def _token(kept: object) -> object:
    """A token of an older document is a pair."""
    return dict(zip(("text", "probability"), kept, strict=True)) if isinstance(kept, list) and len(kept) == 2 else kept


Tokens = Annotated[list[Annotated[AnswerToken, BeforeValidator(_token)]], Field(max_length=MAX_STEPS)]


class KeptTurn(TypedDict):
    """A message as the visitor's browser keeps it."""

    role: Literal["user", "assistant"]
    text: ShortText
    tokens: Tokens | None
    labels: NotRequired[Annotated[list[tuple[int, Name]], Field(max_length=MAX_STEPS)] | None]  # of older documents
    run: Label | None
    state: Literal["done", "stopped"]
    note: Label | None
    model: Name
    unfinished: StrictBool


class KeptPlacedTurn(KeptTurn):
    parent: Annotated[int, Field(ge=-1)]
    shown: StrictBool


def turn_document(turn: Turn, runs: Mapping[str, RunRecord]) -> dict[str, Any]:
    """A message as plain values.

    Args:
        runs: the session's, as `runs_so_far` gives them.
    """
    run, is_growing = runs.get(turn.run or ""), turn.state == "streaming"
    return {
        "role": turn.role,
        "text": turn.text,
        "tokens": turn.tokens,
        "run": run_name(run) if run is not None else turn.kept_run or None,
        "state": "stopped" if is_growing else turn.state,
        "note": turn.note,
        "model": turn.model,
        "unfinished": is_unfinished(run) if is_growing and run is not None else turn.unfinished,
    }


def read_turn(value: object, runs: Mapping[str, RunRecord]) -> Turn:
    """A message read back; `InvalidDocument` for anything else.

    Args:
        runs: those read back, by their names in documents. An answer whose run is missing has only its text.
    """
    return _turn(checked(KeptTurn, value), runs)


def _turn(turn: KeptTurn, runs: Mapping[str, RunRecord]) -> Turn:
    name, tokens = turn["run"] or "", turn["tokens"]
    for number, label in turn.get("labels") or ():
        if tokens is not None and 0 <= number < len(tokens):
            tokens[number]["label"] = label
    known = runs.get(name)
    return Turn(
        turn["role"],
        turn["text"],
        tokens,
        known and known.id,
        turn["state"],
        turn["note"],
        turn["model"],
        turn["unfinished"] and known is not None,
        kept_run="" if known else name,
    )


def conversation_document(conversation: Conversation, runs: Mapping[str, RunRecord]) -> list[dict[str, Any]]:
    """The messages of all versions."""
    return [
        {**turn_document(placed.turn, runs), "parent": placed.parent, "shown": placed.in_view}
        for placed in conversation.messages()
    ]


def read_conversation(messages: Sequence[KeptPlacedTurn], runs: Mapping[str, RunRecord], key: str) -> Conversation:
    """Read a conversation; `InvalidDocument` if the messages are not one."""
    placed: list[PlacedTurn] = []
    for number, message in enumerate(messages):
        parent = message["parent"]
        if parent >= number:
            raise InvalidDocument(f"the position of a message can't be {parent}")
        if message["role"] == ("assistant" if parent < 0 else placed[parent].turn.role):
            raise InvalidDocument("questions and answers don't alternate")
        placed.append(PlacedTurn(_turn(message, runs), parent, message["shown"]))
    return Conversation.of(placed, key=key)
