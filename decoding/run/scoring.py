"""How probable a given text is to a model, token by token; a text longer than the context is read in windows.

All numbers are the model's own, before every filter. The windows overlap, as in transformers' guide to perplexity: each
token is scored once, with as much before it as its window has.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from contextlib import AbstractContextManager, closing, nullcontext
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, TypedDict, Unpack

from decoding.recorder import record_text
from decoding.step import Choice
from model.interface import ExtendsPrefix, LanguageModel, ScoresTogether
from model.lazy import torch

if TYPE_CHECKING:
    from torch import Tensor

_MAX_LOGITS = 2**26  # of the logits of one pass: 256 MB
_TOGETHER = 512  # tokens of several texts in one pass, padding included
_PIECE = 256  # tokens of a pass over a cache: few enough for Stop and for other runs, enough for fast products
_WAITING = 0.5  # seconds after which a text that waits for its slot yields an empty piece


class Slot(Protocol):
    """One of a few slots for long texts."""

    def acquiring(self, seconds: float) -> Generator[None, None, None]:
        """Wait for it, and yield every so many seconds until it is held."""
        ...

    def release(self) -> None: ...


class Reading(TypedDict, total=False):
    """How a text is read."""

    prefix: int  # how many special tokens begin it; they begin every window
    # How many tokens a window scores at most: a smaller one leaves more text before each; 0 is half a context.
    stride: int
    source: Sequence[int]  # what the encoder reads, for an encoder-decoder
    lock: AbstractContextManager[Any]  # held for one pass at a time
    slot: Slot | None  # held by a long text while it is read, since it keeps much between its passes


@dataclass(frozen=True, slots=True)
class Window:
    """One pass over a part of a text: its tokens first to end, of which those from `scored` on are scored."""

    first: int
    scored: int
    end: int


def windows(length: int, scored: int, room: int, stride: int) -> Iterator[Window]:
    """The windows that score a text's tokens from `scored` to `length`, each once.

    Args:
        room: how many tokens a window may have.
        stride: how many tokens each scores at most.
    """
    while scored < length:
        end = min(length, scored + stride)
        yield Window(max(0, end - room), scored, end)
        scored = end


def room_and_stride(context_length: int, special: int, length: int, stride: int = 0) -> tuple[int, int]:
    """How many tokens of a text each window has room for, and how many of them it scores at most.

    Args:
        special: the tokens that begin every window.
        length: of the whole text, in tokens.
        stride: how many tokens a window is to score; 0 is half of the context, or all of a text that fits into one.
    """
    room = context_length + 1 - special  # the last token is never read
    return room, stride or (room if length <= room else max(1, context_length // 2))


def score(
    model: LanguageModel[Any], ids: Sequence[int], *, scored: int, top_candidates: int, **reading: Unpack[Reading]
) -> Generator[list[Choice], None, None]:
    """The tokens of a text from `scored` on as choices of the model, piece by piece; see `predictions`."""
    for tokens, logits in predictions(model, ids, scored=scored, **reading):
        yield record_text(tokens, logits, top_candidates)


def predictions(
    model: LanguageModel[Any], ids: Sequence[int], *, scored: int, **reading: Unpack[Reading]
) -> Generator[tuple[Sequence[int], Tensor], None, None]:
    """The tokens of a text from `scored` on, piece by piece, and the logits (tokens, V) that predict each of them.

    While a long text waits for its slot, the pieces are empty, so that whoever reads them may stop waiting.

    Args:
        ids: the whole text of the decoder.
        scored: the first token that is scored: 1 or more, since something must stand before it. For an encoder-decoder,
            whose text begins with its `decoder_start`, 0 or more.
        reading: how the text is read.
    """
    slot = reading.get("slot") if len(ids) > _PIECE else None
    if slot is None:
        yield from _by_windows(model, ids, scored, reading)
        return
    with closing(slot.acquiring(_WAITING)) as waiting:
        for _ in waiting:
            yield (), torch.empty(0, model.vocabulary_size)
    try:
        yield from _by_windows(model, ids, scored, reading)
    finally:
        slot.release()


def _by_windows(
    model: LanguageModel[Any], ids: Sequence[int], scored: int, reading: Reading
) -> Iterator[tuple[Sequence[int], Tensor]]:
    source, lock = reading.get("source", ()), reading.get("lock") or nullcontext()
    prefix = 0 if source else reading.get("prefix", 0)
    begin, text = ids[:prefix], ids[prefix:]
    special = len(model.decoder_start) if source else prefix
    room, stride = room_and_stride(model.context_length, special, len(text), reading.get("stride", 0))
    most = max(1, _MAX_LOGITS // model.vocabulary_size)
    pieces = model if isinstance(model, ExtendsPrefix) and not source else None
    least = 0 if begin or source else 1  # tokens that must stand before those that a window scores
    longest = min(stride, room - least) if pieces else min(stride, room - least, most)
    for window in windows(len(text), scored - prefix, room, max(1, longest)):
        before, tokens = text[window.first : window.scored], text[window.scored : window.end]
        if pieces:
            yield from _read_in_pieces(pieces, [*begin, *before], tokens, min(_PIECE, most), lock)
            continue
        with lock:
            if source:
                logits = model.logits(source, [*before, *tokens])[len(before) :]  # (tokens, V)
            else:
                logits = model.logits([*begin, *before], tokens)  # (tokens, V)
        yield tokens, logits


def batches(model: LanguageModel[Any], texts: Sequence[Sequence[int]]) -> Iterator[Sequence[Sequence[int]]]:
    """The texts in their order, in groups that one pass of `predictions_together` can read."""
    together = isinstance(model, ScoresTogether) and not model.decoder_start
    most = min(_TOGETHER, _MAX_LOGITS // model.vocabulary_size)
    batch: list[Sequence[int]] = []
    for text in texts:
        lengths = [len(each) for each in (*batch, text)]
        if batch and not (together and min(lengths) > 1 and len(lengths) * max(lengths) <= most):
            yield batch
            batch = []
        batch.append(text)
    if batch:
        yield batch


def predictions_together(
    model: LanguageModel[Any], texts: Sequence[Sequence[int]], **reading: Unpack[Reading]
) -> Iterator[Generator[tuple[Sequence[int], Tensor], None, None]]:
    """`predictions` of each text from its second token on; those of a batch of `batches` come from one pass."""
    if len(texts) == 1 or not isinstance(model, ScoresTogether):
        yield from (predictions(model, text, scored=1, **reading) for text in texts)
        return
    with reading.get("lock") or nullcontext():
        rows = model.logits_together(texts)
    for text, logits in zip(texts, rows, strict=True):
        yield (each for each in [(text[1:], logits)])


def _read_in_pieces(
    model: ExtendsPrefix[Any],
    before: Sequence[int],
    tokens: Sequence[int],
    size: int,
    lock: AbstractContextManager[Any],
) -> Iterator[tuple[Sequence[int], Tensor]]:
    """`model.logits(before, tokens)` by a cache, `size` tokens at a time: other runs can use it in between."""
    cache: Any = None
    for start in range(0, len(before) - 1, size):
        piece = before[start : min(start + size, len(before) - 1)]
        with lock:
            cache = (model.prefill(piece) if cache is None else model.extend_prefix(piece, cache)).cache
    read = [before[-1], *tokens[:-1]]  # each predicts the token after it
    for start in range(0, len(tokens), size):
        with lock:
            logits, cache = model.extend_logits(read[start : start + size], cache)  # (piece, V)
        yield tokens[start : start + size], logits
