"""An encoder of transformers alone: BERT, RoBERTa, DistilBERT, ELECTRA, ModernBERT and their like, for inspection.

Attention is always returned, so the model runs with the explicit softmax and nothing has to be captured. What a person
types never becomes a special token.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import torch
from tokenizers import Tokenizer as Backend
from transformers import AutoModel

from model.device import DeviceConfig, allocating
from model.encoder import Piece, Reading
from model.errors import AttendError, EncoderOnly
from model.huggingface.architectures import check_config
from model.huggingface.causal import input_device
from model.huggingface.folder import check_parameters
from model.huggingface.positions import context_length
from model.huggingface.tokenizer import copied, encoded
from model.huggingface.tokenizers.folder import read_backend
from model.huggingface.weights import CheckpointFiles, prepare, stored_dtype
from model.limits import check_length
from model.text.tokenizer import check_whole
from model.transformer.checkpoint import read_config

_LONGEST = 512  # tokens if a config gives no limit: the usual length in training


class HuggingFaceEncoder:
    """See `model.encoder.Encoder`."""

    def __init__(
        self, name: str, hf_model: Any, tokenizer: EncoderTokenizer, notes: tuple[str, ...] = (), address: str = ""
    ) -> None:
        """Raises `AttendError` for a model that does not return the attention of all tokens to all."""
        self.name, self.notes, self.address = name, notes, address
        self._hf_model, self._tokenizer = hf_model.eval(), tokenizer
        self.layer_count: int = hf_model.config.num_hidden_layers
        self.head_count: int = hf_model.config.num_attention_heads
        self.context_length = context_length(hf_model, endless=_LONGEST, part="encoder")
        seen = self.read("x")
        tokens = len(seen.pieces)
        if (len(seen.hidden), tuple(seen.attention.shape)) != (
            self.layer_count + 1,
            (self.layer_count, self.head_count, tokens, tokens),
        ):
            raise AttendError(f"{name} does not provide its attention: choose another encoder.")

    def pieces(self, text: str) -> tuple[Piece, ...]:
        return self._cut(text)[1]

    @torch.inference_mode()
    def read(self, text: str) -> Reading:
        ids, pieces = self._cut(text)
        answer = self._hf_model(
            input_ids=torch.tensor([ids], device=input_device(self._hf_model)),
            output_attentions=True,
            output_hidden_states=True,
        )
        hidden, attention = (
            torch.cat([tensor.float().cpu() for tensor in of])
            for of in (answer.hidden_states, _layer_attention(answer))
        )
        return Reading(text, pieces, hidden, attention)

    def _cut(self, text: str) -> tuple[list[int], tuple[Piece, ...]]:
        ids, pieces = self._tokenizer.cut(text)
        check_length(len(ids), self.context_length)
        return ids, pieces


class EncoderTokenizer:
    """A tokenizer of transformers (or WordPiece) whose tokens are only shown, and never joined to a text."""

    def __init__(self, backend: Backend) -> None:
        described = json.loads(backend.to_str())
        self._backend = copied(described, special=True)
        added = backend.get_added_tokens_decoder()
        self._special = {token_id for token_id, token in added.items() if token.special}
        self._unknown = described["model"].get("unk_token")
        self._names = described["model"]["type"] == "WordPiece"

    def cut(self, text: str) -> tuple[list[int], tuple[Piece, ...]]:
        """The ids of a text with its special tokens around it, and the tokens as shown."""
        check_whole(text)
        encoding = encoded(self._backend, text, framed=True)
        pieces = []
        for index, (name, (first, end)) in enumerate(zip(encoding.tokens, encoding.offsets, strict=True)):
            frames = bool(encoding.special_tokens_mask[index])
            if not frames and encoding.ids[index] in self._special and name != self._unknown:
                raise AttendError(f"This model's tokenizer has no token for {text[first:end]!r}: remove it.")
            label = name if frames or self._names or first == end else text[first:end]
            pieces.append(Piece(label, first, end, frames))
        return encoding.ids, tuple(pieces)


def load(
    folder: Path, name: str, device_config: DeviceConfig = DeviceConfig(), *, address: str = ""
) -> HuggingFaceEncoder:
    """Load the folder of an encoder alone; `AttendError` as in `huggingface.folder.load`, and for any other model."""
    config = read_config(folder)
    try:
        check_config(config, name)
    except EncoderOnly:
        files = CheckpointFiles.read(folder, name, config)
        parameters = sum(files.sizes.values())
        with allocating():
            check_parameters(parameters, name, files.size, "auto", device_config, dtype_name=stored_dtype(config))
            hf_model, notes = prepare(AutoModel, files, device_config, attention="eager", unused=("pooler.",))
        backend = read_backend(folder)
        if (size := backend.get_vocab_size(with_added_tokens=True)) > hf_model.config.vocab_size:
            raise AttendError(
                f"The tokenizer has {size:,} tokens, but its model has {hf_model.config.vocab_size:,}: they belong "
                "to different checkpoints."
            ) from None
        return HuggingFaceEncoder(name, hf_model, EncoderTokenizer(backend), notes, address)
    raise AttendError(f"{name} is not an encoder: use it in Chat, Write or Translate.")


def _layer_attention(answer: Any) -> tuple[torch.Tensor, ...]:
    """The attention of a pass, (1, heads, T, T) per layer; empty if a family returns none."""
    return tuple(layer for layer in answer.attentions or () if layer is not None) or (torch.empty(0, 0, 0, 0),)
