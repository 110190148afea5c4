"""Loads a local folder in Hugging Face form: as our own transformer if its layout is known, otherwise adapted.

Nothing is downloaded, unpickled or run from the folder. A model that cannot be read exactly is refused with the reason
before anything large is loaded: one that does not generate text or needs its own code, or whose weights are pickled or
truncated.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import torch

from model.device import INT8, DeviceConfig, allocating, named_dtype, native_shortage, not_in_int8, shortage
from model.errors import AttendError
from model.huggingface.architectures import check_config
from model.huggingface.conversion import EMBEDDINGS, OUTPUT, IgnoredField, Layout, layout_of, layout_or_reason
from model.huggingface.generation.chat_template import TemplateChat, names_without_default
from model.huggingface.generation.config import GenerationFields, token_ids
from model.huggingface.marian_tokenizer import SOURCE as MARIAN_SOURCE
from model.huggingface.marian_tokenizer import MarianTokenizer
from model.huggingface.weights import (
    BUFFERS,
    Checkpoint,
    check_layers,
    ignored_weights_note,
    offloaded_note,
    read_hf_model,
    stored_dtype,
)
from model.interface import GenerationRules, LanguageModel
from model.loaded import LoadedModel
from model.text.conversation import Transcript
from model.text.languages import Languages
from model.text.tokenizer import TextTokenizer
from model.transformer import checkpoint


def load(files: Checkpoint, engine: str, device_config: DeviceConfig = DeviceConfig()) -> LoadedModel:
    """A folder whose `config.json` names a model type, with its tokenizer; see `load_model`."""
    model, notes = load_model(files, engine, device_config)
    end_tokens = token_ids(
        files.generation.get("eos_token_id", files.config.get("eos_token_id")), model.vocabulary_size
    )
    translates = bool(files.config.get("is_encoder_decoder"))
    generation = GenerationFields.of(files, model.vocabulary_size)
    rules = generation.rules(end_tokens)
    notes = (*notes, *generation.notes(model.context_length, translates=translates))
    if translates:
        if len(rules.forced_bos_token_ids) == 1:  # it is part of the decoder's start
            rules = replace(rules, forced_bos_token_ids=frozenset())
        return _answering(files, model, end_tokens, rules, notes)
    tokenizer = files.tokenizer(model.vocabulary_size)
    end_tokens |= token_ids(tokenizer.hf_tokenizer.eos_token_id, model.vocabulary_size)
    if template := TemplateChat.of(tokenizer):
        end_tokens |= template.end_tokens
    loaded = LoadedModel(
        files.name,
        model,
        tokenizer,
        tokenizer.prefix_tokens,
        end_tokens,
        template,
        rules=rules,
        notes=(*notes, *tokenizer.notes),
    )
    if template:
        return replace(loaded, notes=(*loaded.notes, *template.notes))
    if names := names_without_default(tokenizer):
        note = (
            f"{files.name} has chat templates ({', '.join(names)[:80]}), but no default one: it chats in a plain "
            "transcript."
        )
        loaded = replace(loaded, notes=(*loaded.notes, note))
    return replace(loaded, chat=Transcript(loaded.prompt))


def load_model(
    files: Checkpoint, engine: str, device_config: DeviceConfig = DeviceConfig()
) -> tuple[LanguageModel[Any], tuple[str, ...]]:
    """The model of a folder whose `config.json` names a model type, and sentences about how it was loaded.

    Args:
        engine: "native" runs it as our own transformer, "adapter" through transformers; "auto" as our own if its layout
            is known and it fits in memory (the adapter can offload to the disk).
        device_config: the device and the precision to compute with.

    Raises `AttendError` for a model that `check_config` refuses, that does not fit, or whose parts do not belong
    together.
    """
    check_config(files.config, files.name)
    check_precision(files.config, files.name, engine, device_config)
    check_layers(files)
    layout = layout_or_reason(files.config)
    if engine == "native" and isinstance(layout, str):
        raise AttendError(f"{files.name} can't run as Attend's own transformer, since {layout}: leave --engine out.")
    device, dtype = device_config.torch_device(), device_config.torch_dtype(stored_dtype(files.config))
    parameters = sum(files.sizes.values())
    rounded = device_config.dtype == INT8
    largest_rounded = max(files.sizes.values(), default=0) if rounded else 0
    with allocating():
        lacking = native_shortage(parameters, files.size, device, dtype, largest_rounded=largest_rounded)
        if lacking and (engine == "native" or rounded):
            raise _too_large(files.name, lacking) if engine == "native" else _no_room(files.name, lacking)
        if isinstance(layout, Layout) and engine != "adapter" and not lacking:
            try:
                return _native(layout, files, device, dtype), ()
            except AttendError:  # transformers may be able to read these weights
                if engine == "native" or rounded:
                    raise
        lacking = shortage(device, parameters * dtype.itemsize)
        if lacking and not device_config.spread:
            raise _no_room(files.name, lacking)
        hf_model, ignored = _pretrained(files, device, dtype, spread=bool(lacking))
    notes = (*offloaded_note(files.name, lacking), *ignored_weights_note(files.name, ignored))
    if isinstance(layout, IgnoredField):
        note = (
            f"{files.name} runs through transformers, which ignores a field of its config.json ({layout}): its results "
            "may differ from those of its authors' own code."
        )
        notes = (*notes, note)
    return _adapted(files, hf_model), notes


def _answering(
    files: Checkpoint,
    model: LanguageModel[Any],
    end_tokens: frozenset[int],
    rules: GenerationRules,
    notes: tuple[str, ...],
) -> LoadedModel:
    """An encoder-decoder: every message is a separate source, framed by the tokenizer's special tokens."""
    tokenizer: TextTokenizer
    if (files.path / MARIAN_SOURCE).is_file():
        tokenizer = marian = MarianTokenizer.load(files.path, model.vocabulary_size)
        prefix_tokens, suffix_tokens = (), (marian.end,)
        notes = (*notes, *marian.notes)
    else:
        tokenizer = other = files.tokenizer(model.vocabulary_size)
        prefix_tokens, suffix_tokens = other.prefix_tokens, other.suffix_tokens
        notes = (*notes, *other.notes)
    return LoadedModel(
        files.name,
        model,
        tokenizer,
        prefix_tokens,
        end_tokens | frozenset(suffix_tokens[:1]),  # what may follow is the language
        None,
        suffix_tokens=suffix_tokens,
        rules=rules,
        notes=(*notes, *_tasks(files.config)),
        languages=Languages.of(tokenizer, (*prefix_tokens, *suffix_tokens), model.decoder_start),
    ).with_single_message_chat()


