"""What each layer would predict if it were the last one: the final norm and the unembedding after every layer.

This is the logit lens (nostalgebraist, 2020). It decodes a stream as the last layer would, so it shows when a guess
can be decoded that way, not when the model knows it.

Shapes: T tokens, W model width, V vocabulary, L layers, S sub-layers of a layer, C columns.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from model.errors import AttendError
from model.inspection.anatomy import Anatomy
from model.inspection.guesses import read_streams
from model.inspection.inspector import Inside, Inspector
from model.inspection.intervention import Intervention

_MULTIPLICATIONS = 40_000_000_000  # for one lens: about half a second on two cores
_FEWEST = 16  # positions that are worth it, however long they take


@dataclass(frozen=True, slots=True)
class Lens:
    """The guess of every column about the token after every position; the last column is the model's own output."""

    columns: tuple[str, ...]  # "0" is the embeddings, "1" the first layer; "1 attention" stands before "1"
    top: Tensor  # the likeliest token, (C, T)
    top_probability: Tensor  # (C, T)
    chosen: Tensor  # the probability of the token that follows in the text, (C, T); 0 at the last position
    # The first layer from which on the token that follows is the likeliest; None: never.
    decided: tuple[int | None, ...]


@dataclass(frozen=True, slots=True)
class PositionLens:
    """The best guesses of every column about the token after one position."""

    columns: tuple[str, ...]
    top: Tensor  # the likeliest tokens, best first, (C, count)
    probabilities: Tensor  # (C, count)
    curves: Tensor  # the probabilities of the tokens asked for, (C, len(ids))


def column_count(anatomy: Anatomy, *, sublayers: bool = False) -> int:
    """How many columns the lens has: the embeddings, and each layer or each of its parts."""
    return 1 + len(anatomy.layers) * (len(anatomy.names) if sublayers else 1)


def positions_at_once(inspector: Inspector, vocabulary_size: int, *, sublayers: bool = False) -> int | None:
    """How many positions of a text a person would wait for: each column multiplies each by the whole vocabulary.

    None: all of them, on an accelerator.
    """
    embedded = inspector.embed([0])  # (1, W)
    if embedded.device.type != "cpu":
        return None
    columns = column_count(inspector.anatomy, sublayers=sublayers)
    return max(_FEWEST, _MULTIPLICATIONS // (columns * vocabulary_size * embedded.shape[-1]))


@torch.inference_mode()
def read_layers(
    inspector: Inspector,
    tokens: Sequence[int],
    *,
    source: Sequence[int] = (),
    interventions: Sequence[Intervention] = (),
    sublayers: bool = False,
    first: int = 0,
    inside: Inside | None = None,
) -> Lens:
    """What every layer would predict at every position.

    Args:
        sublayers: also read the stream between the sub-layers of a layer.
        first: the first position to read; T counts from there.
        inside: an inspection of this text under these interventions, if there is one.
    """
    inside = inside or inspector.inspect(tokens, source=source, interventions=interventions, last=True)
    columns = _columns(inspector, inside, sublayers)
    following = torch.tensor([*tokens[first + 1 :], 0], device=inside.embedded.device)  # (T,)
    streams = torch.cat([stream[first:] for stream in columns.values()])  # (C * T, W)
    guesses = read_streams(inspector.anatomy, streams, following.repeat(len(columns)), inside.logits.shape[-1])
    top, top_probability, chosen = (values.view(len(columns), -1).cpu() for values in guesses)  # (C, T) each
    chosen[:, -1] = 0.0
    whole = [number for number, name in enumerate(columns) if " " not in name]
    stays = (top[whole, :-1] == following[:-1].cpu()).flip(0).cumprod(dim=0).sum(dim=0).tolist()  # (T - 1,) layers
    decided = [len(whole) - count if count else None for count in stays]
    return Lens(tuple(columns), top, top_probability, chosen, (*decided, None))


@torch.inference_mode()
def read_position(
    inspector: Inspector,
    tokens: Sequence[int],
    position: int,
    *,
    source: Sequence[int] = (),
    interventions: Sequence[Intervention] = (),
    count: int = 10,
    ids: Sequence[int] = (),
    sublayers: bool = False,
) -> PositionLens:
    """The `count` best guesses of every layer about the token after a position, and the probabilities of `ids`."""
    if not 0 <= position < len(tokens):
        raise AttendError(f"There is no position {position}: the text has positions 0 to {len(tokens) - 1}.")
    inside = inspector.inspect(tokens, source=source, interventions=interventions, last=True)
    columns = _columns(inspector, inside, sublayers)
    streams = torch.stack([stream[position] for stream in columns.values()])  # (C, W)
    probabilities = inspector.anatomy.logits(streams).softmax(dim=-1).cpu()  # (C, V)
    if outside := [one for one in ids if not 0 <= one < probabilities.shape[-1]]:
        raise AttendError(f"There is no token {outside[0]}: the model has tokens 0 to {probabilities.shape[-1] - 1}.")
    best = probabilities.topk(min(count, probabilities.shape[-1]), dim=-1)
    return PositionLens(tuple(columns), best.indices, best.values, probabilities[:, list(ids)])


def _columns(inspector: Inspector, inside: Inside, sublayers: bool) -> dict[str, Tensor]:
    """The streams to read, (T, W) each, under the names of their columns."""
    columns = {"0": inside.embedded}
    for layer, streams in enumerate(inside.streams, start=1):
        if sublayers:
            between = zip(inspector.anatomy.names[:-1], streams[:-1], strict=True)
            columns.update({f"{layer} {name}": stream for name, stream in between})
        columns[str(layer)] = streams[-1]
    return columns
