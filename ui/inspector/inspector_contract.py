"""Values sent to the inspector; made by `ui/inspector/values.py` and `ui/inspector/beams/search.py`."""

from __future__ import annotations

from typing import NotRequired, TypedDict

from ui.runs.runs_contract import RunMode, TokenKind, TokenOrigin

ContrastiveRow = tuple[str, float, float, float, int]  # text, confidence, degeneration, score, 1 if taken
# Id, text, 1 if chosen, probability after each stage, the stage that removed it.
CandidateRow = tuple[int, str, int, list[float], str | None]


class ContrastValue(TypedDict):
    """Which layer the last one was contrasted with."""

    layer: int  # 0 is the embeddings
    divergences: list[tuple[int, float]]  # of each layer looked at, in bits from the last


class StepValue(TypedDict):
    """What one token was chosen from; made by `ui.inspector.values.step_value`."""

    stages: list[str]
    kept: list[int]
    mass: list[float]  # one a stage, as `kept` and `entropy`
    entropy: list[float]  # bits
    rank: int
    draw: float | None
    origin: TokenOrigin  # where the token comes from
    rest: list[float]
    rows: list[CandidateRow]
    contrastive: NotRequired[list[ContrastiveRow]]  # under contrastive search
    contrast: NotRequired[ContrastValue]  # under dola


# Newest token, its score, the sum, the model's own sum, parent, and the final score once it has ended.
BeamRecord = tuple[str, float, float, float, int, float | None]

# Step, index, a `DropReason`, its score, what it had to beat.
DropRecord = tuple[int, int, str, float | None, float | None]


class SearchValue(TypedDict):
    """The texts that a search has followed; made by `ui.inspector.beams.search.search_value`."""

    first: int  # number of the token that the search's first step chose
    since: int  # the step that `steps` begins with; earlier ones are unchanged
    steps: list[list[BeamRecord]]  # a parent is an index into the step before
    dropped: list[DropRecord]  # in those steps; of texts of the step before, or of any that ended earlier
    best: tuple[int, int] | None  # step and index of the best text, which is shown and in the end returned
    over: bool
    returned: list[tuple[int, int]]  # the same of all texts that are returned, best first; none before it is over


class InspectorValue(TypedDict):
    """What the inspector shows. Its events: `take {index, id}` (in Write), `branch {run, index, id}` and
    `explain {run}` (in Chat: the steps of the prompt are wanted, which cost a pass of the model), and `missing {run}`.

    While a run streams, send only what is new: with `since` = i, the tokens before i, their steps and their attention
    are unchanged since earlier values of the same run, and `tokens`, `steps` and `rows` hold only the rest. Without
    `since` (or with 0) the value is complete. An overlap of a few tokens costs little and makes up for a lost update;
    if the page still finds a gap at the end of the run, it triggers `missing`: reply with the complete value. So it
    does where a token is selected whose step or attention was left out, to save bytes, and where the map is pointed at
    that lacks rows.
    """

    run: str | None
    mode: RunMode
    tokens: list[tuple[str, TokenKind, float | None]]  # text, kind, the model's probability; from number `since`
    source: int  # how many tokens, the first ones, the encoder read; 0 where there is none
    first: int  # number of the first token that has a step
    steps: list[StepValue]  # steps[i] explains token max(first, since) + i, or steps_from + i
    layers: int
    heads: int
    rows: list[str]  # `attention_row` of the passes whose queries are tokens rows_from, rows_from + 1, …
    rows_from: int
    search: SearchValue | None  # None where no search chose the newest tokens
    selected: NotRequired[
        int | None
    ]  # number of the token to show; None follows the newest, and absent changes nothing
    busy: bool
    since: NotRequired[int]
    steps_from: NotRequired[int]  # where the first steps were left out, the token that steps[0] explains
    continues: NotRequired[str]  # the run that was shown before, which has the tokens before `since`, too
    prompt_steps: NotRequired[list[StepValue]]  # prompt_steps[i] explains token first - len(prompt_steps) + i
    number: NotRequired[int]  # of the update; an older one that arrives late does not bring back another run
    file: NotRequired[str]  # the name of the file that the run was opened from
    unloaded: NotRequired[str]  # the model that wrote the text, where it is no longer loaded and there are no tokens
