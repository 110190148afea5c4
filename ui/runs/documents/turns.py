"""Messages as plain values, and read back. An answer refers to its run, which is packed separately."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Annotated, Any, Literal, NotRequired

from pydantic import Field, StrictBool
from typing_extensions import TypedDict

from decoding.run.document import MAX_STEPS, InvalidDocument, Label, Name, Share
from decoding.run.reader import checked
from ui.kit.validation import MAX_CHARACTERS
from ui.runs.answers import is_unfinished
from ui.runs.documents.runs import run_name
from ui.runs.run import RunRecord
from ui.runs.runs_contract import AnswerToken
from ui.runs.versions.conversation import Conversation, PlacedTurn, Turn

ShortText = Annotated[str, Field(max_length=MAX_CHARACTERS)]


class KeptToken(TypedDict):
    text: ShortText
    probability: Share
    label: NotRequired[Name]


Tokens = Annotated[list[KeptToken | tuple[ShortText, Share]], Field(max_length=MAX_STEPS)]  # pairs: of older documents


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
    """
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
    """
    Args:
        runs: those read back, by the names that they have in documents. An answer whose run is not among them has its
            text alone.
    """
    return _turn(checked(KeptTurn, value), runs)


def _turn(turn: KeptTurn, runs: Mapping[str, RunRecord]) -> Turn:
    name = turn["run"] or ""
    known = runs.get(name)
    return Turn(
        turn["role"],
        turn["text"],
        None if turn["tokens"] is None else read_tokens(turn["tokens"], dict(turn.get("labels") or ())),
        known and known.id,
        turn["state"],
        turn["note"],
        turn["model"],
        turn["unfinished"] and known is not None,
        kept_run="" if known else name,
    )


def read_tokens(
    tokens: Sequence[KeptToken | tuple[str, float]], labels: Mapping[int, str] = MappingProxyType({})
) -> list[AnswerToken]:
    """
    Args:
        labels: of tokens without a text, by their numbers, where the document has them beside the tokens.
    """
    read: list[AnswerToken] = []
    for number, token in enumerate(tokens):
        if isinstance(token, tuple):
            text, probability = token
            read.append({"text": text, "probability": probability})
            if number in labels:
                read[-1]["label"] = labels[number]
        else:
            read.append(token)
    return read


def conversation_document(conversation: Conversation, runs: Mapping[str, RunRecord]) -> list[dict[str, Any]]:
    """The messages of all versions."""
    return [
        {**turn_document(placed.turn, runs), "parent": placed.parent, "shown": placed.shown}
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
