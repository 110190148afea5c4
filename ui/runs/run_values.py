"""Values that several rooms show: messages, the meter, attention as text. Pure functions; nothing of gradio."""

from __future__ import annotations

from collections.abc import Sequence

from model.inspection.naming import names_of
from ui.kit.packing import ALMOST_ALL, significant
from ui.runs.answer_text import AnswerText
from ui.runs.run import RunRecord, TokenRecord
from ui.runs.runs_contract import AnswerToken, MeterValue, TurnValue
from ui.runs.versions.conversation import Turn

MAX_NAMED = 4  # parts of the model, under an answer that was written without them
OVERLAP = 2  # tokens sent again with every update: an update that a browser lost is healed by the next
MAX_ROWS = 6_000_000  # bytes of attention sent at once; of a longer text the newest rows


def turn_value(
    turn: Turn, run: RunRecord | None = None, *, dropped: bool = False, versions: tuple[int, int] = (0, 1)
) -> TurnValue:
    version, tokens = turn.version, turn.tokens  # in this order: another thread may be lengthening it
    value: TurnValue = {
        "role": turn.role,
        "text": turn.text if tokens is None else "".join(token["text"] for token in tokens),
        "tokens": tokens,
        "run": turn.run,
        "state": turn.state,
        "dropped": dropped,
        "note": turn.note,
        "model": turn.model,
        "unfinished": turn.unfinished,
        "version": version,
        "versions": versions,
    }
    if run is not None and run.interventions:
        value["without"] = _switched_off(run)
    return value


def _switched_off(run: RunRecord) -> str:
    """The names of the first parts, and how many more there are."""
    listed, more = run.interventions[:MAX_NAMED], len(run.interventions) - MAX_NAMED
    return names_of(listed) + (f" and {more} more" if more > 0 else "")


def meter_value(used: int, limit: int, dropped: int = 0, *, answered: int = 0, note: str | None = None) -> MeterValue:
    oldest = "the oldest message no longer fits" if dropped == 1 else f"the {dropped} oldest messages no longer fit"
    notes = [*([oldest] if dropped else []), *([note] if note else [])]
    used = min(used, limit)  # the last token of a full context is never read
    return {"used": used, "limit": limit, "answered": answered, "note": " · ".join(notes)}


def answer_tokens(tokens: Sequence[TokenRecord], text: AnswerText, *, finished: bool) -> list[AnswerToken]:
    """Every token of an answer; `text` is that of its tokens before."""
    text.update([token.id for token in tokens])
    texts = text.texts(finished=finished)
    settled = len(texts) if finished else max((at for at, piece in enumerate(texts) if piece), default=0)
    answer: list[AnswerToken] = []
    for at, (piece, token) in enumerate(zip(texts, tokens, strict=True)):
        if token.choice is not None:
            probability = short_share(token.choice.probability, token.choice.kept[0])
            answer.append({"text": piece, "probability": probability})
            if at < settled and not piece:  # it stays without a text of its own, whatever follows
                answer[-1]["label"] = text.label(token.id)
    return answer


def short(number: float) -> float:
    """Six significant digits: more than a screen shows, at a third of the bytes. Use it for every copy of a number, so
    that none is rounded differently."""
    return significant(number)


def short_share(p: float, among: int) -> float:
    """A probability, `short`; below 1 if there are several tokens, though a float rounds 1 − 10⁻²⁰ to 1."""
    return ALMOST_ALL if p >= 1 and among > 1 else short(p)
