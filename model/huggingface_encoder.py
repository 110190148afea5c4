"""An encoder of transformers alone: BERT, RoBERTa, DistilBERT, ELECTRA, ModernBERT and their like, for inspection.

It is always asked for its attention, so it runs with the explicit softmax and nothing has to be captured. What a person
types is never a control token.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import torch
from tokenizers import Tokenizer as Backend
from transformers import AutoModel

from model.encoder import Piece, Reading
from model.errors import AttendError, EncoderOnly
from model.huggingface import input_device
from model.huggingface_folder import check_config, check_memory
from model.huggingface_tokenizer import copied, read_backend
from model.huggingface_weights import prepare, weight_files
from model.limits import check_length
from model.placement import INT8, Placement
from model.text import check_whole

_LONGEST = 512  # where a config tells no end of the positions, what such models were trained on


class HuggingFaceEncoder:
    """See `model.encoder.Encoder`."""

    def __init__(
        self, name: str, theirs: Any, tokenizer: EncoderTokenizer, notes: tuple[str, ...] = (), address: str = ""
    ) -> None:
        """Raises `AttendError` for a model that shows no attention of all tokens to all."""
        self.name, self.notes, self.address = name, notes, address
        self._theirs, self._tokenizer = theirs.eval(), tokenizer
        self.layer_count: int = theirs.config.num_hidden_layers
        self.head_count: int = theirs.config.num_attention_heads
        self.context_length = _context_length(theirs)
        seen = self.read("x")
        tokens = len(seen.pieces)
        if (len(seen.hidden), tuple(seen.attention.shape)) != (
            self.layer_count + 1,
            (self.layer_count, self.head_count, tokens, tokens),
        ):
            raise AttendError(f"{name} does not tell which token looks at which: choose another encoder.")

    def pieces(self, text: str) -> tuple[Piece, ...]:
        return self._cut(text)[1]

    @torch.inference_mode()
    def read(self, text: str) -> Reading:
        ids, pieces = self._cut(text)
        answer = self._theirs(
            input_ids=torch.tensor([ids], device=input_device(self._theirs)),
            output_attentions=True,
            output_hidden_states=True,
        )
        hidden, attention = (
            torch.cat([one.float().cpu() for one in of]) for of in (answer.hidden_states, _told(answer))
        )
        return Reading(text, pieces, hidden, attention)

    def _cut(self, text: str) -> tuple[list[int], tuple[Piece, ...]]:
        ids, pieces = self._tokenizer.cut(text)
        check_length(len(ids), self.context_length)
        return ids, pieces


class EncoderTokenizer:
    """A tokenizer of transformers whose tokens are only ever shown, WordPiece included, and never joined to a text."""

    def __init__(self, backend: Backend) -> None:
        described = json.loads(backend.to_str())
        self._backend = copied(described, special=True)
        added = backend.get_added_tokens_decoder()
        self._control = {place for place, token in added.items() if token.special}
        self._unknown = described["model"].get("unk_token")
        self._names = described["model"]["type"] == "WordPiece"

    def cut(self, text: str) -> tuple[list[int], tuple[Piece, ...]]:
        """The ids of a text between the control tokens that frame it, and what people see of them."""
        check_whole(text)
        encoding = self._backend.encode(text, add_special_tokens=True)
        pieces = []
        for place, (name, (first, end)) in enumerate(zip(encoding.tokens, encoding.offsets, strict=True)):
            frames = bool(encoding.special_tokens_mask[place])
            if not frames and encoding.ids[place] in self._control and name != self._unknown:
                raise AttendError(f"This model's tokenizer has no token for {text[first:end]!r}: leave it out.")
            label = name if frames or self._names or first == end else text[first:end]
            pieces.append(Piece(label, first, end, frames))
        return encoding.ids, tuple(pieces)


def load(folder: Path, name: str, placement: Placement = Placement(), *, address: str = "") -> HuggingFaceEncoder:
    """Load the folder of an encoder alone; `AttendError` as `huggingface_folder.load`, and for any other model."""
    try:
        check_config(folder, name)
    except EncoderOnly:
        if placement.dtype == INT8:
            raise AttendError(f"{name} runs in transformers, which int8 is not for: leave --dtype out.") from None
        check_memory(folder, name, sum(path.stat().st_size for path in weight_files(folder)), "auto", placement)
        theirs, notes = prepare(AutoModel, folder, name, placement, attention="eager", unused=("pooler.",))
        backend = read_backend(folder)
        if (size := backend.get_vocab_size(with_added_tokens=True)) > theirs.config.vocab_size:
            raise AttendError(
                f"The tokenizer has {size:,} tokens, its model {theirs.config.vocab_size:,}: they belong to different "
                "checkpoints."
            ) from None
        return HuggingFaceEncoder(name, theirs, EncoderTokenizer(backend), notes, address)
    raise AttendError(f"{name} is no encoder alone: chat with it or let it write.")


def _told(answer: Any) -> tuple[torch.Tensor, ...]:
    """The attention of a pass, (1, heads, T, T) a layer; none where a family has none to tell."""
    return tuple(one for one in answer.attentions or () if one is not None) or (torch.empty(0, 0, 0, 0),)


def _context_length(theirs: Any) -> int:
    """The longest text; RoBERTa's positions begin behind the one of its padding."""
    length = getattr(theirs.config, "max_position_embeddings", None)
    if not isinstance(length, int) or length <= 0:
        return _LONGEST
    positions = getattr(getattr(theirs, "embeddings", None), "position_embeddings", None)
    before = getattr(positions, "padding_idx", None)
    return length if before is None else length - before - 1
