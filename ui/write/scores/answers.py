"""A text of Write as a model scores it: how surprising each token is, and the text as a whole.

`decoding.run.score` computes it; this file finds the model, reports the progress, and keeps to the page's limits.
Knows nothing of gradio.
"""

from __future__ import annotations

import math
from collections.abc import Generator, Iterator, Sequence
from contextlib import closing
from time import monotonic

from decoding.run.score import TextScore, score_windows
from decoding.run.scoring import room_and_stride
from model import names
from model.errors import AttendError
from model.loaded import LoadedModel
from ui.kit.packing import significant
from ui.kit.validation import checked_start
from ui.runs.models import Models
from ui.runs.prompts import task_of
from ui.runs.session import Session
from ui.write.scores.scores_contract import Ended, OtherModel, ScoredText, ScoresReply, ScoreWindow

MAX_TOKENS = 8_192  # of one text: the page draws each of them

Replies = Iterator[ScoresReply]  # those about its progress, and last the answer


def scored(session: Session, models: Models, text: object, name: str, turn: int) -> Replies:
    """The score of a text; if it is stopped or takes too long, that of its beginning.

    Args:
        name: of the model; "" for the visitor's own.
        turn: the visitor's; a later one ends this one before its next pass of the model.
    """
    checked = checked_start(text, "The text")
    session.scores = max(session.scores, turn)
    loaded = yield from _loaded(session, models, name, turn)
    if loaded is None:
        return
    ids = loaded.tokenizer.encode(checked, begins=True)
    if len(ids) > MAX_TOKENS:
        raise AttendError(
            f"The text has {len(ids):,} tokens, but at most {MAX_TOKENS:,} are scored here at once: score a part of "
            "it, or a file of any length with generate.py --score --file FILE."
        )
    total = len(ids) - (0 if loaded.prefix_tokens else 1)
    yield {"progress": (0, total)}  # where a page that was closed ends it
    end, score = monotonic() + models.limits.run_seconds, None
    with closing(score_windows(loaded, checked)) as passes:
        while session.scores == turn and (score is None or (len(score.choices) < total and monotonic() < end)):
            score = next(passes)
            yield {"progress": (len(score.choices), total)}
    if score is not None and not score.choices and session.scores == turn:
        raise AttendError("Other texts took all the time that a score may take: try again in a minute.")
    if score is not None and score.choices:
        ended = "" if len(score.choices) == total else "stopped" if session.scores != turn else "late"
        yield {"answer": _answer(models, loaded, checked, ids, score, ended)}


def others(models: Models, name: str) -> list[OtherModel]:
    """The models that can score the text that this one has scored, and need no download."""
    known = dict.fromkeys((*models.names, *models.in_memory()))
    return [
        {"name": other, "title": models.display_name(other)}
        for other in known
        if other != name and models.is_at_hand(other) and _continues(models, other)
    ]


def _continues(models: Models, name: str) -> bool:
    """Whether the model continues texts, as far as is known before it is loaded."""
    loaded = models.cached(name)
    return (names.task(name) if loaded is None else task_of(loaded)) != "translation"


def _loaded(session: Session, models: Models, name: str, turn: int) -> Generator[ScoresReply, None, LoadedModel | None]:
    """The model, loaded if it is not in memory; None if the visitor has stopped waiting for it."""
    loaded = models.get(models.current(session)) if not name else models.cached(name)
    if loaded is None:
        if not models.is_at_hand(name):
            raise AttendError(f"{models.display_name(name)[:80]} is not on this machine: choose it in Settings first.")
        loading = models.load(name, offered=True)
        while session.scores == turn:
            try:
                next(loading)
            except StopIteration as ended:
                loaded = ended.value
                break
            yield {"loading": models.display_name(name)}
        loading.close()
    if loaded is not None and (not isinstance(loaded, LoadedModel) or loaded.model.decoder_start):
        raise AttendError(f"{loaded.name} can't score a text: choose a model that continues texts.")
    if name:
        session.model.scoring = loaded  # the next text needs it again
    return loaded


def _answer(
    models: Models, loaded: LoadedModel, text: str, ids: Sequence[int], score: TextScore, ended: Ended
) -> ScoredText:
    label, prefix = loaded.tokenizer.label, len(loaded.prefix_tokens)
    room, stride = room_and_stride(loaded.model.context_length, prefix, len(ids))
    window: ScoreWindow = {"context": loaded.model.context_length, "before": room - stride}
    first = loaded.tokenizer.detokenizer(begins=True).push(ids[0])
    return {
        "model": loaded.name,
        "title": models.display_name(loaded.name),
        "bytes": _bytes(text),
        "skipped": None if prefix else {"text": label(ids[0]), "bytes": _bytes(first)},
        "tokens": [
            {
                "id": token["id"],
                "text": label(token["id"]),
                "bytes": _bytes(token["text"]),
                "surprise": significant(token["surprise"]),
                "rank": token["rank"],
                "entropy": significant(token["entropy"]),
            }
            for token in score.document()["tokens"]
        ],
        "total": len(ids) - (0 if prefix else 1),
        "ended": ended,
        "bits": -score.log_probability / math.log(2),
        "perplexity": score.perplexity,
        "bits_per_byte": score.bits_per_byte,
        "window": window if len(ids) > room else None,
        "others": others(models, loaded.name),
    }


def _bytes(text: str) -> int:
    return len(text.encode(errors="replace"))