def _tasks(values: Mapping[str, Any]) -> tuple[str, ...]:
    """The prefixes of a model's tasks, as in T5's config.json."""
    tasks = values.get("task_specific_params")
    written = (
        [task.get("prefix") for task in tasks.values() if isinstance(task, dict)] if isinstance(tasks, dict) else []
    )
    prefixes = [repr(prefix) for prefix in written if isinstance(prefix, str) and 0 < len(prefix) <= 60]
    return (f"Begin each text with its task, such as {' or '.join(prefixes[:4])}.",) if prefixes else ()


def check_precision(values: Mapping[str, Any], name: str, engine: str, device_config: DeviceConfig) -> None:
    """Refuse a model in 8 bits that would run through transformers, by its `config.json` alone."""
    if device_config.dtype == INT8 and (engine == "adapter" or isinstance(layout_or_reason(values), str)):
        raise not_in_int8(name)


def check_memory(values: Mapping[str, Any], name: str, stored: int, engine: str, device_config: DeviceConfig) -> None:
    """Refuse a model that would not fit in memory and may not be offloaded, by its `config.json` alone.

    Args:
        stored: bytes of the weights; divided by the size of the dtype in the config, they give the parameter count.
    """
    dtype_name = stored_dtype(values)
    parameters = stored // named_dtype(dtype_name).itemsize
    layout = layout_of(values)
    largest = 0 if layout is None else layout.config.vocabulary_size * layout.config.width  # of embeddings
    check_parameters(parameters, name, stored, engine, device_config, dtype_name=dtype_name, largest=largest)


