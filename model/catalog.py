"""Loads a model with its tokenizer by name: from the catalogue, a folder, or the Hugging Face Hub.

`model.names` resolves names, and other modules read checkpoints. Those import torch and transformers, which takes
seconds, so they are imported only when there is something to read: a mistyped name is refused at once.
"""

from __future__ import annotations

import time
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from model.arguments import ENGINES, ModelArguments
from model.device import (
    INT8,
    DeviceConfig,
    allocating,
    native_shortage,
    not_in_int8,
    release_freed_memory,
    total_memory,
)
from model.errors import AttendError, EncoderOnly
from model.loaded import LoadedModel
from model.names import EMBEDDED, check_path, display_name, locate, without_precision
from model.progress import Progress, silent, terminal_bar
from model.sandbox.checksum import weights_checksum
from model.text.sentencepiece_tokenizer import Tokenizer

if TYPE_CHECKING:
    from model.encoder import Encoder

_UNCOMPILED = "numba is not installed, so each token takes 15 to 30 times as long: run pip install numba."


def load(
    name: str,
    engine: str = "auto",
    device_config: DeviceConfig = DeviceConfig(),
    *,
    limit: int | None = None,
    progress: Progress = silent,
) -> LoadedModel:
    """Load a model of the catalogue by its name, any folder or GGUF file, or a repository of the Hub as "owner/name".

    Args:
        name: the name of a model on the Hub may end in "@" and a revision. Unless the model is in the catalogue, ":"
            and the name or quantization of a GGUF file may come before that.
        engine: one of `ENGINES`; what runs a Hugging Face checkpoint, see `model.huggingface.folder.load_model`.
        device_config: the device and the precision to compute with.
        limit: the largest download in bytes; None for the size of this machine's memory.
        progress: called during a download, see `model.hub.repository.fetch`; an exception that it raises ends it.

    Raises:
        AttendError: if there is no such model, if it is damaged, or if its parts do not belong together; `EncoderOnly`
            for an encoder alone, which `load_encoder` loads.
    """
    if engine not in ENGINES:
        raise AttendError(f"There is no engine {engine!r}: choose one of {', '.join(ENGINES)}.")
    location = locate(name)
    if device_config.dtype == INT8:
        from model.compiled.prepare import check_int8

        check_int8()
    if location.path is not None:
        loaded = _prepared(location.path, location.display_name, engine, device_config)
        notes = (location.note, *loaded.notes) if location.note else loaded.notes
        return replace(loaded, address=location.address, dtype=device_config.dtype, notes=notes)
    from model.hub import repository as hub

    def check(folder: Path, stored: int) -> None:
        from model.huggingface import folder as huggingface_folder
        from model.huggingface.architectures import check_config
        from model.transformer import checkpoint

        device_config.torch_device()  # refuses before a download rather than after
        config = checkpoint.read_config(folder)
        check_config(config, location.display_name)
        huggingface_folder.check_precision(config, location.display_name, engine, device_config)
        huggingface_folder.check_memory(config, location.display_name, stored, engine, device_config)

    def check_gguf(architecture: str, parameters: int, stored: int) -> None:
        from model.gguf.config import check_architecture
        from model.huggingface import folder as huggingface_folder

        device_config.torch_device()
        if architecture:
            check_architecture(architecture, location.display_name)
        huggingface_folder.check_parameters(
            parameters, location.display_name, stored, engine, _in_memory(device_config)
        )

    snapshot = hub.fetch(
        location.repository,
        location.revision,
        limit=total_memory() if limit is None else limit,
        gguf=location.gguf,
        check=check,
        check_gguf=check_gguf,
        progress=progress,
    )
    loaded = _prepared(snapshot.path, location.display_name, engine, device_config)
    notes = (snapshot.note, *loaded.notes) if snapshot.note else loaded.notes
    return replace(loaded, address=location.address, dtype=device_config.dtype, notes=notes)


def _prepared(path: Path, name: str, engine: str, device_config: DeviceConfig) -> LoadedModel:
    """Read a folder or a GGUF file, and give our own transformer its compiled step."""
    from model import jit
    from model.compiled.prepare import prepare_for_decoding, quantize
    from model.transformer.decoder import Transformer

    rounded = device_config.dtype == INT8
    _check(path, name, engine, encoder=False)
    loaded = replace(_read(path, name, engine, device_config), checksum=weights_checksum(path))
    with allocating():
        if rounded:
            quantize(loaded.model)
        elif isinstance(loaded.model, Transformer):
            prepare_for_decoding(loaded.model)
        release_freed_memory()
    return loaded if jit.AVAILABLE else replace(loaded, notes=(*loaded.notes, _UNCOMPILED))


def _check(path: Path, name: str, engine: str, *, encoder: bool) -> None:
    """Refuse a folder or a file that would block or crash the process, or take too much time or memory.

    If it comes with Attend, only its path is checked.

    Args:
        encoder: whether it may be an encoder alone; otherwise `EncoderOnly` refuses it.
    """
    check_path(path)
    if path.parent == EMBEDDED:
        return
    from model.huggingface.trial import limits as trial
    from model.sandbox.folder import check_folder, try_out_tokenizers
    from model.transformer import checkpoint

    ends = time.monotonic() + trial.SECONDS
    if path.is_dir():
        check_folder(path)
        config = checkpoint.read_config(path)
        if not encoder and "model_type" in config:
            from model.huggingface.architectures import check_config

            check_config(config, name)
        try_out_tokenizers(path, tokens=checkpoint.vocabulary_size(config), ends=ends)
        if "model_type" not in config:
            return  # our own layout
    trial.try_out(path, name, ends, engine)


