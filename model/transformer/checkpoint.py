"""A checkpoint folder: `config.json`, `model.safetensors`, `tokenizer.model`, and a model card for people.

Weights are stored in half precision, and computed with in single precision. Nothing is ever unpickled. A loaded model
runs as it is; `model.compiled.prepare` makes its single steps faster.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import load_file, save_file
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode

from model.errors import AttendError
from model.transformer.config import TransformerConfig
from model.transformer.decoder import Transformer, rename_weights
from model.transformer.encoder_decoder import build

CONFIG, WEIGHTS, TOKENIZER = "config.json", "model.safetensors", "tokenizer.model"

_POINTER = b"version https://git-lfs"  # the beginning of the placeholder in a clone without Git LFS
_CPU = torch.device("cpu")
_MAX_POSITIONS = 1 << 27  # numbers in a table of positions: a million tokens and a head width of 128
_MAX_CONFIG, _MAX_JSON = 1_000_000, 64_000_000  # bytes; transformers copies a config many times
_MAX_DEPTH = 64  # levels of nesting in a JSON file, since its readers are recursive
_MAX_HEADER = 20_000_000  # bytes before the weights; in the largest models a tenth of this
_TIED = "unembedding.weight"  # tied to the embedding and stored once


def save(model: Transformer, folder: Path, *, dtype: torch.dtype = torch.float16) -> None:
    """Write the config and the weights; the caller copies the tokenizer."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / CONFIG).write_text(json.dumps(model.config.to_dict(), indent=2) + "\n")
    weights = {name: tensor.to(dtype).contiguous() for name, tensor in model.state_dict().items()}
    if model.config.tied_embeddings:
        del weights[_TIED]
    written = folder / f"{WEIGHTS}.tmp"
    save_file(weights, written)
    os.replace(written, folder / WEIGHTS)  # atomic, for readers during a training


def load(folder: Path, device: torch.device = _CPU, dtype: torch.dtype = torch.float32) -> Transformer:
    """The model of a checkpoint folder, in evaluation mode.

    Raises `AttendError` if the folder, a file or a weight is missing, truncated or belongs to another model.
    """
    return from_config(read_config(folder), folder, device, dtype)


def from_config(
    values: Mapping[str, Any], folder: Path, device: torch.device = _CPU, dtype: torch.dtype = torch.float32
) -> Transformer:
    """Like `load`, for a config that has already been read."""
    weights = read_weights(folder / WEIGHTS)
    rename_weights(weights)
    return from_weights(TransformerConfig.from_dict(values), weights, folder, device, dtype)


class _WithoutInit(TorchFunctionMode):
    """Skips `torch.nn.init`, since the weights are loaded.

    Arithmetic on `meta` would import PyTorch's compiler, which takes two seconds.
    """

    def __torch_function__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        if getattr(func, "__module__", "") == nn.init.__name__:
            return (kwargs or {}).get("tensor", next(iter(args), None))
        return func(*args, **(kwargs or {}))


def from_weights(
    config: TransformerConfig,
    weights: dict[str, Tensor],
    folder: Path,
    device: torch.device = _CPU,
    dtype: torch.dtype = torch.float32,
) -> Transformer:
    """A model with these weights, in evaluation mode; nothing is initialized at random first.

    Args:
        weights: emptied while the model is filled, so that no weight is in memory twice.
        folder: where the weights are from, for error messages.

    Raises `AttendError` if the weights belong to another model.
    """
    if config.layers + config.encoder_layers > len(weights):
        raise AttendError(f"{folder} holds the weights of fewer layers than its {CONFIG} describes.")
    stored = sum(weight.numel() for weight in weights.values())
    if config.width * max(config.vocabulary_size, config.heads * config.head_width) > stored:
        raise AttendError(
            f"{folder} holds fewer weights than its {CONFIG} describes: copy the checkpoint folder again."
        )
    columns = {"rotary": config.head_width, "sinusoidal": config.width}.get(config.positions, 0)
    if config.context_length * columns > _MAX_POSITIONS:  # in tables that are computed, not stored
        raise AttendError(
            f"{folder / CONFIG} has a context_length of {config.context_length:,}, but at its width "
            f"it can be at most {_MAX_POSITIONS // columns:,}: copy the checkpoint folder again."
        )
    try:
        with torch.device("meta"), _WithoutInit():  # shapes without memory
            model = build(config)
    except (RuntimeError, OverflowError) as error:  # sizes that fit into no memory
        raise AttendError(
            f"{folder / CONFIG} describes a model too large for this machine: copy the checkpoint folder again."
        ) from error
    shapes = {name: parameter.shape for name, parameter in model.state_dict().items()}
    if config.tied_embeddings:
        del shapes[_TIED]
    for name in sorted(shapes.keys() | weights.keys()):
        if name not in weights:
            raise AttendError(
                f"{folder} has no weight {name}, so its weights and its {CONFIG} belong to different models."
            )
        if name not in shapes or weights[name].shape != shapes[name]:
            raise AttendError(
                f"{folder} has a weight {name} that doesn't fit, so its weights and its {CONFIG} "
                f"belong to different models."
            )
    contiguous = torch.contiguous_format
    parameters = {
        name: weights.pop(name).to(device, dtype, copy=True, memory_format=contiguous) for name in list(weights)
    }
    model.load_state_dict(parameters, strict=not config.tied_embeddings, assign=True)
    if config.tied_embeddings:
        model.unembedding.weight = model.embedding.weight
    return model.eval().to(device, dtype)


