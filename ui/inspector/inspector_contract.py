"""Values sent to the inspector: slices of a run document, with what the page must know to draw them."""

from __future__ import annotations

from typing import Any, NotRequired, TypedDict

from decoding.run.run_document import RunDocument, SearchEntry, StepEntry
from ui.runs.runs_contract import RunMode, TokenKind


class SearchValue(TypedDict):
    """The texts that a search has followed, from step `since` on; earlier steps are unchanged."""

    first: int  # number of the token that the search's first step chose
    since: int
    steps: list[SearchEntry]


class InspectorValue(TypedDict):
    """What the inspector shows. Its events: `take {index, token}` (in Write), `branch {run, index, token}` and
    `explain {run}` (in Chat: the steps of the prompt are wanted, which cost a pass of the model), and `missing {run}`.

    While a run streams, send only what is new: with `since` = i, the tokens before i, their steps and their attention
    are unchanged since earlier values of the same run, and `ids`, `steps` and `rows` hold only the rest. Without
    `since` (or with 0) the value is complete. An overlap of a few tokens costs little and makes up for a lost update;
    if the page still finds a gap at the end of the run, it triggers `missing`: reply with the complete value. It also
    does so when a token is selected whose step or attention was left out to save bytes, or when the pointer enters a
    map that lacks rows.
    """

    run: str | None
    mode: RunMode
    ids: list[int]  # of the tokens from number `since` on, as the two columns below
    kinds: list[TokenKind]
    probabilities: list[float | None]  # the model's own; None where it is not known
    labels: dict[str, str]  # what each id in this value is called
    source: int  # how many tokens, the first ones, the encoder read; 0 where there is none
    first: int  # number of the first token that has a step
    steps: list[StepEntry]  # steps[i] explains token max(first, since) + i, or steps_from + i
    layers: int
    heads: int
    rows: list[str]  # `attention_row` of the passes whose queries are tokens rows_from, rows_from + 1, …
    rows_from: int
    search: SearchValue | None  # None where no search chose the newest tokens
    selected: NotRequired[
        int | None
    ]  # number of the token to show; None follows the newest, and absent changes nothing
    newest: NotRequired[int]  # number of the token that is followed, where it isn't the last one with a text
    busy: bool
    since: NotRequired[int]
    settings: NotRequired[dict[str, Any] | None]  # as in a run document, of the tokens from number settings_from on
    settings_from: NotRequired[int]  # a complete value has both, if they are known
    steps_from: NotRequired[int]  # where the first steps were left out, the token that steps[0] explains
    continues: NotRequired[str]  # the run that was shown before, which has the tokens before `since`, too
    prompt_steps: NotRequired[list[StepEntry]]  # prompt_steps[i] explains token first - len(prompt_steps) + i
    number: NotRequired[int]  # of the update; an older one that arrives late does not bring back another run
    file: NotRequired[str]  # the name of the file that the run was opened from
    unloaded: NotRequired[str]  # the model that wrote the text, where it is no longer loaded and there are no tokens


class OpenedRun(TypedDict):
    """The run of a file, sent instead of an `InspectorValue`, which the script makes of it."""

    run: str
    document: RunDocument
    file: str
    number: NotRequired[int]
