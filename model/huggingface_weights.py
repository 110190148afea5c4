"""The weights of a folder in Hugging Face form: which files hold them, and the model of transformers they fill.

Nothing is unpickled or run from the folder; what is cut short or belongs to another model is refused in one sentence.
"""

from __future__ import annotations

import tempfile
import weakref
from collections.abc import Mapping, Sequence
from logging import getLogger
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open

from model import checkpoint
from model.errors import AttendError
from model.placement import Placement, free_memory, shortage

_INDEX = "model.safetensors.index.json"
_PICKLED = (".bin", ".pt", ".pth", ".ckpt")


def weight_files(folder: Path) -> list[Path]:
    """The safetensors files of the model, each with a header that fits its length."""
    if (folder / checkpoint.WEIGHTS).is_file():
        names = {checkpoint.WEIGHTS}
    elif (folder / _INDEX).is_file():
        places = checkpoint.read_json(folder / _INDEX).get("weight_map")
        names = set(places.values()) if isinstance(places, dict) else set()
        if not names or not all(isinstance(name, str) and Path(name).name == name for name in names):
            raise AttendError(f"{folder / _INDEX} does not name the files of the weights: copy the folder again.")
    elif pickled := sorted(path.name for path in folder.iterdir() if path.suffix in _PICKLED):
        raise AttendError(
            f"{folder} holds only pickled weights ({pickled[0]}), which could run any code: convert them to "
            "safetensors."
        )
    else:
        raise AttendError(f"The checkpoint {folder} has no {checkpoint.WEIGHTS}: copy the whole folder again.")
    files = [folder / name for name in sorted(names)]
    for path in files:
        try:
            with safe_open(path, framework="pt"):
                pass
        except FileNotFoundError as error:
            raise AttendError(f"The checkpoint {folder} has no {path.name}: copy the whole folder again.") from error
        except (SafetensorError, OSError) as error:
            raise AttendError(f"{path} is damaged or cut short: copy the checkpoint folder again.") from error
    return files


def stored_dtype(values: Mapping[str, Any]) -> object:
    return values.get("dtype", values.get("torch_dtype"))  # as transformers 5 and 4 write it


def prepare(
    kind: Any, folder: Path, name: str, placement: Placement, *, attention: str, unused: tuple[str, ...]
) -> tuple[Any, tuple[str, ...]]:
    """A model of transformers, where it is to compute, and notes on how it was loaded.

    Args:
        kind: one of the Auto classes of transformers.
        attention: the attention implementation to load it with.
        unused: how the names of weights begin that may be missing.
    """
    device, dtype = placement.torch_device(), placement.torch_dtype(stored_dtype(checkpoint.read_config(folder)))
    numbers = sum(checkpoint.count_numbers(path) for path in weight_files(folder))
    lacking = shortage(device, numbers * dtype.itemsize)
    theirs = read_theirs(kind, folder, device, dtype, attention=attention, spread=bool(lacking), unused=unused)
    return theirs, offloaded(name, lacking)


def offloaded(name: str, lacking: str) -> tuple[str, ...]:
    return (f"{name} {lacking}: what does not fit waits in slower memory or on the disk.",) if lacking else ()


def read_theirs(
    kind: Any,
    folder: Path,
    device: torch.device,
    dtype: torch.dtype,
    *,
    attention: str,
    spread: bool,
    unused: tuple[str, ...] = (),
) -> Any:
    """The model of transformers, whole on a device or, where it does not fit, spread over all memory and the disk."""
    from transformers.utils import logging

    logging.disable_progress_bar()  # a terminal shows the text alone
    logging.set_verbosity_error()  # what was missing is told below, in one sentence
    getLogger("accelerate").setLevel("ERROR")  # and what waits on the disk in a note
    waiting = tempfile.TemporaryDirectory(prefix="attend-", ignore_cleanup_errors=True) if spread else None
    if waiting is not None:
        placed: dict[str, Any] = {
            "device_map": "auto",
            "max_memory": _shares(device),
            "offload_folder": waiting.name,
        }
    else:
        placed = {} if device.type == "cpu" else {"device_map": {"": device}}
    try:
        theirs, report = kind.from_pretrained(
            str(folder),
            local_files_only=True,
            use_safetensors=True,
            trust_remote_code=False,
            attn_implementation=attention,
            dtype=dtype,
            output_loading_info=True,
            ignore_mismatched_sizes=True,  # told below
            **placed,
        )
    except Exception as error:  # whatever a family's own code says of a config or of weights that are not its own
        reason = str(error).strip().partition("\n")[0].rstrip(".")
        raise AttendError(f"transformers cannot load {folder} ({reason}): choose another model.") from error
    for name, stored, wanted in sorted(report["mismatched_keys"]):
        raise AttendError(
            f"{folder} holds the weight {name} as {_sizes(stored)}, where its config.json asks for {_sizes(wanted)}: "
            "they belong to different models."
        )
    for name in sorted(report["missing_keys"]):
        if not name.startswith(unused):
            raise AttendError(f"{folder} lacks the weight {name}, so it belongs to another model than its config.json.")
    if waiting is not None:
        weakref.finalize(theirs, waiting.cleanup)  # the model reads from there as long as it lives
    return theirs


def _sizes(shape: Sequence[int]) -> str:
    return " × ".join(map(str, shape))


def _shares(device: torch.device) -> dict[int | str, int]:
    """Bytes of weights that each memory may hold; the rest of it is for caches and what a pass computes."""
    shares: dict[int | str, int] = {"cpu": int(_SHARE * free_memory(torch.device("cpu")))}
    if device.type == "cuda":
        shares[device.index] = int(_SHARE * free_memory(device))
    return shares


_SHARE = 0.8
