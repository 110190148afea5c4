"""The weights of a GGUF file under the names of Hugging Face, each dequantized when it is asked for.

llama.cpp stores two things differently: the rows of Llama's queries and keys are in another order, and GPT-2's matrices
are transposed. Both are undone. Nothing is kept: while a model of N parameters is filled, it takes 4 N bytes and the
memory of one tensor.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from model.gguf.config import ROPE_FACTORS, unknown_part
from model.gguf.dequantize import read_tensor
from model.gguf.header import GgufHeader

_TENSOR = re.compile(r"(?:blk\.(\d{1,6})\.)?(\w+)\.(weight|bias)")
_ROTARY = {
    "token_embd": "model.embed_tokens",
    "output_norm": "model.norm",
    "output": "lm_head",
    "attn_norm": "model.layers.{}.input_layernorm",
    "attn_q": "model.layers.{}.self_attn.q_proj",
    "attn_k": "model.layers.{}.self_attn.k_proj",
    "attn_v": "model.layers.{}.self_attn.v_proj",
    "attn_output": "model.layers.{}.self_attn.o_proj",
    "attn_q_norm": "model.layers.{}.self_attn.q_norm",
    "attn_k_norm": "model.layers.{}.self_attn.k_norm",
    "ffn_norm": "model.layers.{}.post_attention_layernorm",
    "ffn_gate": "model.layers.{}.mlp.gate_proj",
    "ffn_up": "model.layers.{}.mlp.up_proj",
    "ffn_down": "model.layers.{}.mlp.down_proj",
}
_GPT2 = {
    "token_embd": "transformer.wte",
    "position_embd": "transformer.wpe",
    "output_norm": "transformer.ln_f",
    "output": "lm_head",
    "attn_norm": "transformer.h.{}.ln_1",
    "attn_qkv": "transformer.h.{}.attn.c_attn",
    "attn_output": "transformer.h.{}.attn.c_proj",
    "ffn_norm": "transformer.h.{}.ln_2",
    "ffn_up": "transformer.h.{}.mlp.c_fc",
    "ffn_down": "transformer.h.{}.mlp.c_proj",
}

Restore = Callable[[NDArray[np.float32]], NDArray[np.float32]]


class GgufWeights(Mapping[str, Tensor]):
    """Maps the name of a weight to the weight in float32, which each look-up dequantizes anew."""

    def __init__(self, header: GgufHeader, config: Mapping[str, Any], name: str) -> None:
        """
        Args:
            config: the model's, as `model.gguf.config.config_values` finds it.
            name: what messages call the model.

        Raises `AttendError` for tensors that the family does not have.
        """
        self._header = header
        self._sources: dict[str, tuple[str, Restore]] = {}
        known = _GPT2 if header.architecture == "gpt2" else _ROTARY
        for tensor in header.tensors:
            if tensor == ROPE_FACTORS:
                continue  # it is part of the config
            match = _TENSOR.fullmatch(tensor)
            stored_name = known.get(match[2]) if match else None
            if match is None or stored_name is None or ("{}" in stored_name) != (match[1] is not None):
                raise unknown_part(name, f"it has the weight {tensor[:80]}")
            self._sources[f"{stored_name.format(match[1])}.{match[3]}"] = tensor, _restoring(header, config, match)
        self.sizes = {name: header.tensors[tensor].count for name, (tensor, _) in self._sources.items()}

    def __getitem__(self, name: str) -> Tensor:
        tensor, restore = self._sources[name]
        return torch.from_numpy(np.ascontiguousarray(restore(read_tensor(self._header, tensor))))

    def __iter__(self) -> Iterator[str]:
        return iter(self._sources)

    def __len__(self) -> int:
        return len(self._sources)


def _restoring(header: GgufHeader, config: Mapping[str, Any], match: re.Match[str]) -> Restore:
    """The function that turns a stored tensor back into that of the checkpoint."""
    kind, rows = match[2], header.tensors[match[0]].shape[0]
    if header.architecture == "gpt2" and match[1] and match[3] == "weight" and "norm" not in kind:
        return np.transpose
    if header.architecture == "llama" and kind in ("attn_q", "attn_k"):
        heads = config.get("num_attention_heads")
        heads = heads if kind == "attn_q" else config.get("num_key_value_heads", heads)
        if type(heads) is int and rows % (2 * heads) == 0:  # others do not fit the config, as is said later
            return lambda stored: _halves_apart(stored, heads)
    return lambda stored: stored


def _halves_apart(stored: NDArray[np.float32], heads: int) -> NDArray[np.float32]:
    """The rows of each head as Hugging Face has them: it rotates row i with row i + D/2 of the D rows of a head.

    llama.cpp rotates neighbours, so its converter stores the rows as 0, D/2, 1, D/2 + 1, … (LlamaModel.permute).
    """
    pairs = stored.reshape(heads, -1, 2, *stored.shape[1:])  # (head, pair, which of the two, …)
    return pairs.swapaxes(1, 2).reshape(stored.shape)
