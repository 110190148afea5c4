"""Layers' guesses, and why one token and not another: which words, which parts, which embeddings.

Each function answers one question (`QUESTIONS` of `events.py`); `model.inspection` computes what it says.
"""

from __future__ import annotations

from dataclasses import replace

from model.errors import AttendError
from model.inspection.lens import read_layers, read_position
from ui.inspector.why.asked import Asked, Replies, short
from ui.inspector.why.why_contract import LensAnswer, LensCell, LensRow
from ui.kit.packing import significant

_ROWS, _CELLS = 128, 5_000  # of one table of guesses: more would cost the page too much
_BEST, _PINNED = 10, 3


def lens(asked: Asked) -> Replies:
    """The guesses of every layer in the places of an answer's tokens, of a long one those around the token."""
    place, middle = asked.place(), bool(asked.fields.get("middle"))
    anatomy = place.inspector.anatomy
    columns = 1 + len(anatomy.layers) * (len(anatomy.names) if middle else 1)
    size = min(_ROWS, max(1, _CELLS // columns))
    begin = max(place.run.first, len(place.source) + 1)
    first = max(begin, min(place.number - size // 2, len(place.run.tokens) - size))
    end = min(len(place.run.tokens), first + size)
    last = replace(place, number=end - 1)
    last.check_size(last.position)
    offset = len(place.source)
    with place.loaded.lock:
        read = read_layers(
            place.inspector,
            place.text[: end - offset],
            source=place.source,
            interventions=place.run.interventions,
            sublayers=middle,
        )
    rows: list[LensRow] = []
    for number in range(first, end):
        position = number - offset - 1  # which predicts the token
        rows.append(
            {
                "id": place.run.ids[number],
                "top": read.top[:, position].tolist(),
                "top_probability": short(read.top_probability[:, position].tolist()),
                "chosen": [significant(value) for value in read.chosen[:, position].tolist()],
                "decided": read.decided[position],
            }
        )
    answer: LensAnswer = {
        "columns": list(read.columns),
        "first": first - place.run.first,
        "rows": rows,
        "labels": place.labels({token for row in rows for token in (row["id"], *row["top"])}),
    }
    yield {"answer": answer}


def lens_cell(asked: Asked) -> Replies:
    """The ten best guesses of every layer in the place of one token, and how the pinned ones rise and fall."""
    place, pinned = asked.place(), asked.fields.get("pinned", [])
    if not isinstance(pinned, list) or len(pinned) > _PINNED:
        raise AttendError(f"At most {_PINNED} tokens can be pinned beside the chosen one: unpin one first.")
    ids = [place.token, *(int(token) for token in pinned if isinstance(token, int))]
    with place.loaded.lock:
        read = read_position(
            place.inspector,
            place.before,
            place.position - 1,
            source=place.source,
            interventions=place.run.interventions,
            count=_BEST,
            ids=ids,
            sublayers=bool(asked.fields.get("middle")),
        )
    answer: LensCell = {
        "columns": list(read.columns),
        "top": read.top.tolist(),
        "probabilities": [short(column) for column in read.probabilities.tolist()],
        "ids": ids,
        "curves": [short(curve) for curve in read.curves.T.tolist()],  # (ids, columns)
        "labels": place.labels({*ids, *read.top.flatten().tolist()}),
    }
    yield {"answer": answer}
