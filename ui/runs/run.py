"""A text that a model continued, token by token, with the explanation of each. Plain records."""

from __future__ import annotations

import itertools
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, Protocol

from decoding.request import Request
from decoding.run.run_document import TokenOrigin
from decoding.run.trace import Trace
from decoding.step import Choice
from model.errors import AttendError
from model.inspection.intervention import Intervention

Mode = Literal["chat", "write", "translate", "compare"]


@dataclass(frozen=True, slots=True)
class TokenRecord:
    """One token of a run's context, with its explanation."""

    id: int
    origin: TokenOrigin  # "given": typed, or added by the chat format
    choice: Choice | None = None  # what it was chosen from; never holds attention, which is in `row`
    row: str | None = None  # the attention of the pass that chose it, encoded for the page

    @property
    def is_given(self) -> bool:
        return self.origin == "given"


def prompt_tokens(request: Request) -> list[TokenRecord]:
    """The tokens with which a run begins: an encoder's source and the decoder's prompt."""
    return [TokenRecord(token, "given") for token in request.attended]


@dataclass(frozen=True, slots=True)
class StoredRun:
    """What is known of a run that was read while its model wasn't loaded."""

    packed: str  # the whole run, to be read once the model is loaded
    labels: Mapping[int, str]  # as its tokenizer had them when the run was kept
    special: frozenset[int]

    def label(self, piece: int) -> str:
        return self.labels.get(piece, "")

    def is_special(self, piece: int) -> bool:
        return piece in self.special


def new_key() -> str:
    """A name that is unique among all sessions."""
    return secrets.token_hex(8)


class Kept(Protocol):
    """What the visitor's browser keeps under a name of its own."""

    key: str  # "" until it is kept


def name_kept(kept: Kept, key: str) -> str:
    """Name it `key`; for "", keep its name or make one up. Returns the name."""
    kept.key = key or kept.key or new_key()
    return kept.key


@dataclass(slots=True)
class RunRecord:
    """A text that the model continued: the whole context, token by token."""

    id: str
    mode: Mode
    model: str
    tokens: list[TokenRecord]
    shape: tuple[int, int] = (0, 0)  # layers and heads of its attention
    dropped: int = 0  # oldest messages that did not fit into the prompt
    forgotten: bool = False  # whether the explanation of its tokens was dropped to save memory
    kept_interventions: tuple[Intervention, ...] = ()  # those of a trace that was dropped
    source: tuple[int, ...] = ()  # the encoder's tokens, with which `tokens` begins
    # The record of the newest continuation; the trace's prompt and tokens together are all tokens of the run. None for
    # a text that was not continued; a text that is changed becomes another run.
    trace: Trace | None = None
    key: str = field(default_factory=new_key, compare=False)  # unique everywhere; `id` only in this session
    stored: StoredRun | None = None  # until its model is loaded

    @property
    def ids(self) -> tuple[int, ...]:
        return tuple(token.id for token in self.tokens)

    @property
    def first(self) -> int:
        """The index from which on all tokens are explained."""
        explained = itertools.takewhile(lambda token: token.choice is not None, reversed(self.tokens))
        return len(self.tokens) - sum(1 for _ in explained)

    @property
    def length(self) -> int:
        """Tokens in the decoder's context; an encoder's source does not count."""
        return len(self.tokens) - len(self.source)

    @property
    def interventions(self) -> tuple[Intervention, ...]:
        """What was changed inside the model for its newest continuation."""
        return self.kept_interventions if self.trace is None else self.trace.request.options.interventions

    def require_trace(self) -> Trace:
        """The record of its newest continuation; `AttendError` where it isn't stored."""
        if self.trace is None or not self.trace.steps:
            raise AttendError(
                "The steps behind this text are not stored: continue it or retry the answer, then try again."
            )
        return self.trace

    def forget_attention(self) -> None:
        self.tokens = [token if token.row is None else replace(token, row=None) for token in self.tokens]

    def forget_trace(self) -> None:
        """Drop the record of the newest continuation, but for what was changed inside the model."""
        self.kept_interventions, self.trace = self.interventions, None

    def forget_explanations(self) -> None:
        """Drop all but the tokens."""
        self.tokens = [TokenRecord(token.id, token.origin) for token in self.tokens]
        self.forget_trace()
        self.forgotten = True

    def replace_from(self, number: int, tokens: Sequence[TokenRecord]) -> None:
        """Replace the tokens from this index on."""
        self.tokens = [*self.tokens[:number], *tokens]
