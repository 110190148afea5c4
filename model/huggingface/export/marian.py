"""Our encoder with a decoder in the Marian layout of Hugging Face, so that transformers or CTranslate2 can run it.

Writes config.json, generation_config.json, model.safetensors, source.spm and target.spm (both our tokenizer.model),
vocab.json and tokenizer_config.json. Only the architecture of the 2017 paper can be written. In Marian's positions all
sines come before all cosines, while ours alternate. So every matrix that reads or writes the residual stream is
reordered, which changes no logit. This file knows the layout's names and does not need transformers.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import save
from torch import Tensor

from model.errors import AttendError
from model.huggingface.export.llama import write_json
from model.text.sentencepiece_tokenizer import END, Tokenizer
from model.transformer.config import TransformerConfig
from model.transformer.encoder_decoder import EncoderDecoder

_REQUIRED = {
    "positions": "sinusoidal",
    "norm": "layer",
    "norm_place": "after",
    "norm_epsilon": 1e-5,
    "biases": "all",
    "query_key_norm": False,
    "sliding_window": 0,
    "tied_embeddings": True,
}
_ACTIVATIONS = {"relu": "relu", "gelu": "gelu", "gelu_tanh": "gelu_new"}
_CALLED = {END: "</s>"}  # special tokens with another name in Marian's tokenizer


def marian_config(config: TransformerConfig) -> dict[str, Any]:
    """Our settings under the names of `MarianConfig`; `AttendError` names a setting that Marian does not have."""
    needed = _REQUIRED | {"key_value_heads": config.heads, "head_width": config.width // config.heads}
    for name, value in needed.items():
        if (ours := getattr(config, name)) != value:
            raise AttendError(
                f"This model cannot be written as a Marian: its {name} is {ours!r}, but a Marian's is {value!r}."
            )
    if config.activation not in _ACTIVATIONS or config.width % 2:
        raise AttendError(
            f"This model cannot be written as a Marian: its activation is {config.activation} and its width "
            f"{config.width}, but a Marian's must be one of {', '.join(_ACTIVATIONS)}, and an even number."
        )
    sides = {
        f"{side}_{name}": value
        for side, layers in (("encoder", config.encoder_layers), ("decoder", config.layers))
        for name, value in {
            "layers": layers,
            "attention_heads": config.heads,
            "ffn_dim": config.feed_forward_width,
            "layerdrop": 0.0,
        }.items()
    }
    return {
        "architectures": ["MarianMTModel"],
        "model_type": "marian",
        "dtype": "float32",  # in half precision, the logits would not be equal
        "is_encoder_decoder": True,
        "vocab_size": config.vocabulary_size,
        "d_model": config.width,
        "num_hidden_layers": config.encoder_layers,
        "max_position_embeddings": config.context_length,
        "activation_function": _ACTIVATIONS[config.activation],
        "scale_embedding": True,
        "static_position_embeddings": True,
        "normalize_before": False,
        "normalize_embedding": False,
        "add_final_layer_norm": False,
        "tie_word_embeddings": True,
        "share_encoder_decoder_embeddings": True,
        "dropout": 0.0,
        "pad_token_id": config.padding,
        "decoder_start_token_id": config.padding,
        **sides,
    }


def marian_weights(model: EncoderDecoder) -> dict[str, Tensor]:
    """Our weights under Marian's names and in its order of dimensions, with joint matrices split."""
    weights, config = model.state_dict(), model.config
    order = torch.cat((torch.arange(0, config.width, 2), torch.arange(1, config.width, 2)))  # sines, then cosines
    exported = {
        "model.shared.weight": weights["embedding.weight"][:, order],
        "final_logits_bias": torch.zeros(1, config.vocabulary_size),
    }

    def reads(there: str, here: str, rows: slice = slice(None)) -> None:
        """A layer that reads the residual stream, or one part's rows of a joint layer."""
        exported[f"{there}.weight"] = weights[f"{here}.weight"][rows][:, order]
        exported[f"{there}.bias"] = weights[f"{here}.bias"][rows]

    def writes(there: str, here: str) -> None:
        """A layer or a norm that writes to the residual stream."""
        for kind in ("weight", "bias"):
            exported[f"{there}.{kind}"] = weights[f"{here}.{kind}"][order]

    width = config.width
    first, second, third = (slice(start * width, (start + 1) * width) for start in range(3))
    for side, blocks, layers in (
        ("encoder", "encoder_blocks", config.encoder_layers),
        ("decoder", "blocks", config.layers),
    ):
        for layer in range(layers):
            here, there = f"{blocks}.{layer}", f"model.{side}.layers.{layer}"
            for name, part in (("q_proj", first), ("k_proj", second), ("v_proj", third)):
                reads(f"{there}.self_attn.{name}", f"{here}.attention.qkv_proj", part)
            writes(f"{there}.self_attn.out_proj", f"{here}.attention.o_proj")
            writes(f"{there}.self_attn_layer_norm", f"{here}.attention_norm")
            if side == "decoder":
                reads(f"{there}.encoder_attn.q_proj", f"{here}.cross.q_proj")
                reads(f"{there}.encoder_attn.k_proj", f"{here}.cross.kv_proj", first)
                reads(f"{there}.encoder_attn.v_proj", f"{here}.cross.kv_proj", second)
                writes(f"{there}.encoder_attn.out_proj", f"{here}.cross.o_proj")
                writes(f"{there}.encoder_attn_layer_norm", f"{here}.cross_norm")
            reads(f"{there}.fc1", f"{here}.feed_forward.up_proj")
            writes(f"{there}.fc2", f"{here}.feed_forward.down_proj")
            writes(f"{there}.final_layer_norm", f"{here}.feed_forward_norm")
    return {name: tensor.detach().float().cpu().contiguous() for name, tensor in exported.items()}


def write_marian(
    model: EncoderDecoder, directory: Path, tokenizer_file: Path, *, languages: Sequence[str] | None = None
) -> None:
    """Write the layout into a folder, which is created if it is missing.

    Args:
        languages: the codes of source and target, for the tokenizer's configuration; None if they are not known.
    """
    config = marian_config(model.config)
    directory.mkdir(parents=True, exist_ok=True)
    tokenizer = Tokenizer.load(tokenizer_file, padded=True)
    end = tokenizer.special_token_id(END)
    special = {"eos_token_id": end, "pad_token_id": model.padding, "decoder_start_token_id": model.padding}
    for name in ("source.spm", "target.spm"):
        (directory / name).write_bytes(tokenizer_file.read_bytes())
    pieces = [tokenizer.piece(token) for token in range(tokenizer.vocabulary_size)]
    write_json(directory / "vocab.json", {_CALLED.get(piece, piece): token for token, piece in enumerate(pieces)})
    read = {"tokenizer_class": "MarianTokenizer", "model_max_length": model.context_length}
    codes = dict(zip(("source_lang", "target_lang"), languages, strict=True)) if languages else {}
    write_json(directory / "tokenizer_config.json", read | codes)
    (directory / "model.safetensors").write_bytes(save(marian_weights(model), metadata={"format": "pt"}))
    write_json(directory / "config.json", config | {"eos_token_id": end})
    generation = {"num_beams": 4, "bad_words_ids": [[model.padding]], "max_length": model.context_length}
    write_json(directory / "generation_config.json", special | generation)
