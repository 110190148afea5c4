"""The parts of a checkpoint (config, tokenizer and weights) and the model of transformers that they fill.

Nothing is unpickled or run. Files that are truncated or belong to another model are refused in one sentence.
"""

from __future__ import annotations

import re
import tempfile
import weakref
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from logging import getLogger
from pathlib import Path
from typing import Any, Protocol, Self

import torch
from torch import Tensor
from transformers import PreTrainedConfig

from model.device import DeviceConfig, free_memory, shortage
from model.errors import AttendError
from model.huggingface.tokenizer import CheckpointTokenizer
from model.huggingface.tokenizers.folder import load_tokenizer
from model.transformer import checkpoint

GENERATION_CONFIG = "generation_config.json"
BUFFERS = (".attn.bias", ".attn.masked_bias", ".rotary_emb.inv_freq")  # computed, but stored in older checkpoints
_INDEX = "model.safetensors.index.json"
_FILE = re.compile(r"[^/\\:\x00]{1,200}\.safetensors")  # the name of a file in the folder itself
_PICKLED = (".bin", ".pt", ".pth", ".ckpt")
_MAX_FILES, _MAX_WEIGHTS = 1_000, 150_000  # the largest models have 200 files and 92,000 weights
_NO_COUNT = re.compile("^max_|_every_|_per_|_base$")  # max_window_layers, for example, is the number of one layer
_SIZE = re.compile("dim|size|width|heads|experts|labels|embd|hidden|inner|state|rank|kernel|hash|repeat|loop")
_FEW = 100  # so many layers do no harm, however few weights there are: ALBERT's share theirs
_SMALL = 1_000_000  # a size in a config that does no harm, however few weights there are
_SHARE = 0.8  # of each free memory for weights; the rest is for caches and activations


class Checkpoint(Protocol):
    """A folder or a GGUF file whose headers have been read, but not its weights."""

    @property
    def path(self) -> Path: ...

    @property
    def name(self) -> str:
        """The name of the model in messages."""
        ...

    @property
    def config(self) -> Mapping[str, Any]:
        """The contents of config.json, or what they would be."""
        ...

    @property
    def generation(self) -> Mapping[str, Any]:
        """The contents of generation_config.json, or what they would be; empty if nothing is known."""
        ...

    @property
    def sizes(self) -> Mapping[str, int]:
        """How many parameters each weight has."""
        ...

    @property
    def size(self) -> int:
        """Bytes of the weights as they are stored."""
        ...

    def weights(self) -> Mapping[str, Tensor]:
        """The weights under the names of transformers."""
        ...

    def tokenizer(self, vocabulary_size: int) -> CheckpointTokenizer: ...

    def pretrained(self, kind: Any, **options: Any) -> Any:
        """The model that `from_pretrained` of transformers returns.

        Args:
            kind: one of the Auto classes.
            options: arguments of `from_pretrained` that do not say where config and weights are.
        """
        ...


@dataclass(frozen=True, slots=True)
class CheckpointFiles:
    """A `Checkpoint` that is a folder in Hugging Face form."""

    path: Path
    name: str
    config: Mapping[str, Any]
    generation: Mapping[str, Any]
    files: tuple[Path, ...]  # the safetensors files, each with a header that fits its length
    sizes: Mapping[str, int]
    size: int

    @classmethod
    def read(
        cls, folder: Path, name: str, config: Mapping[str, Any] | None = None, *, claims_memory: bool = True
    ) -> Self:
        """Read a folder; `AttendError` for a file that is missing, pickled, cut short or not JSON.

        Args:
            config: the contents of config.json, if they have been read already.
            claims_memory: see `model.transformer.checkpoint.weight_sizes`.
        """
        config = checkpoint.read_config(folder) if config is None else config
        generation = folder / GENERATION_CONFIG
        files = _weight_files(folder)
        sizes: dict[str, int] = {}
        for path in files:
            sizes |= checkpoint.weight_sizes(path, claims_memory=claims_memory)
            if len(sizes) > _MAX_WEIGHTS:
                raise AttendError(
                    f"{folder} has {len(sizes):,} weights or more, but at most {_MAX_WEIGHTS:,} are read: choose "
                    "another model."
                )
        return cls(
            folder,
            name,
            config,
            checkpoint.read_json(generation) if generation.is_file() else {},
            files,
            sizes,
            sum(path.stat().st_size for path in files),
        )

    def weights(self) -> dict[str, Tensor]:
        stored: dict[str, Tensor] = {}
        for path in self.files:
            stored |= checkpoint.read_weights(path)
        return stored

    def tokenizer(self, vocabulary_size: int) -> CheckpointTokenizer:
        return load_tokenizer(self.path, vocabulary_size)

    def pretrained(self, kind: Any, **options: Any) -> Any:
        return kind.from_pretrained(
            str(self.path), local_files_only=True, use_safetensors=True, trust_remote_code=False, **options
        )


