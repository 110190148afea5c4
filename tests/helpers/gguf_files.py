"""Writes GGUF files as llama.cpp's converter does, from models of transformers: its names, its order of rows.

The names of the tensors are looked up in the map of the `gguf` package, which the converter uses, too.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from gguf import GGMLQuantizationType, GGUFWriter, get_tensor_name_map, quantize
from gguf.constants import MODEL_ARCH_NAMES
from transformers import PreTrainedModel, PreTrainedTokenizerFast

NORMAL, UNKNOWN, CONTROL, BYTE = 1, 2, 3, 6  # kinds of tokens
_FIELDS = {  # of a config of transformers → key of the file
    "max_position_embeddings": "context_length",
    "hidden_size": "embedding_length",
    "num_hidden_layers": "block_count",
    "intermediate_size": "feed_forward_length",
    "num_attention_heads": "attention.head_count",
    "num_key_value_heads": "attention.head_count_kv",
    "n_inner": "feed_forward_length",
}
_REAL = {"rms_norm_eps": "attention.layer_norm_rms_epsilon", "layer_norm_epsilon": "attention.layer_norm_epsilon"}


def write_gguf(
    path: Path,
    model: PreTrainedModel,
    tokenizer: PreTrainedTokenizerFast,
    *,
    architecture: str = "",
    quantization: GGMLQuantizationType = GGMLQuantizationType.F32,
    tensors: Mapping[str, np.ndarray] = {},
    keys: Mapping[str, Any] = {},
) -> Path:
    """Write a model with its tokenizer.

    Args:
        architecture: as llama.cpp names it, if otherwise than transformers.
        quantization: of all matrices.
        tensors: more of them, as float32.
        keys: more of them, or others in their place; None leaves one out.
    """
    config: Any = model.config
    architecture = architecture or config.model_type
    writer = GGUFWriter(path, architecture)
    sizes: dict[str, Any] = {key: getattr(config, name) for name, key in _FIELDS.items() if getattr(config, name, None)}
    sizes |= {key: float(getattr(config, name)) for name, key in _REAL.items() if hasattr(config, name)}
    if rotation := getattr(config, "rope_parameters", None):
        sizes["rope.freq_base"] = float(rotation["rope_theta"])
    if width := getattr(config, "head_dim", None):
        sizes["attention.key_length"] = sizes["attention.value_length"] = width
    _write_vocabulary(writer, tokenizer)
    for key, value in {**{f"{architecture}.{key}": value for key, value in sizes.items()}, **keys}.items():
        _add(writer, key, value)
    kind = next(kind for kind, name in MODEL_ARCH_NAMES.items() if name == architecture)
    names = get_tensor_name_map(kind, config.num_hidden_layers)
    tied = config.tie_word_embeddings
    for name, weight in model.state_dict().items():
        if name == "lm_head.weight" and tied:
            continue
        stored = weight.float().numpy()
        renamed = names.get_name(name, try_suffixes=(".weight", ".bias"))
        assert renamed, name
        if architecture == "llama" and (".attn_q." in renamed or ".attn_k." in renamed):
            heads = config.num_attention_heads if ".attn_q." in renamed else config.num_key_value_heads
            stored = stored.reshape(heads, 2, -1, *stored.shape[1:]).swapaxes(1, 2).reshape(stored.shape)
        if architecture == "gpt2" and renamed.startswith("blk.") and stored.ndim == 2:
            stored = stored.T
        of = quantization if stored.ndim == 2 else GGMLQuantizationType.F32
        writer.add_tensor(renamed, quantize(np.ascontiguousarray(stored), of), raw_dtype=of)
    for name, stored in tensors.items():
        writer.add_tensor(name, stored.astype(np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


def _add(writer: GGUFWriter, key: str, value: Any) -> None:
    match value:
        case None:
            pass
        case bool():
            writer.add_bool(key, value)
        case int():
            writer.add_uint32(key, value)
        case float():
            writer.add_float32(key, value)
        case str():
            writer.add_string(key, value)
        case _:
            writer.add_array(key, value)


def _write_vocabulary(writer: GGUFWriter, tokenizer: PreTrainedTokenizerFast) -> None:
    described = json.loads(tokenizer.backend_tokenizer.to_str())["model"]
    names = [str(tokenizer.convert_ids_to_tokens(piece)) for piece in range(len(tokenizer))]
    merges = [" ".join(merge) for merge in described["merges"]]
    special = set(tokenizer.all_special_tokens) | {"<|im_start|>", "<|im_end|>"}
    byte_level = not described["byte_fallback"]
    writer.add_tokenizer_model("gpt2" if byte_level else "llama")
    writer.add_token_list(names)
    kinds = [CONTROL if name in special else BYTE if name.startswith("<0x") else NORMAL for name in names]
    writer.add_token_types(kinds)
    writer.add_token_merges(merges)
    if byte_level:
        writer.add_tokenizer_pre("gpt-2")
    else:
        writer.add_token_scores([-float(piece) for piece in range(len(names))])  # merges in the order of their ids
        writer.add_bos_token_id(1)
        writer.add_unk_token_id(0)
    writer.add_eos_token_id(names.index(str(tokenizer.eos_token)))
    if tokenizer.chat_template:
        writer.add_chat_template(str(tokenizer.chat_template))
