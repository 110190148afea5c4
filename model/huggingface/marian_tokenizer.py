"""Marian's tokenizer: one SentencePiece model for the source, another for the answer, and one list of ids for both.

Its pieces are exact texts, so an answer's text is joined from them, as with any other tokenizer here.
"""

from __future__ import annotations

from pathlib import Path
from typing import Self

from sentencepiece import SentencePieceProcessor

from model.errors import AttendError
from model.huggingface.tokenizers.notes import tokenizer_notes
from model.text.sentencepiece_tokenizer import piece_bytes
from model.text.tokenizer import TextTokenizer, check_whole
from model.transformer.checkpoint import read_json

SOURCE, VOCABULARY = "source.spm", "vocab.json"
_END, _UNKNOWN, _PADDING = "</s>", "<unk>", "<pad>"


class MarianTokenizer(TextTokenizer):
    """Splits sources by `source.spm`; a piece without an id of its own becomes `<unk>`, as in transformers."""

    def __init__(self, source: SentencePieceProcessor, ids: dict[str, int], vocabulary_size: int) -> None:
        """Raises `AttendError` if the list of ids is not that of the model."""
        if sorted(ids.values()) != list(range(len(ids))) or not vocabulary_size / 2 < len(ids) <= vocabulary_size:
            raise AttendError(
                f"The tokenizer has {len(ids):,} tokens, but its model has {vocabulary_size:,}: they belong to "
                "different checkpoints."
            )
        special = {ids[name]: name for name in (_END, _UNKNOWN, _PADDING) if name in ids}
        # A language to translate into is chosen by a special token, which is no text either.
        special |= {token: name for name, token in ids.items() if name.startswith(">>") and name.endswith("<<")}
        special |= {token: f"<unused {token}>" for token in range(len(ids), vocabulary_size)}
        bytes_of = [b""] * vocabulary_size
        for name, token in ids.items():
            if token not in special:
                bytes_of[token] = piece_bytes(name, single=source.IsByte(source.PieceToId(name)))
        super().__init__(bytes_of, special, prefix=b" ")
        self._source, self._ids = source, ids
        self.end = self.special_token_id(_END)
        self.notes = tokenizer_notes(self, self.special_token_id(_UNKNOWN))  # sentences that a person should read

    @classmethod
    def load(cls, folder: Path, vocabulary_size: int) -> Self:
        ids = read_json(folder / VOCABULARY)
        if not all(isinstance(token, int) for token in ids.values()):
            raise AttendError(f"{folder / VOCABULARY} does not number its pieces: copy the checkpoint folder again.")
        try:
            source = SentencePieceProcessor(model_file=str(folder / SOURCE))
        except (OSError, RuntimeError, TypeError) as error:
            raise AttendError(f"{folder / SOURCE} is missing or damaged: copy the checkpoint folder again.") from error
        return cls(source, ids, vocabulary_size)

    def encode(self, text: str, *, begins: bool = False) -> list[int]:
        check_whole(text)
        pieces: list[str] = self._source.encode(text, out_type=str)
        unknown = self._ids[_UNKNOWN]
        ids = (self._ids.get(piece, unknown) for piece in pieces)
        return [unknown if token in self._special else token for token in ids]
