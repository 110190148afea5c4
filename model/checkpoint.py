"""A checkpoint folder: `config.json`, `model.safetensors`, `tokenizer.model`, and a model card for people.

Weights are stored in half precision and computed with in single precision. Nothing is ever unpickled.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import load_file, save_file
from torch import Tensor

from model.config import TransformerConfig
from model.encoder_decoder import build
from model.errors import AttendError
from model.transformer import Transformer

CONFIG, WEIGHTS, TOKENIZER = "config.json", "model.safetensors", "tokenizer.model"

_POINTER = b"version https://git-lfs"  # how the file begins that stands in a clone made without Git LFS
_CPU = torch.device("cpu")
_SHARED = "unembedding.weight"  # the same matrix as the embedding where they are tied: stored once


def save(model: Transformer, folder: Path, *, dtype: torch.dtype = torch.float16) -> None:
    """Write the config and the weights; the tokenizer is the caller's to copy."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / CONFIG).write_text(json.dumps(model.config.to_dict(), indent=2) + "\n")
    weights = {name: tensor.to(dtype).contiguous() for name, tensor in model.state_dict().items()}
    if model.config.tied_embeddings:
        del weights[_SHARED]
    written = folder / f"{WEIGHTS}.tmp"
    save_file(weights, written)
    os.replace(written, folder / WEIGHTS)  # never there by halves, for whoever reads during a training


def load(folder: Path, device: torch.device = _CPU, dtype: torch.dtype = torch.float32) -> Transformer:
    """The model of a checkpoint folder, in evaluation mode, on a device and in a precision.

    Raises `AttendError` when the folder, a file of it or a weight is missing, cut short or another model's.
    """
    config = TransformerConfig.from_dict(read_config(folder))
    return filled(config, read_weights(folder / WEIGHTS), folder, device, dtype)


def filled(
    config: TransformerConfig,
    weights: Mapping[str, Tensor],
    folder: Path,
    device: torch.device = _CPU,
    dtype: torch.dtype = torch.float32,
) -> Transformer:
    """A model with these weights, which the folder is said to hold; `AttendError` when they are another model's."""
    try:
        model = build(config)
    except RuntimeError as error:  # what torch says of sizes that no memory holds
        raise AttendError(
            f"{folder / CONFIG} describes a model that is too large for this machine: copy the checkpoint folder again."
        ) from error
    expected = model.state_dict()
    if config.tied_embeddings:
        del expected[_SHARED]
    for name in sorted(expected.keys() | weights.keys()):
        if name not in weights:
            raise AttendError(f"{folder} lacks the weight {name}, so it belongs to another model than its {CONFIG}.")
        if name not in expected or weights[name].shape != expected[name].shape:
            raise AttendError(f"{folder} holds an unfitting weight {name}, so it belongs to another model.")
        expected[name].copy_(weights[name])  # the state dict shares the model's memory; to float32 on the way
    return model.eval().to(device, dtype).lay_out_for_steps()


def read_weights(path: Path) -> dict[str, Tensor]:
    """The tensors of one safetensors file; `AttendError` when it is missing, cut short or of another kind."""
    try:
        return load_file(path)
    except FileNotFoundError as error:
        raise AttendError(f"The checkpoint {path.parent} has no {path.name}: copy the whole folder again.") from error
    except (SafetensorError, OSError) as error:
        raise _damaged(path) from error


def count_numbers(path: Path) -> int:
    """How many numbers a safetensors file holds, by its header alone; `AttendError` as `read_weights`."""
    try:
        with safe_open(path, framework="pt") as tensors:
            return sum(math.prod(tensors.get_slice(name).get_shape()) for name in tensors.keys())  # noqa: SIM118
    except FileNotFoundError as error:
        raise AttendError(f"The checkpoint {path.parent} has no {path.name}: copy the whole folder again.") from error
    except (SafetensorError, OSError) as error:
        raise _damaged(path) from error


def _damaged(path: Path) -> AttendError:
    with suppress(OSError), path.open("rb") as file:
        if file.read(len(_POINTER)) == _POINTER:
            return AttendError(f"{path} is a pointer of Git LFS and holds no weights: run git lfs pull in its folder.")
    return AttendError(f"{path} is damaged or cut short: copy the checkpoint folder again.")


def read_config(folder: Path) -> dict[str, Any]:
    """What a checkpoint's config says, ours or another's; `AttendError` when there is none."""
    try:
        return read_json(folder / CONFIG)
    except FileNotFoundError as error:
        if folder.is_dir():
            raise AttendError(f"{folder} has no {CONFIG}: copy the whole checkpoint folder.") from error
        raise AttendError(f"There is no checkpoint at {folder}: give the name or the folder of one.") from error


def read_json(path: Path) -> dict[str, Any]:
    """A JSON object; `AttendError` when the file holds none, `FileNotFoundError` when there is no file."""
    try:
        values = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise
    except (OSError, UnicodeDecodeError, json.JSONDecodeError, RecursionError) as error:
        raise AttendError(f"{path} cannot be read as JSON: copy the checkpoint folder again.") from error
    if not isinstance(values, dict):
        raise AttendError(f"{path} is not a JSON object: copy the checkpoint folder again.")
    return values
