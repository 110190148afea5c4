"""Our decoder in the Llama layout of Hugging Face, so that transformers, vLLM or llama.cpp can run it.

Writes config.json, model.safetensors, tokenizer.model, tokenizer.json, tokenizer_config.json and
generation_config.json. Only decoders that are a Llama by construction can be written: rotary positions, RMSNorm before
each sub-layer, SwiGLU. This file knows the layout's names; transformers is only needed for tokenizer.json, which it
makes from tokenizer.model.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from safetensors.torch import save
from torch import Tensor

from model.errors import AttendError
from model.text.sentencepiece_tokenizer import ASSISTANT, BEGIN, END, USER, Tokenizer
from model.transformer.config import TransformerConfig
from model.transformer.decoder import Transformer

_REQUIRED = {
    "positions": "rotary",
    "norm": "rms",
    "norm_place": "before",
    "activation": "swiglu",
    "query_key_norm": False,
    "sliding_window": 0,
    "rotary_scaling": None,
}

# Conversations are written as in `model.text.conversation`, with the roles as tokens.
_CHAT_TEMPLATE = (
    f"{BEGIN}"
    "{% for message in messages %}"
    f"{{{{ '{ASSISTANT}' if message['role'] == 'assistant' else '{USER}' }}}}"
    "{{ message['content'] }}"
    f"{END}"
    "{% endfor %}"
    f"{{% if add_generation_prompt %}}{ASSISTANT}{{% endif %}}"
)


def llama_config(config: TransformerConfig) -> dict[str, Any]:
    """Our settings under the names of `LlamaConfig`; `AttendError` names a setting that Llama does not have."""
    for name, needed in _REQUIRED.items():
        if (value := getattr(config, name)) != needed:
            raise AttendError(
                f"This model cannot be written as a Llama: its {name} is {value!r}, and a Llama's is {needed!r}."
            )
    if config.biases == "qkv":
        raise AttendError("This model cannot be written as a Llama: its biases are in some linear layers alone.")
    return {
        "architectures": ["LlamaForCausalLM"],
        "model_type": "llama",
        "dtype": "float32",  # in half precision, the logits would not be equal
        "vocab_size": config.vocabulary_size,
        "max_position_embeddings": config.context_length,
        "hidden_size": config.width,
        "intermediate_size": config.feed_forward_width,
        "num_hidden_layers": config.layers,
        "num_attention_heads": config.heads,
        "num_key_value_heads": config.key_value_heads,
        "head_dim": config.head_width,
        "hidden_act": "silu",
        "rms_norm_eps": config.norm_epsilon,
        "rope_parameters": {"rope_type": "default", "rope_theta": config.rotary_base},
        "attention_bias": config.biases == "all",
        "mlp_bias": config.biases == "all",
        "attention_dropout": 0.0,
        "tie_word_embeddings": config.tied_embeddings,
    }


def llama_weights(model: Transformer) -> dict[str, Tensor]:
    """Our weights under Llama's names, with separate matrices for queries, keys, values, gate and width."""
    config, weights = model.config, model.state_dict()
    heads, shared = (count * config.head_width for count in (config.heads, config.key_value_heads))
    exported = {
        "model.embed_tokens.weight": weights["embedding.weight"],
        "model.norm.weight": weights["final_norm.weight"],
    }
    if not config.tied_embeddings:
        exported["lm_head.weight"] = weights["unembedding.weight"]
    for layer in range(config.layers):
        block, there = f"blocks.{layer}", f"model.layers.{layer}"
        exported[f"{there}.input_layernorm.weight"] = weights[f"{block}.attention_norm.weight"]
        exported[f"{there}.post_attention_layernorm.weight"] = weights[f"{block}.feed_forward_norm.weight"]
        for kind in ("weight", "bias") if config.biases == "all" else ("weight",):
            joint = weights[f"{block}.attention.qkv_proj.{kind}"].split((heads, shared, shared))
            for name, part in zip(("q_proj", "k_proj", "v_proj"), joint, strict=True):
                exported[f"{there}.self_attn.{name}.{kind}"] = part
            exported[f"{there}.self_attn.o_proj.{kind}"] = weights[f"{block}.attention.o_proj.{kind}"]
            up_proj = weights[f"{block}.feed_forward.up_proj.{kind}"].split(config.feed_forward_width)
            for name, part in zip(("gate_proj", "up_proj"), up_proj, strict=True):
                exported[f"{there}.mlp.{name}.{kind}"] = part
            exported[f"{there}.mlp.down_proj.{kind}"] = weights[f"{block}.feed_forward.down_proj.{kind}"]
    return {name: tensor.detach().float().cpu().contiguous() for name, tensor in exported.items()}


def write_llama(model: Transformer, directory: Path, tokenizer_file: Path | None = None) -> None:
    """Write the layout into a folder, created if it is missing; without a tokenizer, it is for token ids only."""
    config, generation = llama_config(model.config), {"do_sample": False}
    directory.mkdir(parents=True, exist_ok=True)
    if tokenizer_file is not None:
        tokenizer = Tokenizer.load(tokenizer_file)
        end = tokenizer.special_token_id(END)
        special = {"bos_token_id": tokenizer.special_token_id(BEGIN), "eos_token_id": end, "pad_token_id": end}
        config, generation = config | special, generation | special
        (directory / "tokenizer.model").write_bytes(tokenizer_file.read_bytes())
        write_json(directory / "tokenizer_config.json", _tokenizer_config(tokenizer, model.context_length))
    (directory / "model.safetensors").write_bytes(save(llama_weights(model), metadata={"format": "pt"}))
    write_json(directory / "config.json", config)
    write_json(directory / "generation_config.json", generation)
    if tokenizer_file is not None:
        _write_fast_tokenizer(directory)  # last: transformers reads the folder, and must find no other model's files


def _tokenizer_config(tokenizer: Tokenizer, context_length: int) -> dict[str, Any]:
    """How transformers must read our tokenizer.model to give the same ids.

    It reads two texts differently: one that spells a control token becomes that token, unless the call says
    `split_special_tokens=True`, and U+2581, which SentencePiece uses for the space, becomes a space.
    """
    config = {
        "tokenizer_class": "LlamaTokenizer",
        "model_max_length": context_length,
        "legacy": False,
        "add_prefix_space": False,
        "add_bos_token": True,
        "add_eos_token": False,
        "unk_token": "<unk>",
        "bos_token": BEGIN,
        "eos_token": END,
        "pad_token": END,
        "clean_up_tokenization_spaces": False,
    }
    if not (tokenizer.has_special_token(USER) and tokenizer.has_special_token(ASSISTANT)):
        return config
    return config | {"additional_special_tokens": [USER, ASSISTANT], "chat_template": _CHAT_TEMPLATE}


def _write_fast_tokenizer(directory: Path) -> None:
    """Add tokenizer.json, for engines that don't know SentencePiece."""
    from transformers import AutoTokenizer  # takes seconds, and weights alone are written without

    (directory / "tokenizer.json").unlink(missing_ok=True)  # one from an earlier export would be read first
    hf_tokenizer: Any = AutoTokenizer.from_pretrained(str(directory), local_files_only=True, trust_remote_code=False)
    (directory / "tokenizer.json").write_text(
        hf_tokenizer.backend_tokenizer.to_str(pretty=True) + "\n", encoding="utf-8"
    )


def write_json(path: Path, values: dict[str, Any]) -> None:
    path.write_text(json.dumps(values, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
