"""Reads tokenizers of Hugging Face without their models, from `tokenizer.json` alone, to show how they cut a text.

Tokenizers whose tokens are exact bytes are read as for a model. WordPiece's tokens are not exact, since it knows no
spaces and often no capitals; its ids are given to no model.
"""

from __future__ import annotations

import json
from pathlib import Path

from tokenizers import Tokenizer as Backend
from transformers import PreTrainedTokenizerFast

from model.errors import AttendError
from model.huggingface.tokenizer import HuggingFaceTokenizer, copied, encoded
from model.text.tokenizer import TextTokenizer, check_whole

MAX_MEGABYTES = 64  # the largest published ones have about 30


class WordPieceTokenizer(TextTokenizer):
    """BERT's tokenizer (Schuster and Nakajima, 2012), which writes ## before a piece that continues a word."""

    def __init__(self, backend: Backend) -> None:
        described = json.loads(backend.to_str())
        added = {piece: token.content for piece, token in backend.get_added_tokens_decoder().items() if token.special}
        names = {piece: name for name, piece in backend.get_vocab(with_added_tokens=True).items()}
        self._goes_on: str = described["model"]["continuing_subword_prefix"]
        self._labels = [names.get(piece, f"<unused {piece}>") for piece in range(max(names) + 1)]
        bytes_of = [b"" if piece in added else self._piece_bytes(name) for piece, name in enumerate(self._labels)]
        super().__init__(bytes_of, added, prefix=b" ")
        self._backend = copied(described, special=True)

    def _piece_bytes(self, name: str) -> bytes:
        return name.removeprefix(self._goes_on).encode() if name.startswith(self._goes_on) else f" {name}".encode()

    def encode(self, text: str, *, begins: bool = False) -> list[int]:
        """Text to ids; words without pieces become the unknown token."""
        check_whole(text)
        return encoded(self._backend, text).ids

    def label(self, piece: int) -> str:
        return self._labels[piece]


def load(path: Path) -> TextTokenizer:
    """Read a `tokenizer.json`; nothing that it names is opened or run. `AttendError` if it cannot be read."""
    if (megabytes := path.stat().st_size >> 20) >= MAX_MEGABYTES:
        raise AttendError(
            f"{path} is {megabytes} MB, but a tokenizer must be smaller than {MAX_MEGABYTES} MB: remove it."
        )
    try:
        backend = Backend.from_file(str(path))
        described = json.loads(backend.to_str())
    except Exception as error:  # the Rust library raises nothing narrower for a damaged file
        raise AttendError(f"{path} is not a readable tokenizer: copy it again.") from error
    if described["model"]["type"] == "WordPiece":
        return WordPieceTokenizer(backend)
    return HuggingFaceTokenizer(
        PreTrainedTokenizerFast(tokenizer_object=backend), backend.get_vocab_size(with_added_tokens=True)
    )
