"""Saves and loads a recurrent encoder-decoder: a folder with `config.json` and `model.safetensors`.

Weights are stored in half precision and computed with in single precision, as in `model.transformer.checkpoint`. The
tokenizer is stored elsewhere: both embedded models use that of attend-translate.
"""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

import torch
from safetensors.torch import save_file

from model.errors import AttendError
from model.recurrent.network import Recurrent, RecurrentConfig
from model.transformer.checkpoint import CONFIG, WEIGHTS, read_config, read_weights


def save(model: Recurrent, folder: Path) -> None:
    """Write the config and the weights."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / CONFIG).write_text(json.dumps(asdict(model.config), indent=2) + "\n")
    save_file(
        {name: tensor.to("cpu", torch.float16).contiguous() for name, tensor in model.state_dict().items()},
        folder / WEIGHTS,
    )


def load(folder: Path) -> Recurrent:
    """The model of a folder, in evaluation mode.

    Raises `AttendError` if the folder, a file or a weight is missing, damaged or belongs to another model.
    """
    values, weights = read_config(folder), read_weights(folder / WEIGHTS)
    try:
        model = Recurrent(RecurrentConfig(**values))
    except TypeError as error:  # a field too many or too few
        raise AttendError(f"{folder / CONFIG} doesn't describe a recurrent model: copy the folder again.") from error
    try:
        model.load_state_dict({name: tensor.float() for name, tensor in weights.items()})
    except RuntimeError as error:
        raise AttendError(f"The weights of {folder} don't fit its {CONFIG}: copy the folder again.") from error
    return model.eval()