def _weight_files(folder: Path) -> tuple[Path, ...]:
    if (folder / checkpoint.WEIGHTS).is_file():
        return (folder / checkpoint.WEIGHTS,)
    if (folder / _INDEX).is_file():
        weight_map = checkpoint.read_json(folder / _INDEX).get("weight_map")
        listed = list(weight_map.values()) if isinstance(weight_map, dict) else []
        names = {name for name in listed if isinstance(name, str)}
        if (count := len(names)) > _MAX_FILES:
            raise AttendError(
                f"{folder / _INDEX} lists {count:,} weight files, but at most {_MAX_FILES:,} are read: choose another "
                "model."
            )
        if not names or not all(isinstance(name, str) for name in listed) or not all(map(_FILE.fullmatch, names)):
            raise AttendError(f"{folder / _INDEX} does not list the weight files: copy the folder again.")
        return tuple(folder / name for name in sorted(names))
    if pickled := sorted(path.name for path in folder.iterdir() if path.suffix in _PICKLED):
        raise AttendError(
            f"{folder} has only pickled weights ({pickled[0]}), which can run arbitrary code: convert them to "
            "safetensors."
        )
    raise AttendError(f"The checkpoint {folder} has no {checkpoint.WEIGHTS}: copy the whole folder again.")


def check_layers(files: Checkpoint) -> None:
    """`AttendError` for more layers than weights, and for sizes larger than all weights together: transformers would
    make all layers and tables of these sizes before it looks for any weight."""
    parameters = max(sum(files.sizes.values()), _SMALL)
    for field, value in _fields(files.config):
        if type(value) is not int or _NO_COUNT.search(field):
            continue
        if "layers" in f"{field}s" and value > max(len(files.sizes), _FEW):
            raise AttendError(
                f"The config.json of {files.name} says {field} {value:,}, but there are only {len(files.sizes):,} "
                "weights: copy the checkpoint folder again."
            )
        if _SIZE.search(field) and value > parameters:
            raise AttendError(
                f"The config.json of {files.name} says {field} {value:,}, more than the model can have with its "
                f"{sum(files.sizes.values()):,} parameters: copy the checkpoint folder again."
            )


