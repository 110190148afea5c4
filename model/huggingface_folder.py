"""A local folder in Hugging Face form → a loaded model: as our own transformer where its layout is known, else adapted.

Nothing is downloaded, unpickled or run from the folder. What cannot be read exactly is refused with the reason, before
anything large is loaded: a model that writes no texts, one with code of its own, weights that are pickled or cut short.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch
from torch import Tensor
from transformers import CONFIG_MAPPING
from transformers.models.auto.modeling_auto import (
    MODEL_FOR_CAUSAL_LM_MAPPING_NAMES,
    MODEL_FOR_MASKED_LM_MAPPING_NAMES,
    MODEL_FOR_SEQ_TO_SEQ_CAUSAL_LM_MAPPING_NAMES,
)

from model import checkpoint
from model.chat import Transcript
from model.errors import AttendError, EncoderOnly
from model.huggingface_chat import TemplateChat
from model.huggingface_marian import SOURCE as MARIAN_SOURCE
from model.huggingface_marian import MarianTokenizer
from model.huggingface_tokenizer import HuggingFaceTokenizer
from model.huggingface_weights import offloaded, read_theirs, stored_dtype, weight_files
from model.interface import LanguageModel
from model.languages import Languages
from model.layouts import Layout, layout_of
from model.loaded import LoadedModel
from model.placement import DTYPES, Placement, native_shortage, shortage
from model.text import TextTokenizer

_BUFFERS = (".attn.bias", ".attn.masked_bias", ".rotary_emb.inv_freq")  # computed, but stored in older checkpoints


def load(folder: Path, name: str, engine: str, placement: Placement = Placement()) -> LoadedModel:
    """Load a folder whose `config.json` names a model type, with its tokenizer; see `load_model`."""
    values = checkpoint.read_config(folder)
    model, notes = load_model(folder, name, engine, placement)
    said = _generation_config(folder)
    ends = _ids(said.get("eos_token_id", values.get("eos_token_id")), model.vocabulary_size)
    never = frozenset(
        piece
        for sequence in said.get("bad_words_ids") or ()
        if len(sequence) == 1
        for piece in _ids(sequence, model.vocabulary_size)
    )
    if values.get("is_encoder_decoder"):
        return _answering(folder, name, model, ends, never, notes)
    tokenizer = HuggingFaceTokenizer.load(folder, model.vocabulary_size)
    ends |= _ids(tokenizer.theirs.eos_token_id, model.vocabulary_size)
    if template := TemplateChat.of(tokenizer):
        ends |= template.end_tokens
    loaded = LoadedModel(name, model, tokenizer, tokenizer.start, ends, template, never=never, notes=notes)
    return loaded if template else replace(loaded, chat=Transcript(loaded.prompt))


def load_model(
    folder: Path, name: str, engine: str, placement: Placement = Placement()
) -> tuple[LanguageModel[Any], tuple[str, ...]]:
    """The model of a folder whose `config.json` names a model type, and sentences about how it was loaded.

    Args:
        engine: "native" is our own transformer, "adapter" the one of transformers; "auto" the first where it can be,
            and where it has the memory: the adapter leaves on the disk what does not fit.
        placement: the device and the precision to compute with.

    Raises `AttendError` for all that the file's first lines name, and for parts that do not belong together.
    """
    values = checkpoint.read_config(folder)
    layout = layout_of(values)
    check_config(folder, str(folder))
    if engine == "native" and layout is None:
        raise AttendError(f"Our transformer cannot be exactly the model in {folder}: leave --engine out.")
    files = weight_files(folder)
    device, dtype = placement.torch_device(), placement.torch_dtype(stored_dtype(values))
    numbers = sum(checkpoint.count_numbers(path) for path in files)
    lacking = native_shortage(numbers, sum(path.stat().st_size for path in files), device, dtype)
    if lacking and engine == "native":
        raise _too_large(name, lacking)
    if layout is not None and engine != "adapter" and not lacking:
        return _native(layout, files, folder, device, dtype), ()
    lacking = shortage(device, numbers * dtype.itemsize)
    if lacking and not placement.spread:
        raise _no_room(name, lacking)
    return _adapted(folder, values, device, dtype, spread=bool(lacking)), offloaded(name, lacking)


def _answering(
    folder: Path,
    name: str,
    model: LanguageModel[Any],
    ends: frozenset[int],
    never: frozenset[int],
    notes: tuple[str, ...],
) -> LoadedModel:
    """An encoder with a decoder: every message is a source of its own, framed as the tokenizer frames texts."""
    if (folder / MARIAN_SOURCE).is_file():
        tokenizer: TextTokenizer = (marian := MarianTokenizer.load(folder, model.vocabulary_size))
        start, ending = (), (marian.end,)
    else:
        tokenizer = (theirs := HuggingFaceTokenizer.load(folder, model.vocabulary_size))
        start, ending = theirs.start, theirs.ending
    ends |= frozenset(ending[:1])  # what may follow is the language
    languages = Languages.of(tokenizer, (*start, *ending), model.decoder_start)
    notes = (*notes, *_tasks(checkpoint.read_config(folder)))
    return LoadedModel(
        name, model, tokenizer, start, ends, None, ending=ending, never=never, notes=notes, languages=languages
    ).answering_each()


def _tasks(values: Mapping[str, Any]) -> tuple[str, ...]:
    """What a model that was taught several tasks expects before a text, as T5's config.json says it."""
    tasks = values.get("task_specific_params")
    said = [task.get("prefix") for task in tasks.values() if isinstance(task, dict)] if isinstance(tasks, dict) else []
    prefixes = [repr(prefix) for prefix in said if isinstance(prefix, str) and 0 < len(prefix) <= 60]
    return (f"A text begins with its task, such as {' or '.join(prefixes[:4])}.",) if prefixes else ()


