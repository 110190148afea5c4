"""What the page's scripts are told: the types of every component's values, which hold numbers and plain texts alone.

The scripts (ui/views/*.js) declare the same for themselves. The values are made in `ui/values.py`, `ui/search.py` and
`ui/compare_values.py`; the components that take them are in `ui/views.py`.
"""

from __future__ import annotations

from typing import Any, Literal, NotRequired, TypedDict

TokenKind = Literal["control", "prompt", "generated"]
Way = Literal["chosen", "given", "taken", "search"]  # by the numbers, by a person's text, by hand, by a search of texts
WeighedRow = tuple[str, float, float, float, int]  # text, confidence, degeneration, score, 1 if taken
Row = tuple[int, str, int, list[float], str | None]  # id, text, 1 if chosen, probability a stage, what removed it


class MeterValue(TypedDict):
    """How full the context is."""

    text: str
    share: float  # 0 to 1


class MoveValue(TypedDict):
    """Where the switch is to go, for `move.js`."""

    number: int  # from 1; none is done twice
    stood: str  # where it stood when this was asked for
    to: str
    entries: list[str]


class Turn(TypedDict):
    """One message. `tokens` concatenate to `text`; a piece of a character held back has the text ""."""

    role: Literal["user", "assistant"]
    text: str
    tokens: list[tuple[str, float]] | None  # text and the model's probability, of an answer; None shows plain text
    run: str | None  # the run that the inspector shows when a token is clicked
    state: Literal["done", "streaming", "stopped"]
    dropped: bool  # no longer in the context
    note: str | None  # such as "reached the length limit"


class ConversationValue(TypedDict):
    """What the conversation shows. Its events: `token {turn, index}` (the inspector shows another run, or none),
    `retry {turn}`, `undo {turn}`, `edit {turn, text}`, `example {text}`."""

    turns: list[Turn]
    examples: list[str]  # offered while there are no turns
    busy: bool  # a run is going on: nothing can be retried, undone or edited


class TranslationValue(TypedDict):
    """What Translate shows of what was written. Its events: `token {index}` (the inspector shows another run, or none),
    `example {text}`."""

    answer: Turn | None
    examples: list[str]  # offered while there is no answer
    busy: bool


class HeadsValue(TypedDict):
    """The attention of all layers and heads over one pair of texts."""

    layers: int
    heads: int
    rows: list[str]  # `ui.values.attention_row` of every query


class AlignmentValue(TypedDict):
    """Where a finished translation's model looked; made by `ui.alignment.alignment_value`."""

    run: str
    said: str  # why there are no maps; "" where there are
    source: list[str]  # the tokens that the encoder read
    text: list[str]  # those of the decoder, what its text begins with included
    first: int  # the number in `text` of the first one that was chosen
    controls: list[bool]  # whether each source token is a control token
    encoder: HeadsValue | None  # queries and keys are the source's tokens
    decoder: HeadsValue | None  # query i chose token first + i of `text`, and looked at those before it
    cross: HeadsValue | None  # the same queries; the keys are the source's tokens


class LessonValue(TypedDict):
    """What a chapter of the lesson answered; made by `ui.lessons.answer`. The lesson's event: `ask {chapter, number,
    given}`."""

    chapter: str
    number: int  # of the question
    said: str  # why what was asked for cannot be shown; "" where it can
    result: dict[str, Any] | None  # as the chapter's own file says; None leaves what is shown


class ContrastValue(TypedDict):
    """Which layer the last one was contrasted with."""

    layer: int  # 0 is the embeddings
    divergences: list[tuple[int, float]]  # of each layer looked at, in bits from the last


class StepValue(TypedDict):
    """What one token was chosen from; made by `ui.values.step_value`."""

    stages: list[str]
    kept: list[int]
    mass: list[float]  # one a stage, as `kept` and `entropy`
    entropy: list[float]  # bits
    rank: int
    draw: float | None
    way: Way  # how the token came to stand there
    rest: list[float]
    rows: list[Row]
    weighed: NotRequired[list[WeighedRow]]  # under contrastive search
    contrast: NotRequired[ContrastValue]  # under dola


# Newest token, its score, the sum, the model's own sum, parent, and what it is ranked by once it has ended.
Beam = tuple[str, float, float, float, int, float | None]

Fate = tuple[int, int, str, float | None, float | None]  # step, place, a `DropReason`, its score, what it had to beat


class SearchValue(TypedDict):
    """The texts that a search has followed; made by `ui.search.search_value`."""

    first: int  # number of the token that the search's first step chose
    since: int  # the step that `steps` begins with; those before it stand as they were
    steps: list[list[Beam]]  # a parent is a place in the step before
    dropped: list[Fate]  # in those steps; of texts of the step before, or of any that ended earlier
    lead: (
        tuple[int, int] | None
    )  # the step and the place of the best text: the one that is shown, and in the end returned
    over: bool
    returned: list[tuple[int, int]]  # the same of all texts that are returned, best first; none before it is over