def _fields(values: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """The fields of a config and, for a model with several parts, of the configs in it."""
    for field, value in values.items():
        yield field, value
        if isinstance(value, Mapping):
            yield from _fields(value)


def stored_dtype(config: Mapping[str, Any]) -> object:
    return config.get("dtype", config.get("torch_dtype"))  # the names in transformers 5 and 4


def prepare(
    kind: Any, files: Checkpoint, device_config: DeviceConfig, *, attention: str, unused: tuple[str, ...]
) -> tuple[Any, tuple[str, ...]]:
    """A model of transformers, on its device, and notes on how it was loaded.

    Args:
        kind: one of the Auto classes of transformers.
        attention: the attention implementation to load it with.
        unused: prefixes of the names of weights that may be missing.

    Raises `AttendError` as `read_hf_model`.
    """
    device, dtype = device_config.torch_device(), device_config.torch_dtype(stored_dtype(files.config))
    lacking = shortage(device, sum(files.sizes.values()) * dtype.itemsize)
    hf_model, ignored = read_hf_model(
        kind, files, device, dtype, attention=attention, spread=bool(lacking), unused=unused
    )
    parts = {name for name, _ in hf_model.named_children()}  # other weights are those of heads for other tasks
    prefix = f"{hf_model.base_model_prefix}."
    own = [name for name in ignored if name.removeprefix(prefix).partition(".")[0] in parts]
    return hf_model, (*offloaded_note(files.name, lacking), *ignored_weights_note(files.name, own))


def offloaded_note(name: str, lacking: str) -> tuple[str, ...]:
    return (f"{name} {lacking}: what doesn't fit is kept in slower memory or on disk.",) if lacking else ()


def ignored_weights_note(name: str, ignored: Sequence[str]) -> tuple[str, ...]:
    """A note on the weights of a model that transformers ignores, if there are any."""
    if not ignored:
        return ()
    more = f" and {len(ignored) - 1:,} more" if len(ignored) > 1 else ""
    return (
        f"transformers ignores weights of {name} ({ignored[0][:80]}{more}): its results may differ from those of its "
        "authors' own code.",
    )


def read_hf_model(
    kind: Any,
    files: Checkpoint,
    device: torch.device,
    dtype: torch.dtype,
    *,
    attention: str,
    spread: bool,
    unused: tuple[str, ...] = (),
) -> tuple[Any, list[str]]:
    """Load a model of transformers; arguments as in `prepare`.

    Args:
        spread: whether to distribute it over all memory and the disk instead of keeping it whole on the device.

    Returns:
        The model, and the names of the stored weights that it ignores.

    Raises `AttendError` if transformers cannot load it, and for weights that are missing or of another model.
    """
    from transformers.utils import logging

    logging.disable_progress_bar()  # a terminal should show the text only
    logging.set_verbosity_error()  # what is missing is refused below, in one sentence
    getLogger("accelerate").setLevel("ERROR")  # and what waits on the disk in a note
    waiting = tempfile.TemporaryDirectory(prefix="attend-", ignore_cleanup_errors=True) if spread else None
    if waiting is not None:
        placement: dict[str, Any] = {
            "device_map": "auto",
            "max_memory": _shares(device),
            "offload_folder": waiting.name,
        }
    else:
        placement = {} if device.type == "cpu" else {"device_map": {"": device}}
    try:
        hf_model, report = files.pretrained(
            kind,
            attn_implementation=attention,
            dtype=dtype,
            output_loading_info=True,
            ignore_mismatched_sizes=True,  # refused below
            **placement,
        )
    except AttendError:
        raise
    except Exception as error:  # whatever a family's own code raises for a foreign config or foreign weights
        reason = str(error).strip().partition("\n")[0].rstrip(".")
        raise AttendError(f"transformers cannot load {files.path} ({reason}): choose another model.") from error
    for name, stored, wanted in sorted(report["mismatched_keys"]):
        raise AttendError(
            f"{files.path} has the weight {name} as {_sizes(stored)}, but its config.json asks for {_sizes(wanted)}: "
            "they belong to different models."
        )
    for name in sorted(report["missing_keys"]):
        if name == "lm_head.weight":
            raise AttendError(
                f"{files.path} has no output matrix ({name}), without which it can't generate text: choose a causal or "
                "sequence-to-sequence model."
            )
        if not name.startswith(unused):
            raise AttendError(
                f"{files.path} has no weight {name}, so its weights and its config.json belong to different models."
            )
    for module in hf_model.modules():
        if isinstance(config := getattr(module, "config", None), PreTrainedConfig):
            _expect_plain_answers(config)
    if waiting is not None:
        weakref.finalize(hf_model, waiting.cleanup)  # the model reads from there as long as it lives
    return hf_model, sorted(name for name in report["unexpected_keys"] if not name.endswith(BUFFERS))


def _expect_plain_answers(config: Any) -> None:
    """Let a pass return what its caller asks for, whatever a config asks of all passes."""
    config.return_dict = True
    for name in ("output_attentions", "output_hidden_states", "output_router_logits"):
        if getattr(config, name, False):
            setattr(config, name, False)


def _sizes(shape: Sequence[int]) -> str:
    return " × ".join(map(str, shape))


def _shares(device: torch.device) -> dict[int | str, int]:
    """Bytes of weights that each memory may hold."""
    shares: dict[int | str, int] = {"cpu": int(_SHARE * free_memory(torch.device("cpu")))}
    if device.type == "cuda":
        shares[device.index] = int(_SHARE * free_memory(device))
    return shares
