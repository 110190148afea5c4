"""Reads a checkpoint as `model.catalog` does, except for its weights, in a process with limits; see `limits.py`."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

os.environ |= {"HF_HUB_OFFLINE": "1", "TOKENIZERS_PARALLELISM": "false", "OMP_NUM_THREADS": "1"}  # read on import

import torch
import torch._dynamo  # needed by a model without memory; its import needs a folder for temporary files
from transformers import AutoConfig, AutoModel, AutoModelForCausalLM, AutoModelForSeq2SeqLM

from model.errors import AttendError, EncoderOnly
from model.huggingface.architectures import check_config
from model.huggingface.gguf import GgufCheckpoint
from model.huggingface.marian_tokenizer import SOURCE, MarianTokenizer
from model.huggingface.tokenizers.folder import read_backend
from model.huggingface.trial.comparison import check_native
from model.huggingface.weights import Checkpoint, CheckpointFiles, check_layers
from model.sandbox.child import MAX_BYTES, serve
from model.sandbox.tokenizer import encode_samples

# Bytes of tables that are computed and not stored, unless the weights are larger. GPT-Neo's, for 2,048 positions, take
# 100 MB.
_MAX_TABLES = 1 << 30


def refusal(question: dict[str, str]) -> str | None:
    """Read a checkpoint; returns the sentence that refuses it."""
    try:
        path, name = Path(question["path"]), question["name"]
        if path.is_file():
            _read_gguf(file := GgufCheckpoint.read(path, name))
        else:
            _read_folder(file := CheckpointFiles.read(path, name, claims_memory=False))
        if question["engine"] != "adapter":
            _compare(file)
    except AttendError as error:
        _raise_shortage(error)
        return str(error)
    return None


def _compare(file: Checkpoint) -> None:
    try:
        check_native(file.config, file.name)
    except AttendError:
        raise
    except Exception as error:  # whatever a family's own code raises for a config; whoever loads it reports that
        _raise_shortage(error)


def _read_gguf(file: GgufCheckpoint) -> None:
    values = dict(file.config)
    AutoConfig.for_model(values.pop("model_type"), **values)
    tokenizer = file.tokenizer(values["vocab_size"])
    encode_samples(lambda text: tokenizer.decode(tokenizer.encode(text)))


def _read_folder(files: CheckpointFiles) -> None:
    kind: Any = AutoModelForSeq2SeqLM if files.config.get("is_encoder_decoder") else AutoModelForCausalLM
    try:
        check_config(files.config, files.name)
    except EncoderOnly:
        kind = AutoModel
    check_layers(files)
    size = _vocabulary_size(kind, files)
    if size is None:
        encode_samples(read_backend(files.path).encode)
    elif (files.path / SOURCE).is_file():
        MarianTokenizer.load(files.path, size)
    else:
        tokenizer = files.tokenizer(size)
        encode_samples(lambda text: tokenizer.decode(tokenizer.encode(text)))


def _vocabulary_size(kind: Any, files: CheckpointFiles) -> int | None:
    """How many tokens the model has, by building it without memory for its weights; None for an encoder alone, and
    where it can't be built, which whoever loads it reports."""
    try:
        config = AutoConfig.from_pretrained(str(files.path), local_files_only=True, trust_remote_code=False)
        with torch.device("meta"):
            built = kind.from_config(config, attn_implementation="eager", trust_remote_code=False)
        size = None if kind is AutoModel else built.get_output_embeddings().weight.shape[0]
    except Exception as error:  # whatever a family's own code raises for a foreign config
        _raise_shortage(error)
        return None
    _check_tables(built, files)
    return size


def _check_tables(built: Any, files: CheckpointFiles) -> None:
    """Refuse tables larger than the weights and than `_MAX_TABLES`, such as GPT-Neo's of all pairs of positions."""
    tables = sum(table.numel() * table.element_size() for _, table in built.named_non_persistent_buffers())
    limit = max(files.size, _MAX_TABLES)
    if tables > limit:
        raise AttendError(
            f"The config.json of {files.name} asks for tables of {tables / 1e9:,.1f} GB beside the weights, but at "
            f"most {limit / 1e9:,.1f} GB are allowed: copy the checkpoint folder again, or choose another model."
        )


def _raise_shortage(error: Exception) -> None:
    """Raise `MemoryError` if that was the cause of another error."""
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, MemoryError):
            raise cause from None
        cause = cause.__cause__ or cause.__context__


if __name__ == "__main__":
    # The most common families: importing their modules takes a large part of the trial of a small model.
    families = [f"transformers.models.{name}.modeling_{name}" for name in ("gpt2", "llama")]
    serve(refusal, MAX_BYTES, mapped=True, modules=families)