class InspectorValue(TypedDict):
    """What the inspector shows. Its events: `take {index, id}` (Write only) and `missing {run}`.

    While a run streams, send only what is new: with `since` = i, all tokens before i, and their steps and attention,
    stand as they were in earlier values of the same run, and `tokens`, `steps` and `rows` hold only what comes after.
    Without `since` (or with 0) the value is the whole. An overlap of a few tokens costs nothing and heals a lost
    update; should the page still find a gap when the run is over, it triggers `missing`: answer with the whole.
    """

    run: str | None
    mode: Literal["chat", "write", "translate"]
    tokens: list[tuple[str, TokenKind, float | None]]  # text, kind, the model's probability; from number `since`
    first: int  # number of the first token that has a step
    steps: list[StepValue]  # steps[i] explains token max(first, since) + i
    layers: int
    heads: int
    rows: list[str]  # `ui.values.attention_row` of the passes whose queries are tokens rows_from, rows_from + 1, …
    rows_from: int
    search: SearchValue | None  # None where no search chose the newest tokens
    selected: int | None  # number of the token to show; None follows the newest
    busy: bool
    since: NotRequired[int]
    gone: NotRequired[str]  # where there are no tokens: whose text stands there, if that model is no longer loaded


class LanguagesValue(TypedDict):
    """What a translator can be told, and is; none of others. Its event: `translate {source, target}`."""

    sources: list[str]  # codes; none where a source needs no language
    targets: list[str]
    source: str
    target: str  # "" where the model chooses


class ModelValue(TypedDict):
    """Which model is chosen, and what there is to say about it."""

    name: str
    choices: list[tuple[str, str]]  # words and name of every model that can be chosen
    title: str  # what is being done; "" where nothing is
    said: str  # how far that is
    share: float | None  # of the download that is here; None where that is not known or is no matter
    notes: list[str]  # sentences about how the model was loaded
    line: str  # what the page is for with it
    empties: bool  # whether the box for another model's name is to be emptied, since that model is there
    context: int  # how many tokens the model that writes reads at once
    way: str  # of `ui.ways.WAYS`: how its tokens are chosen as long as nobody has said
    languages: LanguagesValue  # of the model that is in use


class PromptValue(TypedDict):
    """How conversations are written for the model."""

    manner: str  # "" for a model that knows none
    of: str  # whose prompt is shown
    parts: list[tuple[str, bool]]  # the prompt's texts, and whether each is a control token


class CardValue(TypedDict):
    """One card's answer. `tokens` are those from number `since` on; the ones before it stand as they were."""

    run: str
    since: int
    tokens: list[tuple[str, float]]  # text and the model's probability
    state: Literal["streaming", "done", "stopped"]
    note: str | None
    length: int  # the most tokens it can have
    first_difference: int | None
    figures: list[float | None]  # in the order of the form's


class CompareValue(TypedDict):
    """What Compare shows. Its events: `compare {text, answer, history, common, cards}`, `halt`,
    `token {run, index}`, `remove {runs}`, `missing`, and the questions that an `Answer` replies to: `panel {number}`,
    `file {number, kind}`.
    """

    run: str | None  # another name is another comparison, whose cards take the places of those asked for
    busy: bool
    chats: bool  # whether the model answers messages
    history: bool  # whether there is a chat that a message could go on from
    cards: list[CardValue]


class Answer(TypedDict):
    """The reply to the question of this number."""

    number: int
    settings: NotRequired[dict[str, Any]]
    file: NotRequired[tuple[str, str]]  # name and content


class WhatIfForm(TypedDict):
    """What of the settings can be varied; it never changes."""

    controls: list[dict[str, Any]]  # name, label, help, minimum, maximum, step, neutral
    quick: list[float]  # temperatures that are one press away


class WhatIfValue(TypedDict):
    """What other settings would have made of a run."""

    run: str
    sentence: str  # goes on with the first token that differs, where one does
    settings: dict[str, Any]  # those that were asked; empty where the run cannot be asked, and the sentence says why
    own: dict[str, Any]  # those of the run
    first: int  # the number, among the inspector's explained tokens, of the first one here
    tokens: list[tuple[str, str | None, float]]  # text, the one taken instead, probability of what is taken
    first_difference: int | None


class RecordReply(TypedDict):
    """What the record is told. Its events: `save {number, run}` and `change_settings {number, run, settings}`, which
    are replied to under their number (with nothing more where they were refused), and `open_file {text}`."""

    number: int
    file: NotRequired[tuple[str, str]]  # name and content
    whatif: NotRequired[WhatIfValue]


class ReadingValue(TypedDict):
    """A text as an encoder reads it."""

    tokens: list[tuple[str, TokenKind, None]]
    layers: int
    heads: int
    rows: list[str]  # `ui.values.attention_row` of every token, over all tokens


class WordsValue(TypedDict):
    """One word in several sentences, and how alike its vectors are."""

    word: str
    layer: str  # its name
    sentences: list[tuple[str, str, str]]  # each before, at and behind the word
    pieces: list[list[str]]  # the tokens of the word in each sentence
    vectors: list[list[float]]
    cosines: list[list[float]]  # of each to each


class InspectionValue(TypedDict):
    """An encoder, and what it makes of the examples."""

    about: str  # why it cannot generate, and what there is instead
    layers: list[tuple[str, int]]  # their names and numbers; the last is chosen
    reading: ReadingValue
    words: WordsValue