def check_parameters(
    parameters: int,
    name: str,
    stored: int,
    engine: str,
    device_config: DeviceConfig,
    *,
    dtype_name: object = None,
    largest: int = 0,
) -> None:
    """`check_memory` for a model with so many parameters.

    Args:
        stored: bytes of the weights.
        dtype_name: the dtype in which they are stored.
        largest: parameters of the largest matrix, as far as known.
    """
    device, dtype = device_config.torch_device(), device_config.torch_dtype(dtype_name)
    rounded = device_config.dtype == INT8
    if engine == "native" or rounded:
        if lacking := native_shortage(parameters, stored, device, dtype, largest_rounded=largest if rounded else 0):
            raise _too_large(name, lacking) if engine == "native" else _no_room(name, lacking)
    elif not device_config.spread and (lacking := shortage(device, parameters * dtype.itemsize)):
        raise _no_room(name, lacking)


def _no_room(name: str, lacking: str) -> AttendError:
    return AttendError(
        f"{name} {lacking}: choose a smaller model, or try again when other models are no longer in use."
    )


def _too_large(name: str, lacking: str) -> AttendError:
    return AttendError(f"{name} {lacking}: choose a smaller model, or leave --engine out.")


def _native(layout: Layout, files: Checkpoint, device: torch.device, dtype: torch.dtype) -> LanguageModel[Any]:
    """The checkpoint as our own transformer."""
    path, stored = files.path, files.weights()
    layout = layout.for_weights(stored)
    tied = layout.config.tied_embeddings
    try:
        weights = layout.weights(stored, layout.config)
    except KeyError as error:
        raise AttendError(f"{path} has no weight {error.args[0]}: copy the checkpoint again.") from error
    except RuntimeError as error:  # matrices that cannot be joined
        _refuse_by_stored_names(files, dtype)
        raise AttendError(
            f"The weights and the config of {path} belong to different models: copy the checkpoint again."
        ) from error
    if tied:
        del weights["unembedding.weight"]
    twice = tied and any(name.endswith(EMBEDDINGS) for name in files.sizes)
    ignored = (*BUFFERS, OUTPUT) if twice else BUFFERS
    used = sum(size for name, size in files.sizes.items() if not name.endswith(ignored))
    if used != sum(tensor.numel() for tensor in weights.values()):
        raise AttendError(
            f"{path} has weights that its config does not mention: choose another model, or run it without these "
            "weights with --engine adapter."
        )
    try:
        return checkpoint.from_weights(layout.config, weights, path, device, dtype)
    except AttendError:
        _refuse_by_stored_names(files, dtype)
        raise


def _refuse_by_stored_names(files: Checkpoint, dtype: torch.dtype) -> None:
    """Refuse weights that do not fit, under the checkpoint's names, since ours are joined from several.

    Takes no memory.
    """
    from transformers import AutoModelForCausalLM

    read_hf_model(AutoModelForCausalLM, files, torch.device("meta"), dtype, attention="eager", spread=False)


def _pretrained(files: Checkpoint, device: torch.device, dtype: torch.dtype, *, spread: bool) -> tuple[Any, list[str]]:
    """The model of transformers, and the names of the weights that it ignores."""
    from transformers import AutoModelForCausalLM, AutoModelForSeq2SeqLM

    from model.huggingface.attention import EAGER

    kind = AutoModelForSeq2SeqLM if files.config.get("is_encoder_decoder") else AutoModelForCausalLM
    read_hf_model(kind, files, torch.device("meta"), dtype, attention=EAGER, spread=False)  # refuses without memory
    return read_hf_model(kind, files, device, dtype, attention=EAGER, spread=spread)


def _adapted(files: Checkpoint, hf_model: Any) -> LanguageModel[Any]:
    """The model of transformers, run through our interface."""
    from model.huggingface.causal import HuggingFaceModel
    from model.huggingface.seq2seq import Seq2SeqModel
    from model.huggingface.verify import verified

    if not files.config.get("is_encoder_decoder"):
        return verified(HuggingFaceModel, hf_model, files.name)
    forced = token_ids(hf_model.generation_config.forced_bos_token_id, hf_model.get_output_embeddings().weight.shape[0])
    forced_start = sorted(forced) if len(forced) == 1 else []  # one of several is forced by a rule
    return verified(partial(Seq2SeqModel, forced_start=forced_start), hf_model, files.name)
