"""Values sent to Compare and its cards; made by `ui/compare/comparison_value.py`."""

from __future__ import annotations

from typing import Any, Literal, NotRequired, TypedDict

from decoding.run.run_document import RunDocument
from ui.kit.kit_contract import SettingField
from ui.runs.runs_contract import AnswerState, AnswerToken


class CardField(SettingField):
    """A setting of a card."""

    main: bool  # in sight on every card
    panel: bool  # whether a card without its own value takes the panel's


class CardFill(TypedDict):
    """Settings that all cards can be filled with at once, a card for each."""

    name: str
    cards: list[dict[str, Any]]  # what is not as it is by default, as typed


class CardPreset(TypedDict):
    name: str
    settings: dict[str, Any]


class MetricField(TypedDict):
    """How one number of `CardMetrics` is shown."""

    name: str
    label: str
    unit: Literal["", "%"]
    digits: int
    help: str
    term: str  # the glossary's; "" for none


class CompareForm(TypedDict):
    """All that the component must know to offer cards; it never changes."""

    example: str
    fewest: int  # cards
    most: int
    parameters: list[CardField]
    fills: list[CardFill]
    presets: list[CardPreset]
    metrics: list[MetricField]


class CardValue(TypedDict):
    """One card's answer. `tokens` are those from number `since` on; earlier ones are unchanged."""

    run: str
    since: int
    tokens: list[AnswerToken]
    state: AnswerState
    note: str | None
    length: int  # the most tokens it can have
    first_difference: int | None
    metrics: list[float | None]  # in the order of the form's


class CompareRequest(TypedDict):
    """What the visitor asked for, so that a page which has just been opened shows it again."""

    text: str
    answer: bool  # whether it is a message
    history: bool  # whether the message continues the chat
    common: bool  # whether all cards use the same random numbers
    seed: int  # the one beside the text; -1 for a random one
    cards: list[dict[str, Any]]  # each card's own settings, as typed
    lengths: list[int]  # `max_new_tokens` of each, wherever it came from


class CompareValue(TypedDict):
    """What Compare shows. Its events: `compare {text, answer, history, common, cards}`, `halt`,
    `repeat {run, changes}`, `token {run, index}`, `remove {runs}`, `restore {run, index}`, `missing`, and the questions
    that a `CompareReply` answers: `panel {number}`, `file {number, kind}` and `runs {number}`, for the runs of all
    cards as JSON by their names.
    """

    run: str | None  # identifies the comparison
    busy: bool
    chats: bool  # whether the model answers messages
    history: bool  # whether there is a chat that a message could continue
    continued: str  # the end of the text that the cards continue; "" where they answer it
    seed: int  # of the first card's random numbers; -1 if no card drew any
    cards: list[CardValue]
    request: NotRequired[CompareRequest]  # where the cards are sent as a whole
    update: NotRequired[int]  # number of the page's update; an older one that arrives late is ignored


class RecordedComparison(TypedDict):
    """The example that is shown until there is a comparison; made by docs/examples.py."""

    model: str  # that wrote the texts
    text: str  # the prompt
    settings: list[dict[str, Any]]  # of each card, what is not as it is by default, as typed
    run: str
    continued: str
    cards: list[CardValue]


class SharedCard(TypedDict):
    name: list[str]  # its settings in words: what sets it apart from the other cards
    others: list[str]  # and the rest
    result: CardValue
    run: RunDocument


class SharedComparison(TypedDict):
    """The document of a shared file with a comparison; made by ui/compare/results/shared.js."""

    continued: str
    metrics: list[MetricField]
    cards: list[SharedCard]


class CompareReply(TypedDict):
    """The reply to the question of this number."""

    number: int
    settings: NotRequired[dict[str, Any]]
    file: NotRequired[tuple[list[str], str]]  # what names it, and its content
