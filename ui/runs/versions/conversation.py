"""A conversation in all its versions: a tree of messages, one path of which is in view.

The versions of a message all follow the same message before it, and each keeps what followed it. Plain records; knows
nothing of runs, of models or of the screen.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal, Self

from model.errors import AttendError
from ui.runs.runs_contract import AnswerState, AnswerToken

MAX_TURNS = 200  # messages in view, far more than fit into a context
MAX_VERSIONS = 10  # of one message
MAX_MESSAGES = 400  # in all versions together


@dataclass(slots=True)
class Turn:
    """One message."""

    role: Literal["user", "assistant"]
    text: str
    tokens: list[AnswerToken] | None = None  # of an answer
    run: str | None = None
    state: AnswerState = "done"
    note: str | None = None
    model: str = ""  # the display name of the one that wrote it
    unfinished: bool = False  # whether the model could go on where the answer ends
    version: int = 0  # number of its updates
    kept_run: str = ""  # of an answer without a run: what the visitor's browser calls the one that it didn't send


@dataclass(frozen=True, slots=True)
class PlacedTurn:
    """One message of all versions, in a list where each comes after the one that it follows."""

    turn: Turn
    parent: int  # the number of the message before it in that list; -1 for none
    in_view: bool  # whether it is the version in view, once the message before it is


@dataclass(slots=True, eq=False)
class _Node:
    """A message and the versions of the next one."""

    turn: Turn | None = None  # None before the first message
    following: list[_Node] = field(default_factory=list)  # oldest first
    next: _Node | None = None  # which of them is in view; None where the view ends
    undone: _Node | None = None  # which of them was in view before the view ended here


class Conversation:
    """Messages in versions. Over the limits the oldest versions out of view go."""

    def __init__(self, turns: Sequence[Turn] = (), *, key: str = "") -> None:
        self.key = key  # what it is called where it is kept; "" until it is
        self._start = _Node()
        self.put(turns)

    @classmethod
    def of(cls, messages: Sequence[PlacedTurn], *, key: str = "") -> Self:
        """The conversation that consists of these messages."""
        conversation = cls(key=key)
        nodes: list[_Node] = []
        for message in messages:
            node = _Node(message.turn)
            before = conversation._start if message.parent < 0 else nodes[message.parent]
            before.following.append(node)
            if message.in_view:
                before.next = node
            nodes.append(node)
        return conversation

    def messages(self) -> list[PlacedTurn]:
        """The messages of all versions, each after the one that it follows."""
        listed: list[PlacedTurn] = []
        left = [(self._start, -1)]
        while left:
            node, number = left.pop(0)
            for following in node.following:
                if following.turn is not None:
                    left.append((following, len(listed)))
                    listed.append(PlacedTurn(following.turn, number, following is node.next))
        return listed

    @property
    def turns(self) -> list[Turn]:
        """The messages in view."""
        return [node.turn for node in self._path() if node.turn is not None]

    @property
    def versions(self) -> list[tuple[int, int]]:
        """Which version of each message is in view, from 0, and how many there are."""
        pairs = itertools.pairwise(self._path())
        return [(before.following.index(node), len(before.following)) for before, node in pairs]

    def all_turns(self) -> Iterator[Turn]:
        """The messages of all versions."""
        left = [self._start]
        while left:
            node = left.pop()
            if node.turn is not None:
                yield node.turn
            left += node.following

    def put(self, turns: Sequence[Turn]) -> None:
        """Bring these messages into view. As many as begin the view already stay where they are; the rest becomes a
        version beside what followed there."""
        nodes = self._path()
        pairs = zip(turns, nodes[1:], strict=False)
        same = sum(1 for _ in itertools.takewhile(lambda pair: pair[0] is pair[1].turn, pairs))
        node = nodes[same]
        for turn in turns[same:]:
            node.next = _Node(turn)
            node.following.append(node.next)
            node = node.next
        self._limit()

    def add_versions(self, turn: Turn, others: Sequence[Turn]) -> None:
        """Add other versions of a message after its existing ones; it stays in view."""
        before = next(before for before, node in itertools.pairwise(self._path()) if node.turn is turn)
        before.following += [_Node(other) for other in others]
        self._limit()

    def show(self, number: int, version: int) -> None:
        """Bring a version of message `number` into view, with what followed it; `AttendError` if there is none."""
        nodes = self._path()
        if not 0 <= number < len(nodes) - 1 or not 0 <= version < len(nodes[number].following):
            raise AttendError("This version no longer exists: reload the page to see the current conversation.")
        nodes[number].next = nodes[number].following[version]

    def end_before(self, number: int) -> None:
        """End the view before message `number`, which stays a version, until `go_on` brings it back."""
        node = self._path()[number]
        node.next, node.undone = None, node.next

    @property
    def has_more(self) -> bool:
        """Whether the view was ended before messages that are still here."""
        return bool(self._path()[-1].following)

    def go_on(self) -> None:
        """Bring back the messages before which the view was last ended, if there are any."""
        last = self._path()[-1]
        if last.following:
            last.next = last.undone if last.undone in last.following else last.following[-1]

    def _path(self) -> list[_Node]:
        """The start, and the messages in view."""
        nodes = [self._start]
        while (node := nodes[-1].next) is not None:
            nodes.append(node)
        return nodes

    def _limit(self) -> None:
        while len(nodes := self._path()) > MAX_TURNS + 1:
            nodes[1].turn = None
            self._start = nodes[1]
        for node in nodes:
            while len(node.following) > MAX_VERSIONS:
                _drop_oldest(node)
        while sum(1 for _ in self.all_turns()) > MAX_MESSAGES:
            _drop_oldest(next(node for node in nodes if any(each is not node.next for each in node.following)))


def _drop_oldest(node: _Node) -> None:
    """Drop the oldest of the next message's versions that is not in view, with what followed it."""
    oldest = next(each for each in node.following if each is not node.next)
    node.following.remove(oldest)
    if node.undone is oldest:
        node.undone = None  # which frees it
