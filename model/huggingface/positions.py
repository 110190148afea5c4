"""Correct absolute positions for decoders of transformers when the rows of a batch are padded.

They derive a row's position from the length of the cache, which is the same for all rows, so a row with padding on the
left would get positions that are too high. Here the positional module is called once for each amount of padding and the
results are combined, whatever kind of positions a family has.

Shapes: R rows, T tokens fed in this pass, W model width.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import torch
from torch import Tensor, nn

_COUNTS = {"past_key_values_length", "position_ids"}  # the arguments that say how far a text has come

# How many columns of padding each row of the passes of this thread has; None: no row has any.
_padding: ContextVar[Sequence[int] | None] = ContextVar("padding", default=None)


def context_length(hf_model: Any, *, endless: int) -> int:
    """The longest text of a model of transformers, in tokens.

    Args:
        endless: the answer where positions have no end: what such models were trained on.
    """
    config = hf_model.config.get_text_config()
    names = ("max_position_embeddings", "n_positions", "max_sequence_length", "seq_length")
    lengths = (getattr(config, name, None) for name in names)
    length = next((length for length in lengths if isinstance(length, int) and length > 0), None)
    if length is None:
        return endless
    return length - first_position(hf_model)


def first_position(hf_model: Any) -> int:
    """The position of a text's first token: RoBERTa and its kin count from the one behind the padding's."""
    embeddings = getattr(hf_model.base_model, "embeddings", None)
    padding = getattr(getattr(embeddings, "position_embeddings", None), "padding_idx", None)
    return 0 if padding is None else padding + 1


@contextmanager
def padded(padding: Sequence[int]) -> Iterator[None]:
    """While the context is open, a position is a column minus the padding of its row."""
    token = _padding.set(padding if any(padding) else None)
    try:
        yield
    finally:
        _padding.reset(token)


def follow_padding(positions: nn.Module) -> None:
    """Make a decoder's positional module respect the padding of the rows."""
    positions.register_forward_hook(_row_by_row, with_kwargs=True)


def _row_by_row(positions: Any, given: tuple[Any, ...], named: Mapping[str, Any], embedded: Tensor) -> Tensor | None:
    """A replacement for `embedded`, (R or 1, T, W); None keeps it."""
    padding = _padding.get()
    if padding is None:
        return None
    bound = inspect.signature(positions.forward).bind(*given, **named)
    of_padding = {}
    for pad in set(padding):
        earlier = {
            name: value - pad for name, value in bound.arguments.items() if name in _COUNTS and value is not None
        }
        of_padding[pad] = positions.forward(**{**bound.arguments, **earlier}).expand(len(padding), -1, -1)  # (R, T, W)
    return torch.stack([of_padding[pad][row] for row, pad in enumerate(padding)])  # (R, T, W)