def check_config(folder: Path, called: str) -> None:
    """Refuse, with nothing but `config.json` there, a model that writes no texts or that needs code of its own.

    What reads texts alone, a family with a masked language model, is refused as `EncoderOnly`.

    Args:
        called: what the sentence calls the model.
    """
    values = checkpoint.read_config(folder)
    if "model_type" not in values:
        raise AttendError(f"The config.json of {called} does not name a model_type: choose another model.")
    kind, architectures = str(values["model_type"]), values.get("architectures") or ()
    if kind not in CONFIG_MAPPING:
        raise AttendError(
            f"transformers does not know models of the kind {kind[:80]!r}, and code from {called} is never run: "
            "choose another model."
        )
    if values.get("is_encoder_decoder"):
        writing = _classes(MODEL_FOR_SEQ_TO_SEQ_CAUSAL_LM_MAPPING_NAMES)
        wanted = not writing.isdisjoint(map(str, architectures))
    else:
        continuing = _classes(MODEL_FOR_CAUSAL_LM_MAPPING_NAMES)
        # Only families that come as encoders, too, tell by `is_decoder` which one this is.
        reads_alone = values.get("is_decoder", True) is False and kind in MODEL_FOR_MASKED_LM_MAPPING_NAMES
        wanted = not reads_alone and not continuing.isdisjoint(map(str, architectures))
    if not wanted and (architectures or layout_of(values) is None):
        named = ", ".join(map(str, architectures)) or kind
        if kind in MODEL_FOR_MASKED_LM_MAPPING_NAMES and not values.get("is_encoder_decoder"):
            raise EncoderOnly(called, named)
        raise AttendError(
            f"The model in {called} is a {named}, which does not write texts: choose a causal or a "
            "sequence-to-sequence one."
        )


def _classes(mapping: Mapping[Any, Any]) -> set[str]:
    return {name for names in mapping.values() for name in ([names] if isinstance(names, str) else names)}