def read_weights(path: Path) -> dict[str, Tensor]:
    """The tensors of a safetensors file; `AttendError` if it is missing, truncated or not safetensors."""
    with _reading(path):
        return load_file(path)


def weight_sizes(path: Path, *, claims_memory: bool = True) -> dict[str, int]:
    """How many parameters each tensor of a safetensors file has, by its header alone; errors as in `read_weights`.

    Args:
        claims_memory: whether the file is mapped as for PyTorch, which fails if its weights have no room.
    """
    with _reading(path):
        with path.open("rb") as file:
            header = int.from_bytes(file.read(8), "little")
        if _MAX_HEADER < header < path.stat().st_size:
            raise AttendError(
                f"{path} has a header of {header:,} bytes, but at most {_MAX_HEADER:,} are read: choose another model."
            )
    with _reading(path), safe_open(path, framework="pt" if claims_memory else "np") as tensors:
        return {name: math.prod(tensors.get_slice(name).get_shape()) for name in tensors.keys()}  # noqa: SIM118


@contextmanager
def _reading(path: Path) -> Iterator[None]:
    """Turn errors of reading a safetensors file into `AttendError`."""
    try:
        yield
    except FileNotFoundError as error:
        raise AttendError(f"The checkpoint {path.parent} has no {path.name}: copy the whole folder again.") from error
    except (SafetensorError, OSError) as error:
        raise _damaged(path) from error
    except RuntimeError as error:  # the file can't be mapped into memory
        raise AttendError(
            f"{path} has {path.stat().st_size:,} bytes, more than this machine can read: choose a smaller model."
        ) from error


def _damaged(path: Path) -> AttendError:
    with suppress(OSError), path.open("rb") as file:
        if file.read(len(_POINTER)) == _POINTER:
            return AttendError(f"{path} is a Git LFS pointer without weights: run git lfs pull in its folder.")
    return AttendError(f"{path} is damaged or incomplete: copy the checkpoint folder again.")


def read_config(folder: Path) -> dict[str, Any]:
    """A checkpoint's `config.json`, in our format or another's; `AttendError` if there is none."""
    try:
        return read_json(folder / CONFIG, max_bytes=_MAX_CONFIG)
    except FileNotFoundError as error:
        if folder.is_dir():
            raise AttendError(f"{folder} has no {CONFIG}: copy the whole checkpoint folder.") from error
        raise AttendError(f"There is no checkpoint at {folder}: give a model name or a checkpoint folder.") from error


def vocabulary_size(config: Mapping[str, Any]) -> int | None:
    """The largest vocabulary named in a config of any format, including its parts; None if there is none."""
    sizes = [vocabulary_size(part) for part in config.values() if isinstance(part, Mapping)]
    sizes += [config.get(field) for field in ("vocab_size", "vocabulary_size")]
    return max((size for size in sizes if type(size) is int), default=None)


def read_json(path: Path, *, max_bytes: int = _MAX_JSON) -> dict[str, Any]:
    """Read a JSON object; `AttendError` if the file is anything else, `FileNotFoundError` if there is none."""
    if path.exists() and not path.is_file():
        raise AttendError(f"{path} is not a regular file, so it is never read: copy the checkpoint folder again.")
    try:
        if (size := path.stat().st_size) > max_bytes:
            raise AttendError(
                f"{path} has {size:,} bytes, but at most {max_bytes:,} are read: copy the checkpoint folder again."
            )
        values = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise
    except (OSError, ValueError, RecursionError) as error:  # a number with thousands of digits is a ValueError
        raise AttendError(f"{path} cannot be read as JSON: copy the checkpoint folder again.") from error
    if not isinstance(values, dict):
        raise AttendError(f"{path} is not a JSON object: copy the checkpoint folder again.")
    parts: list[Any] = [values]
    for _ in range(_MAX_DEPTH):
        inside = (part.values() if isinstance(part, dict) else part for part in parts)
        if not (parts := [each for part in inside for each in part if isinstance(each, dict | list)]):
            return values
    raise AttendError(
        f"{path} is nested more than {_MAX_DEPTH} levels deep, so it is never read: copy the checkpoint folder again."
    )
