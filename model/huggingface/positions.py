"""Correct absolute positions for decoders of transformers when the rows of a batch are padded.

They derive a row's position from the length of the cache, which is the same for all rows, so a row with padding on the
left would get positions that are too high. Here the positional module is called once for each amount of padding and the
results are combined, whatever kind of positions a family has.

Some rotations depend on the length of the text. transformers then rotates all rows as the longest one needs, and starts
from what earlier texts left in the module. Here each row is rotated as if it were alone.

Shapes: R rows, T tokens fed in this pass, D rotated dimensions, W model width.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import partial
from typing import Any, Literal

import torch
from torch import Tensor, nn
from transformers import PreTrainedConfig

_COUNTS = {"past_key_values_length", "position_ids"}  # the arguments that say how far a text has come

# The names that families use for the number of positions.
LENGTHS = (
    "max_position_embeddings",
    "n_positions",
    "max_sequence_length",
    "seq_length",
    "max_seq_len",
    "max_target_positions",
)

# Columns of padding for each row of this thread's passes; None: no row has any.
_padding: ContextVar[Sequence[int] | None] = ContextVar("padding", default=None)
# Whether this thread's passes rotate as transformers does.
_as_transformers: ContextVar[bool] = ContextVar("as_transformers", default=False)


def context_length(hf_model: Any, *, endless: int, part: Literal["encoder", "decoder"] = "decoder") -> int:
    """The longest text of a model of transformers, or of one of its parts, in tokens.

    Args:
        endless: the result if positions have no end, such as the length in training.
    """
    config = getattr(hf_model.config, part, None)  # T5Gemma has a config for each
    config = (config if isinstance(config, PreTrainedConfig) else hf_model.config).get_text_config()
    names = (f"max_{part}_position_embeddings", *LENGTHS)
    lengths = (getattr(config, name, None) for name in names)
    length = next((length for length in lengths if isinstance(length, int) and length > 0), None)
    if length is None:
        return endless
    length = int(length * _stretch(hf_model)) - first_position(hf_model)
    if part == "encoder" and (windows := getattr(config, "attention_window", None)):
        length -= length % max(windows if isinstance(windows, list) else [windows])  # texts are padded to whole ones
    return length


def _stretch(hf_model: Any) -> float:
    """The factor by which a model can go beyond its last position, because its rotations slow down from there."""
    if not any("dynamic" in kind for module in hf_model.modules() for kind in _kinds(module)):
        return 1.0
    rotation = hf_model.config.get_text_config().rope_parameters
    parts = [part for part in (rotation, *rotation.values()) if isinstance(part, dict)]
    return max([1.0, *(part["factor"] for part in parts if part.get("factor"))])


def first_position(hf_model: Any) -> int:
    """The position of a text's first token: RoBERTa and its relatives count from the position after the padding's."""
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


def _row_by_row(
    positions: Any, arguments: tuple[Any, ...], named: Mapping[str, Any], embedded: Tensor
) -> Tensor | None:
    """A replacement for `embedded`, (R or 1, T, W); None keeps it."""
    padding = _padding.get()
    if padding is None:
        return None
    bound = inspect.signature(positions.forward).bind(*arguments, **named)
    of_padding = {}
    for pad in set(padding):
        earlier = {
            name: value - pad for name, value in bound.arguments.items() if name in _COUNTS and value is not None
        }
        of_padding[pad] = positions.forward(**{**bound.arguments, **earlier}).expand(len(padding), -1, -1)  # (R, T, W)
    return torch.stack([of_padding[pad][row] for row, pad in enumerate(padding)])  # (R, T, W)


def _kinds(module: nn.Module) -> tuple[str, ...]:
    """The kinds of rotation of a module that depend on the length of a text; a module may have one for each kind of
    layer."""
    kind = getattr(module, "rope_type", None)
    kinds = [kind for kind in (kind.values() if isinstance(kind, dict) else [kind]) if isinstance(kind, str)]
    if any(kind != "default" for kind in kinds) and "seq_len" in inspect.getsource(type(module).forward):
        return tuple(kinds)  # PhiMoE scales all but the default
    return tuple(kind for kind in kinds if "dynamic" in kind or kind == "longrope")


def last_short_length(hf_model: Any) -> int | None:
    """The longest text whose rotations are those of short texts; None if they are the same for all texts."""
    config = hf_model.config.get_text_config()
    lengths = []
    for module in hf_model.modules():
        for kind in _kinds(module):
            parts = () if "dynamic" in kind else (config.rope_parameters, *config.rope_parameters.values())
            known = [part.get("original_max_position_embeddings") for part in parts if isinstance(part, dict)]
            lengths += [length for length in known if length] or [module.original_max_seq_len]
    return min(lengths, default=None)


def reads_again(hf_model: Any) -> int | None:
    """The length beyond which a model of transformers reads its whole text again, as Phi-3 does because the keys of a
    short text were rotated otherwise; None for models that keep them."""
    source = inspect.getsource(type(hf_model).prepare_inputs_for_generation)
    return last_short_length(hf_model) if "original_max_position_embeddings" in source else None


def rotates_by_length(hf_model: nn.Module) -> bool:
    """Whether the rotations of some layer depend on the length of the text."""
    return any(_kinds(module) for module in hf_model.modules())


def rotate_rows_alone(hf_model: nn.Module) -> None:
    """Make rotations that depend on the length of a text depend on that of their own row alone."""
    for module in hf_model.modules():
        if _kinds(module):
            module.forward = partial(_rotate_rows, module, module.forward)


@contextmanager
def rotating_as_transformers() -> Iterator[None]:
    """While the context is open, rotations depend on the longest row and on earlier texts, as in transformers."""
    token = _as_transformers.set(True)
    try:
        yield
    finally:
        _as_transformers.reset(token)


def _rotate_rows(
    module: Any, forward: Callable[..., Any], hidden: Tensor, position_ids: Tensor, *arguments: Any, **options: Any
) -> Any:
    """What a rotary module returns for each row's positions (R or 1, T), such as cosines and sines (R or 1, T, D)."""
    if _as_transformers.get():
        return forward(hidden, position_ids, *arguments, **options)
    longest = position_ids.amax(-1) if position_ids.dim() == 2 else position_ids.amax()[None]  # (R,)
    if len(set(longest.tolist())) == 1:
        _forget_lengths(module)
        return forward(hidden, position_ids, *arguments, **options)
    rows = []
    for row in position_ids:
        _forget_lengths(module)
        rows.append(forward(hidden, row[None], *arguments, **options))  # (1, T, D) each
    if isinstance(rows[0], Tensor):
        return torch.cat(rows)  # (R, T, D)
    return tuple(torch.cat(parts) for parts in zip(*rows, strict=True))  # (R, T, D) each


def _forget_lengths(module: Any) -> None:
    """Remove what earlier texts left in a module whose rotations slow down as a text grows."""
    kinds = module.rope_type if isinstance(module.rope_type, dict) else {"": module.rope_type}
    for layers, kind in kinds.items():
        if "dynamic" in kind:
            prefix = f"{layers}_" if layers else ""
            setattr(module, f"{prefix}inv_freq", getattr(module, f"{prefix}original_inv_freq"))
            setattr(module, f"{prefix}max_seq_len_cached", module.original_max_seq_len)