def load_encoder(
    name: str, device_config: DeviceConfig = DeviceConfig(), *, limit: int | None = None, progress: Progress = silent
) -> Encoder:
    """Load a model that `load` refuses as `EncoderOnly`; arguments and errors are the same."""
    from model.hub import repository as hub
    from model.huggingface import encoder as huggingface_encoder
    from model.huggingface import folder as huggingface_folder
    from model.huggingface.architectures import check_config
    from model.transformer import checkpoint

    location = locate(name)
    if device_config.dtype == INT8:
        raise not_in_int8(location.display_name)
    if location.path is not None:
        _check(location.path, location.display_name, "adapter", encoder=True)
        return huggingface_encoder.load(location.path, location.display_name, device_config, address=location.address)

    def check(folder: Path, stored: int) -> None:
        config = checkpoint.read_config(folder)
        with suppress(EncoderOnly):
            check_config(config, location.display_name)
        huggingface_folder.check_memory(config, location.display_name, stored, "auto", device_config)

    limit = total_memory() if limit is None else limit
    snapshot = hub.fetch(location.repository, location.revision, limit=limit, check=check, progress=progress)
    _check(snapshot.path, location.display_name, "adapter", encoder=True)
    return huggingface_encoder.load(snapshot.path, location.display_name, device_config, address=location.address)


def load_arguments(arguments: ModelArguments) -> LoadedModel:
    """The model of a command line; the progress of a download is shown. Raises the errors of `load`."""
    device_config = DeviceConfig(arguments.device, arguments.dtype)
    with terminal_bar() as progress:
        loaded = load(
            arguments.name, arguments.engine, device_config, limit=arguments.download_limit, progress=progress
        )
    source, target = arguments.from_language, arguments.to_language
    return loaded.with_languages(source, target) if source or target else loaded


def load_encoder_arguments(arguments: ModelArguments) -> Encoder:
    """The model that `load_arguments` refused as `EncoderOnly`."""
    if arguments.from_language or arguments.to_language:
        raise AttendError(f"{arguments.name} is not a translator: leave --from-language and --to-language out.")
    device_config = DeviceConfig(arguments.device, arguments.dtype)
    with terminal_bar() as progress:
        return load_encoder(arguments.name, device_config, limit=arguments.download_limit, progress=progress)


def load_another(arguments: ModelArguments, name: str, progress: Progress) -> LoadedModel | Encoder:
    """Another model beside the one from the command line, on the same device and in the same precision.

    Its name may ask for another precision (see `model.names.with_precision`), even if it is the model of the command
    line. It is never offloaded: a model that does not fit beside those in use is refused. The errors are those of
    `load`.
    """
    name, dtype = without_precision(name)
    if dtype and name == display_name(arguments.name):
        name = arguments.name  # the folder that the page shows by its last part
    device_config = DeviceConfig(arguments.device, dtype or arguments.dtype, spread=False)
    limit = arguments.download_limit
    try:
        return load(name, arguments.engine, device_config, limit=limit, progress=progress)
    except EncoderOnly:
        return load_encoder(name, device_config, limit=limit, progress=progress)


def _in_memory(device_config: DeviceConfig) -> DeviceConfig:
    """The device config for a GGUF file, whose dequantized weights are never offloaded."""
    return replace(device_config, spread=False)


def _read(path: Path, name: str, engine: str, device_config: DeviceConfig) -> LoadedModel:
    """Load a GGUF file, or a folder in our own or Hugging Face's layout."""
    if path.is_file():
        from model.huggingface import folder as huggingface_folder
        from model.huggingface.gguf import GgufCheckpoint

        files = GgufCheckpoint.read(path, name)
        loaded = huggingface_folder.load(files, engine, _in_memory(device_config))
        return replace(loaded, notes=(*files.notes, *loaded.notes))
    from model.transformer import checkpoint

    config = checkpoint.read_config(path)
    if "model_type" in config:
        from model.huggingface import folder as huggingface_folder
        from model.huggingface.weights import CheckpointFiles

        return huggingface_folder.load(CheckpointFiles.read(path, name, config), engine, device_config)
    weights = path / checkpoint.WEIGHTS
    device, dtype = device_config.torch_device(), device_config.torch_dtype(None)
    sizes = checkpoint.weight_sizes(weights).values()
    largest_rounded = max(sizes, default=0) if device_config.dtype == INT8 else 0
    stored = weights.stat().st_size
    with allocating():
        if lacking := native_shortage(sum(sizes), stored, device, dtype, largest_rounded=largest_rounded):
            raise AttendError(f"{name} {lacking}: choose a smaller model.")
        model = checkpoint.from_config(config, path, device, dtype)
    tokenizer = Tokenizer.load(path / checkpoint.TOKENIZER, padded=model.config.padding is not None)
    return LoadedModel.from_transformer(name, model, tokenizer)
