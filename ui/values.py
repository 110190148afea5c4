"""Records in, values of the views out: pure functions that only say what is shown, and in which words.

Knows nothing of gradio's events, of threads or of how a model decodes.
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from decoding.step import Candidate, Choice, Weighed
from model.text import TextTokenizer
from ui.contract import ConversationValue, InspectorValue, MeterValue, Row, StepValue, TokenKind, Way, WeighedRow
from ui.contract import Turn as TurnValue
from ui.search import search_value
from ui.session import Run, Seen, Session, Turn
from ui.spoken import Spoken

OVERLAP = 2  # tokens sent again with every update: an update that a browser lost is healed by the next
MOST_ROWS = 6_000_000  # bytes of attention sent at once; of a longer text the newest rows

EXAMPLES = (
    "Hi! How are you today?",
    "What do you like to do on weekends?",
    "I feel a bit tired this evening.",
    "What kind of music do you like?",
)


def conversation_value(session: Session) -> ConversationValue:
    return {
        "turns": [turn_value(turn, dropped=place < session.dropped) for place, turn in enumerate(session.turns)],
        "examples": list(EXAMPLES),
        "busy": session.busy,
    }


def turn_value(turn: Turn, *, dropped: bool = False) -> TurnValue:
    return {
        "role": turn.role,
        "text": turn.text,
        "tokens": turn.tokens,
        "run": turn.run,
        "state": turn.state,
        "dropped": dropped,
        "note": turn.note,
    }


def inspector_value(
    run: Run, tokenizer: TextTokenizer, *, busy: bool, since: int = 0, selected: int | None = None
) -> InspectorValue:
    """The run from token `since` on (0: all of it), as the inspector's contract has it."""
    first = run.first
    explained = run.tokens[max(first, since) :]
    rows: list[str] = []
    size = 0
    for token in reversed(explained):
        size += len(token.row or "")
        if token.row is None or size > MOST_ROWS:
            break
        rows.append(token.row)
    rows.reverse()
    value: InspectorValue = {
        "run": run.id,
        "mode": run.mode,
        "tokens": [_token(token, tokenizer) for token in run.tokens[since:]],
        "first": first,
        "steps": [
            step_value(token.choice, tokenizer.label, token.way) for token in explained if token.choice is not None
        ],
        "layers": run.shape[0],
        "heads": run.shape[1],
        "rows": rows,
        "rows_from": len(run.tokens) - len(rows) - 1,
        "search": search_value(run.trace, tokenizer.label, since),
        "selected": selected,
        "busy": busy,
    }
    if since:
        value["since"] = since
    return value


def empty_inspector(mode: str, *, gone: str = "") -> InspectorValue:
    """
    Args:
        gone: the model of a text that is there, but not loaded any more.
    """
    return {
        "gone": gone,
        "run": None,
        "mode": "write" if mode == "write" else "chat",
        "tokens": [],
        "first": 0,
        "steps": [],
        "layers": 0,
        "heads": 0,
        "rows": [],
        "rows_from": 0,
        "search": None,
        "selected": None,
        "busy": False,
    }


def meter_value(used: int, limit: int, dropped: int = 0, *, note: str | None = None) -> MeterValue:
    text = f"{used:,} of {limit:,} tokens"
    if dropped:
        text += (
            " · the oldest message no longer fits"
            if dropped == 1
            else f" · the {dropped} oldest messages no longer fit"
        )
    if note:
        text += f" · {note}"
    return {"text": text, "share": min(1.0, used / limit)}


def answer_tokens(tokens: Sequence[Seen], spoken: Spoken, *, finished: bool) -> list[tuple[str, float]]:
    """Text and probability of every token of an answer; `spoken` knows what was told of it before."""
    spoken.tell([token.id for token in tokens])
    texts = spoken.texts(finished=finished)
    return [
        (text, short(token.choice.probability))
        for text, token in zip(texts, tokens, strict=True)
        if token.choice is not None
    ]


def step_value(choice: Choice, label: Callable[[int], str], way: Way = "chosen") -> StepValue:
    """One choice as the inspector shows it; `label` names a token id as a table does."""
    value: StepValue = {
        "stages": list(choice.stages),
        "kept": list(choice.kept),
        "mass": [short(mass) for mass in choice.mass],
        "entropy": [short(bits) for bits in choice.stage_entropy],
        "rank": choice.rank,
        "draw": choice.draw,
        "way": way,
        "rest": [short(mass) for mass in choice.rest],
        "rows": [_row(candidate, choice, label) for candidate in choice.candidates],
    }
    if choice.weighed:
        value["weighed"] = [_weighed(one, choice, label) for one in choice.weighed]
    if choice.contrast is not None:
        divergences = [(layer, short(bits)) for layer, bits in choice.contrast.divergences]
        value["contrast"] = {"layer": choice.contrast.layer, "divergences": divergences}
    return value


def attention_row(attention: Tensor) -> str:
    """One pass's attention (layers, heads, keys) as base64 of bytes.

    A byte is the square root of the weight: it spreads the small weights of a long context over the scale, and its
    error is at most 0.2 % for a weight of 25 %.
    """
    scaled = attention.float().clamp(0, 1).sqrt().mul(255).round().to(torch.uint8)
    return base64.b64encode(scaled.cpu().contiguous().numpy().tobytes()).decode("ascii")


def _token(token: Seen, tokenizer: TextTokenizer) -> tuple[str, TokenKind, float | None]:
    kind: TokenKind = "prompt" if token.given else "generated"
    if tokenizer.is_control(token.id):
        kind = "control"
    return tokenizer.label(token.id), kind, short(token.choice.probability) if token.choice is not None else None


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
    return candidate.id, label(candidate.id), chosen, [short(p) for p in probabilities], removed_by


def _weighed(one: Weighed, choice: Choice, label: Callable[[int], str]) -> WeighedRow:
    numbers = short(one.confidence), short(one.degeneration), short(one.score)
    return label(one.id), *numbers, int(one.id == choice.token)


def short(number: float) -> float:
    """Six significant digits: more than a screen shows, at a third of the bytes. Of one probability everywhere, or two
    places would round it differently."""
    return float(f"{number:.6g}")
