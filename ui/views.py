"""What people look at: the conversation, the inspector, the comparison, a run's record; and the values they show.

Each is one `gr.HTML` whose script (ui/views/*.js) draws with `textContent` alone, so a token is text and never markup.
The typed dictionaries below are the contract with the page, the functions build their parts from decoding's records.
This file knows nothing of sessions, handlers, models or tokenizers.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Literal, NotRequired, TypedDict

import gradio as gr
import torch
from torch import Tensor

from decoding.step import Candidate, Choice, Weighed

FOLDER = Path(__file__).parent / "views"
SCRIPTS = {
    "conversation": ("answer", "conversation"),  # each may use those before it
    "inspector": (
        *("tokens", "step", "table", "contrast", "why", "stages"),
        *("attention", "axis", "map", "look"),
        *("search", "tree", "beams"),
        *("data", "inspector"),
    ),
    "record": ("whatif", "record"),
    "compare": ("answer", "figures", "form", "card", "compare"),
}
STYLES = {
    "conversation": ("answer", "conversation"),
    "inspector": ("inspector", "step", "plots", "beams"),
    "record": ("record",),
    "compare": ("answer", "compare"),
}

TokenKind = Literal["control", "prompt", "generated"]
Way = Literal["chosen", "given", "taken", "search"]  # by the numbers, by a person's text, by hand, by a search of texts
WeighedRow = tuple[str, float, float, float, int]  # text, confidence, degeneration, score, 1 if taken
Row = tuple[int, str, int, list[float], str | None]  # id, text, 1 if chosen, probability a stage, what removed it


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


class ContrastValue(TypedDict):
    """Which layer the last one was contrasted with."""

    layer: int  # 0 is the embeddings
    divergences: list[tuple[int, float]]  # of each layer looked at, in bits from the last


class StepValue(TypedDict):
    """What one token was chosen from; made by `step_value`."""

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


Beam = tuple[str, float, float, float, int, int]  # newest token, its score, the sum, the model's own sum, parent, ended


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


class InspectorValue(TypedDict):
    """What the inspector shows. Its events: `take {index, id}` (Write only) and `missing {run}`.

    While a run streams, send only what is new: with `since` = i, all tokens before i, and their steps and attention,
    stand as they were in earlier values of the same run, and `tokens`, `steps` and `rows` hold only what comes after.
    Without `since` (or with 0) the value is the whole. An overlap of a few tokens costs nothing and heals a lost
    update; should the page still find a gap when the run is over, it triggers `missing`: answer with the whole.
    """

    run: str | None
    mode: Literal["chat", "write"]
    tokens: list[tuple[str, TokenKind, float | None]]  # text, kind, the model's probability; from number `since`
    first: int  # number of the first token that has a step
    steps: list[StepValue]  # steps[i] explains token max(first, since) + i
    layers: int
    heads: int
    rows: list[str]  # `attention_row` of the passes whose queries are tokens rows_from, rows_from + 1, …
    rows_from: int
    search: SearchValue | None  # None where no search chose the newest tokens
    selected: int | None  # number of the token to show; None follows the newest
    busy: bool
    since: NotRequired[int]


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
    """What Compare shows. Its events: `compare {text, answer, common, cards}`, `halt`, `token {run, index}`,
    `remove {runs}`, `missing`, and the questions that an `Answer` replies to: `panel {number}`, `file {number, kind}`.
    """

    run: str | None  # another name is another comparison, whose cards take the places of those asked for
    busy: bool
    chats: bool  # whether the model answers messages
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


def step_value(choice: Choice, label: Callable[[int], str], way: Way = "chosen") -> StepValue:
    """One choice as the inspector shows it; `label` names a token id as a table does."""
    value: StepValue = {
        "stages": list(choice.stages),
        "kept": list(choice.kept),
        "mass": [_short(mass) for mass in choice.mass],
        "entropy": [_short(bits) for bits in choice.stage_entropy],
        "rank": choice.rank,
        "draw": choice.draw,
        "way": way,
        "rest": [_short(mass) for mass in choice.rest],
        "rows": [_row(candidate, choice, label) for candidate in choice.candidates],
    }
    if choice.weighed:
        value["weighed"] = [_weighed(one, choice, label) for one in choice.weighed]
    if choice.contrast is not None:
        divergences = [(layer, _short(bits)) for layer, bits in choice.contrast.divergences]
        value["contrast"] = {"layer": choice.contrast.layer, "divergences": divergences}
    return value


def attention_row(attention: Tensor) -> str:
    """One pass's attention (layers, heads, keys) as base64 of bytes.

    A byte is the square root of the weight: it spreads the small weights of a long context over the scale, and its
    error is at most 0.2 % for a weight of 25 %.
    """
    scaled = attention.float().clamp(0, 1).sqrt().mul(255).round().to(torch.uint8)
    return base64.b64encode(scaled.cpu().contiguous().numpy().tobytes()).decode("ascii")


def conversation() -> gr.HTML:
    """The conversation; its value is a `ConversationValue`."""
    return _component("conversation")


def inspector() -> gr.HTML:
    """The tokens, the table and the attention map; its value is an `InspectorValue`."""
    return _component("inspector")


def comparison(form: Mapping[str, Any]) -> gr.HTML:
    """Cards of settings and their texts; its values are a `CompareValue` or an `Answer`, its form never changes."""
    return _component("compare", visible="hidden", form=_pack(form))


def record(form: Mapping[str, Any]) -> gr.HTML:
    """What can be done with the run that is shown; its values are `RecordReply`s, its form is a `WhatIfForm`."""
    return _component("record", form=_pack(form))


def _row(candidate: Candidate, choice: Choice, label: Callable[[int], str]) -> Row:
    probabilities = candidate.probabilities
    removed_by = next(
        (
            choice.stages[i]
            for i in range(1, len(probabilities))
            # a stage that keeps as many as before removed nothing: its 0 is a number too small to write
            if probabilities[i] == 0 < probabilities[i - 1] and choice.kept[i] < choice.kept[i - 1]
        ),
        None,
    )
    chosen = int(candidate.id == choice.token)
    return candidate.id, label(candidate.id), chosen, [_short(p) for p in probabilities], removed_by


def _weighed(one: Weighed, choice: Choice, label: Callable[[int], str]) -> WeighedRow:
    numbers = _short(one.confidence), _short(one.degeneration), _short(one.score)
    return label(one.id), *numbers, int(one.id == choice.token)


def _short(number: float) -> float:
    """Six significant digits: more than a screen shows, at a third of the bytes."""
    return float(f"{number:.6g}")


def _component(name: str, *, visible: bool | Literal["hidden"] = True, **props: str) -> gr.HTML:
    """Its style goes through `head`: `launch(css=…)` drops container queries and rewrites selectors wrongly."""
    style = "\n".join(_read(f"{part}.css") for part in ("shared", *STYLES[name]))
    return gr.HTML(
        html_template=f'<div class="attend-{name} at-view"></div>',
        js_on_load="\n".join(_read(f"{script}.js") for script in ("shared", *SCRIPTS[name])),
        head=f"<style>{style}</style>",
        apply_default_css=False,  # Gradio's prose styles are made for articles
        padding=False,
        elem_id=f"attend-{name}",
        visible=visible,
        **props,  # pyright: ignore[reportArgumentType]
    )


def packed_conversation(value: ConversationValue) -> dict[str, Any]:
    """What a handler returns for the conversation: every turn as one string.

    Gradio's page compares, copies and watches each list and number of a value, six times an update, which took longer
    than drawing; and a streamed token sends its own turn again, no other.
    """
    return {**value, "turns": [_pack(turn) for turn in value["turns"]]}


def packed_comparison(value: CompareValue | Answer) -> str:
    """What a handler returns for the comparison: one string, for the same reason."""
    return _pack(value)


def packed_inspector(value: InspectorValue) -> str:
    """What a handler returns for the inspector: one string, for the same reason.

    Handlers pack, not the components' `postprocess`: Gradio builds a component anew from its class for a session in
    which it was once skipped, and its differ mends nested lists wrongly, so the page showed tables of other tokens.
    """
    return _pack(value)


def packed_record(value: RecordReply) -> str:
    """What a handler returns for the record: one string, for the same reason."""
    return _pack(value)


def _pack(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"))


def _read(name: str) -> str:
    return (FOLDER / name).read_text(encoding="utf-8")
