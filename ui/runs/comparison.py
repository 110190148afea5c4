"""A comparison: one prompt, and its continuation under each card of settings. Plain records."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any

from pydantic import Field

from decoding.run.run_document import MAX_STEPS
from decoding.run.trace import Trace
from decoding.settings import DecodingSettings
from decoding.step import FinishReason
from model.errors import AttendError
from ui.runs.live_run import LiveRun
from ui.runs.run import RunRecord
from ui.runs.runs_contract import AnswerToken
from ui.runs.stream import Ending

Number = Annotated[float, Field(allow_inf_nan=False)] | None


@dataclass(frozen=True, slots=True)
class Prompt:
    """The prompt of all cards."""

    text: str  # as the visitor wrote it
    ids: tuple[int, ...]
    messages: tuple[Mapping[str, str], ...] = ()  # the conversation, where it is one, its system prompt first
    dropped: int = 0  # oldest messages that did not fit into the context
    draws_used: int = 0  # random numbers already taken from the seed's stream, where the text was continued before


@dataclass(frozen=True, slots=True)
class CardMetrics:
    """The metrics of one card; None while there is nothing to count."""

    tokens: Annotated[int, Field(ge=0, le=MAX_STEPS)] = 0
    tokens_per_second: Number = None  # while all cards run in one batch
    mean_log_probability: Number = None  # nats per token, the model's own, before any filter
    perplexity: Number = None  # exp(-mean log-probability)
    mean_entropy: Number = None  # bits, of the model's own distributions along the text
    distinct_2: Number = None  # distinct bigrams / all bigrams (after Li et al. 2016)
    top_share: Number = None  # how often the model's most probable token was taken
    first_difference: int | None = None  # the first token that is not the first card's, from 0; None where none is


@dataclass(slots=True)
class Card:
    """One column: settings, and the continuation so far.

    The text and the figures stay when the trace is dropped to save memory; see `ui/runs/memory.py`.
    """

    run: RunRecord  # shown in the inspector
    settings: DecodingSettings  # with a definite seed
    length: int  # the most tokens it can have
    live: LiveRun | None = None  # what writes it; None for a card that was read from a document
    kept_run: str = ""  # for a card without its run: the run's name in the visitor's browser, which didn't send it
    form: Mapping[str, Any] = field(default_factory=dict)  # the settings that the visitor gave it, as typed
    tokens: list[AnswerToken] = field(default_factory=list)
    ids: tuple[int, ...] = ()
    text: str = ""
    finish_reason: FinishReason = "cancelled"  # until it ended
    note: str | None = None  # why it ended, where that is not obvious
    metrics: CardMetrics = field(default_factory=CardMetrics)  # all but the first difference

    @property
    def trace(self) -> Trace:
        """The record of the run; `AttendError` if it was too large to be kept, or its model isn't loaded."""
        if self.run.stored is not None:
            raise AttendError("The model of these runs isn't loaded: choose it again, or download the CSV.")
        if self.run.trace is None:
            raise AttendError(
                "These runs were too large to store: download the CSV, or compare fewer or shorter texts."
            )
        return self.run.trace


@dataclass(slots=True)
class Comparison:
    """Several cards over one prompt."""

    model: str
    prompt: Prompt
    context_length: int
    common_draws: bool
    cards: tuple[Card, ...]
    ending: Ending | None = None
    history: bool = False  # whether the message continues the chat's conversation
    seed: int = -1  # as it stands beside the text; -1 for a random one
    repeats: bool = False  # whether its prompt is exactly that of a text that another tab wrote
    key: str = ""  # names it in the visitor's browser, once it is kept there
    removed: tuple[Card, ...] = ()  # cards that Undo can put back
