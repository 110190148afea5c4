"""Attention as it is sent to the page, and explanations of texts that were not generated here.

A given text is explained by one pass of `model.inspect`, under the model's lock, as the same records that decoding
leaves. Knows nothing of sessions or of the screen.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import torch
from torch import Tensor

from decoding.recorder import record_text
from decoding.run.scoring import Slot, score
from decoding.step import Choice
from model.inspection.inspector import under
from model.interface import Inspection, LanguageModel
from model.loaded import FairLock, LoadedModel
from ui.kit.packing import packed_bytes
from ui.runs.run import RunRecord, TokenRecord

_MAX_WEIGHTS = 1 << 28  # of the attention of a whole text: 1 GB, and as much again while the layers are stacked
_SHORT = 256  # tokens whose attention fits whatever the model, unless it has more than 4,096 heads


def attention_row(attention: Tensor) -> str:
    """One pass's attention (layers, heads, keys) as base64 of bytes.

    A byte is the square root of the weight: it spreads the small weights of a long context over the scale, and its
    error is at most 0.2 % for a weight of 25 %.
    """
    return packed_bytes(attention.float().clamp(0, 1).sqrt().mul(255).round().to(torch.uint8))


def explain(
    ids: Sequence[int],
    model: LanguageModel,
    lock: FairLock,
    *,
    candidates: int,
    known: Sequence[TokenRecord] = (),
    slot: Slot | None = None,
) -> tuple[list[TokenRecord], tuple[int, int]]:
    """The tokens of a given text, all but the first with the candidates that the model would have chosen from.

    A text whose attention would take too much memory gets none, and is read in pieces.

    Args:
        known: the first tokens of the text, as they were explained before; they are taken over.
        slot: what a long text waits for, since it keeps much while it is read.

    Returns:
        The tokens, and how many layers and heads their attention has: 0 and 0 if there is none.
    """
    before = [*known] or [TokenRecord(ids[0], "given")]
    if len(ids) == 1:
        return before, (0, 0)
    if not _fits(ids, model, lock):
        pieces = score(model, ids, scored=len(before), top_candidates=candidates, lock=lock, slot=slot)
        return [*before, *(TokenRecord(one.token, "given", choice=one) for piece in pieces for one in piece)], (0, 0)
    inspection = _inspect(ids, model, lock)
    choices = record_text(ids[len(before) :], inspection.logits[len(before) - 1 :], candidates)
    explained = (
        TokenRecord(choice.token, "given", choice=choice, row=_row(inspection, position))
        for position, choice in enumerate(choices, start=len(before))
    )
    return [*before, *explained], shape_of(inspection.attention.decoder[0])


def prompt_choices(run: RunRecord, loaded: LoadedModel, *, candidates: int) -> list[Choice]:
    """The decoder's prompt as the model saw it: all its tokens but the first as choices."""
    ids, model = run.ids[len(run.source) : run.first], under(loaded.model, run.interventions)
    if len(ids) < 2:
        return []
    if run.source:  # these few tokens begin every answer
        return record_text(ids[1:], _inspect(ids, model, loaded.lock, run.source).logits, candidates)
    pieces = score(model, ids, scored=1, top_candidates=candidates, lock=loaded.lock, slot=loaded.scoring)
    return [choice for piece in pieces for choice in piece]


def shape_of(attention: Tensor) -> tuple[int, int]:
    """Layers and heads of weights (layers, heads, …)."""
    return attention.shape[0], attention.shape[1]


def restore_attention(run: RunRecord, model: LanguageModel, lock: FairLock) -> None:
    """Compute a run's attention again after it was dropped to save memory, unless it would take too much of it."""
    ids = run.ids[len(run.source) :]
    is_whole = all(token.row is not None for token in run.tokens[run.first :])
    if is_whole or 0 in run.shape or not _fits(ids, model, lock, run.source):  # (0, 0): it never had any
        return
    inspection = _inspect(ids, under(model, run.interventions), lock, run.source)
    run.shape = shape_of(inspection.attention.decoder[0])
    run.tokens = [
        token if token.choice is None else replace(token, row=_row(inspection, index))
        for index, token in enumerate(run.tokens, start=-len(run.source))
    ]


def _fits(ids: Sequence[int], model: LanguageModel, lock: FairLock, source: Sequence[int] = ()) -> bool:
    """Whether the attention of a whole text may be computed at once. For a long one, the model itself says how many
    layers and heads it has: what a browser sent may be wrong."""
    tokens = len(source) + len(ids)
    if tokens <= _SHORT:
        return True
    layers, heads = shape_of(_inspect(ids[:2], model, lock, source[:1]).attention.decoder[0])
    return layers * heads * tokens**2 <= _MAX_WEIGHTS


def _inspect(ids: Sequence[int], model: LanguageModel, lock: FairLock, source: Sequence[int] = ()) -> Inspection:
    with lock:
        return model.inspect(ids[:-1], source=source)  # the pass that reads the last token chose nothing


def _row(inspection: Inspection, position: int) -> str:
    """The attention of the pass that chose the token at `position`: its query is the token before it."""
    weights = inspection.attention.decoder[0, :, :, position - 1, :position]  # (layers, heads, keys)
    if inspection.attention.cross is not None:
        weights = torch.cat(
            (inspection.attention.cross[0, :, :, position - 1], weights), dim=-1
        )  # the source comes first
    return attention_row(weights)
