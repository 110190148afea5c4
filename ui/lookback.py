"""Explaining a text that is already there: what the model would have said at every place, and where it looked.

One pass of `model.inspect` over the whole text, made into the same records as a run that was decoded. It holds the
model's lock for that pass; the file knows nothing of sessions or of the screen.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import replace

import torch
from torch import Tensor

from decoding.recorder import record
from model.interface import Inspection, LanguageModel
from ui.session import Run, Seen
from ui.values import attention_row

_AT_ONCE = 64  # rows of logits turned into float64 together, so that a large vocabulary does not fill the memory


def explain(
    ids: Sequence[int], model: LanguageModel, lock: threading.Lock, *, candidates: int
) -> tuple[list[Seen], tuple[int, int]]:
    """Every token of a text as one that was given, all but the first with what the model thought of it.

    Returns:
        The tokens, and how many layers and heads their attention has.
    """
    seen = [Seen(ids[0], "given")]
    if len(ids) == 1:
        return seen, (0, 0)
    inspection = _inspect(ids, model, lock)
    for start in range(0, len(ids) - 1, _AT_ONCE):
        rows = inspection.logits[start : start + _AT_ONCE].cpu()  # (rows, V)
        for place, recording in enumerate(record(("model",), (rows,), candidates), start=start + 1):
            choice = recording.choice(ids[place])
            seen.append(Seen(ids[place], "given", choice=choice, row=_row(inspection, place)))
    return seen, shape_of(inspection.attention.decoder[0])


def shape_of(attention: Tensor) -> tuple[int, int]:
    """Layers and heads of weights (layers, heads, …)."""
    return attention.shape[0], attention.shape[1]


def restore_attention(run: Run, model: LanguageModel, lock: threading.Lock) -> None:
    """Give a run back the attention that was let go."""
    if all(token.row is not None for token in run.tokens[run.first :]):
        return
    source = run.trace.request.source if run.trace is not None else ()
    inspection = _inspect(run.ids[len(source) :], model, lock, source)
    run.tokens = [
        token if token.choice is None else replace(token, row=_row(inspection, place))
        for place, token in enumerate(run.tokens, start=-len(source))
    ]


def _inspect(ids: Sequence[int], model: LanguageModel, lock: threading.Lock, source: Sequence[int] = ()) -> Inspection:
    with lock:
        return model.inspect(ids[:-1], source=source)  # nothing is asked of what would follow the last token


def _row(inspection: Inspection, place: int) -> str:
    """The attention of the pass that led to the token at `place`: its query is the token before it."""
    weights = inspection.attention.decoder[0, :, :, place - 1, :place]  # (layers, heads, keys)
    if inspection.attention.cross is not None:
        weights = torch.cat((inspection.attention.cross[0, :, :, place - 1], weights), dim=-1)  # the source comes first
    return attention_row(weights)
