"""Records in, values of the two views out: pure functions that only say what is shown, and in which words.

Knows nothing of gradio's events, of threads or of how a model decodes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypedDict

from decoding.declared import BEAM
from decoding.stop import before_stop, certain
from model.text import TextTokenizer
from ui import views
from ui.search import search_value
from ui.session import Run, Seen, Session
from ui.views import ConversationValue, InspectorValue, TokenKind, Way

MOST_ROWS = 6_000_000  # bytes of attention sent at once; of a longer text the newest rows

EXAMPLES = (
    "Hi! How are you today?",
    "What do you like to do on weekends?",
    "I feel a bit tired this evening.",
    "What kind of music do you like?",
)


class MeterValue(TypedDict):
    """How full the context is."""

    text: str
    share: float  # 0 to 1


def conversation_value(session: Session) -> ConversationValue:
    return {
        "turns": [
            {
                "role": turn.role,
                "text": turn.text,
                "tokens": turn.tokens,
                "run": turn.run,
                "state": turn.state,
                "dropped": place < session.dropped,
                "note": turn.note,
            }
            for place, turn in enumerate(session.turns)
        ],
        "examples": list(EXAMPLES),
        "busy": session.busy,
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
            views.step_value(token.choice, tokenizer.label, _way(token))
            for token in explained
            if token.choice is not None
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


def empty_inspector(mode: str) -> InspectorValue:
    return {
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


def answer_tokens(
    tokens: Sequence[Seen], tokenizer: TextTokenizer, stop_texts: Sequence[str], *, finished: bool
) -> list[tuple[str, float]]:
    """Text and probability of every token; "" for bytes of an unfinished character until it is whole, for what belongs
    to a stop text or comes after it and, as long as the answer grows, for what may yet become one."""
    stream = tokenizer.stream()
    shown = [(stream.push(token.id), token.choice.probability) for token in tokens if token.choice is not None]
    rest = stream.finish() if finished else ""
    if rest and shown:
        text, probability = shown[-1]
        shown[-1] = (text + rest, probability)
    whole = "".join(text for text, _ in shown)
    left = len(before_stop(whole, stop_texts) if finished else certain(whole, stop_texts))
    cut = []
    for text, probability in shown:
        cut.append((text[:left], probability))
        left -= len(cut[-1][0])
    return cut


def _way(token: Seen) -> Way:
    if token.given or token.strategy is None:
        return "given" if token.given else "taken"
    return "search" if token.strategy in BEAM else "chosen"


def _token(token: Seen, tokenizer: TextTokenizer) -> tuple[str, TokenKind, float | None]:
    kind: TokenKind = "prompt" if token.given else "generated"
    if tokenizer.is_control(token.id):
        kind = "control"
    return tokenizer.label(token.id), kind, token.choice.probability if token.choice is not None else None
