"""Values sent to Translate: the text, and what the model attended to."""

from __future__ import annotations

from typing import NotRequired, TypedDict

from ui.runs.runs_contract import TurnsValue, TurnValue


class TranslationValue(TurnsValue):
    """What Translate shows: a single answer, or none. Its events: `token {index}` (the inspector shows another run, or
    none), `example {text}`, and `missing`."""


class HeadsValue(TypedDict):
    """The attention of all layers and heads over one pair of texts."""

    layers: int
    heads: int
    rows: list[str]  # `attention_row` of every query


class AlignmentValue(TypedDict):
    """Where a finished translation's model looked; made by `ui.translate.alignment.alignment_value`."""

    run: str | None  # None: there is nothing to align
    reason: str  # why there are no maps; "" where there are
    source: list[str]  # the tokens that the encoder read
    text: list[str]  # those of the decoder, what its text begins with included
    first: int  # the number in `text` of the first one that was chosen
    controls: list[bool]  # whether each source token is a control token
    encoder: HeadsValue | None  # queries and keys are the source's tokens
    decoder: HeadsValue | None  # query i chose token first + i of `text`, and looked at those before it
    cross: HeadsValue | None  # the same queries; the keys are the source's tokens
    number: NotRequired[int]  # of the page's update; an older one that arrives late is ignored


class RecordedTranslation(TypedDict):
    """The example that is shown until there is a translation; made by docs/examples.py."""

    model: str  # that wrote it
    text: str  # what was translated
    turn: TurnValue
    alignment: AlignmentValue