def check_memory(folder: Path, called: str, stored: int, engine: str, placement: Placement) -> None:
    """Refuse, with nothing but `config.json` there, what there would be no memory for, and what may not be spread.

    Args:
        stored: bytes of the weights, from which and the precision that the config names their number follows.
    """
    name = stored_dtype(checkpoint.read_config(folder))
    numbers = stored // DTYPES.get(str(name), torch.float32).itemsize
    device, dtype = placement.torch_device(), placement.torch_dtype(name)
    if engine == "native":
        if lacking := native_shortage(numbers, stored, device, dtype):
            raise _too_large(called, lacking)
    elif not placement.spread and (lacking := shortage(device, numbers * dtype.itemsize)):
        raise _no_room(called, lacking)


def _no_room(called: str, lacking: str) -> AttendError:
    return AttendError(f"{called} {lacking}: choose a smaller model, or try again once others are no longer in use.")


def _too_large(called: str, lacking: str) -> AttendError:
    return AttendError(f"{called} {lacking}: choose a smaller model, or leave --engine out.")


def _native(
    layout: Layout, files: list[Path], folder: Path, device: torch.device, dtype: torch.dtype
) -> LanguageModel[Any]:
    theirs: dict[str, Tensor] = {}
    for path in files:
        theirs |= checkpoint.read_weights(path)
    tied = layout.config.tied_embeddings
    try:
        ours = layout.weights(theirs, layout.config)
    except KeyError as error:
        raise AttendError(f"{folder} lacks the weight {error.args[0]}: copy the checkpoint folder again.") from error
    except RuntimeError as error:  # matrices that cannot be joined
        _refuse_by_their_names(folder, dtype)
        raise AttendError(f"{folder} holds weights of another model than its config.json.") from error
    if tied:
        del ours["unembedding.weight"]
    passed_over = (*_BUFFERS, "lm_head.weight") if tied else _BUFFERS
    told = sum(tensor.numel() for name, tensor in theirs.items() if not name.endswith(passed_over))
    if told != sum(tensor.numel() for tensor in ours.values()):
        raise AttendError(f"{folder} holds weights that its config.json does not speak of: try --engine adapter.")
    try:
        return checkpoint.filled(layout.config, ours, folder, device, dtype)
    except AttendError:
        _refuse_by_their_names(folder, dtype)
        raise


def _refuse_by_their_names(folder: Path, dtype: torch.dtype) -> None:
    """Weights that do not fit are refused by the names that the checkpoint has for them: ours are joined from several.
    Takes no memory."""
    from transformers import AutoModelForCausalLM

    read_theirs(AutoModelForCausalLM, folder, torch.device("meta"), dtype, attention="eager", spread=False)


def _adapted(
    folder: Path, values: Mapping[str, Any], device: torch.device, dtype: torch.dtype, *, spread: bool
) -> LanguageModel[Any]:
    """The model of transformers behind our interface."""
    from transformers import AutoModelForCausalLM, AutoModelForSeq2SeqLM

    from model.huggingface import HuggingFaceModel
    from model.huggingface_attention import attention_for
    from model.huggingface_seq2seq import Seq2SeqModel

    kind = AutoModelForSeq2SeqLM if values.get("is_encoder_decoder") else AutoModelForCausalLM
    attention = attention_for(str(values["model_type"]))
    theirs = read_theirs(kind, folder, device, dtype, attention=attention, spread=spread)
    if values.get("is_encoder_decoder"):
        return Seq2SeqModel(
            theirs, forced_start=sorted(_ids(theirs.generation_config.forced_bos_token_id, theirs.config.vocab_size))
        )
    return HuggingFaceModel(theirs)


def _generation_config(folder: Path) -> dict[str, Any]:
    path = folder / "generation_config.json"
    return checkpoint.read_json(path) if path.is_file() else {}


def _ids(said: object, vocabulary_size: int) -> frozenset[int]:
    """Token ids as configs write them: one, a list of them, or nothing; what is no token is left out."""
    listed = said if isinstance(said, list) else [said]
    return frozenset(piece for piece in listed if type(piece) is int and 0 <= piece < vocabulary_size)
