"""Marian's tokenizer: one SentencePiece model for the source, another for the answer, and one list of ids for both.

Its pieces are exact texts, so what an answer says is joined from them as by any other tokenizer here.
"""

from __future__ import annotations

from pathlib import Path
from typing import Self

from sentencepiece import SentencePieceProcessor

from model.checkpoint import read_json
from model.errors import AttendError
from model.text import TextTokenizer, check_whole

SOURCE, VOCABULARY = "source.spm", "vocab.json"
_SPACE = "\u2581"  # how SentencePiece writes a space
_END, _UNKNOWN, _PADDING = "</s>", "<unk>", "<pad>"


class MarianTokenizer(TextTokenizer):
    """Splits sources by `source.spm`; a piece without an id of its own becomes `<unk>`, as in transformers."""

    def __init__(self, source: SentencePieceProcessor, ids: dict[str, int], vocabulary_size: int) -> None:
        """Raises `AttendError` where the list of ids is not that of the model."""
        if sorted(ids.values()) != list(range(len(ids))) or not vocabulary_size / 2 < len(ids) <= vocabulary_size:
            raise AttendError(
                f"The tokenizer has {len(ids):,} tokens, its model {vocabulary_size:,}: they belong to different "
                "checkpoints."
            )
        control = {ids[name]: name for name in (_END, _UNKNOWN, _PADDING) if name in ids}
        # A language to translate into is asked for by a token of its own, which is no text either.
        control |= {place: name for name, place in ids.items() if name.startswith(">>") and name.endswith("<<")}
        control |= {place: f"<unused {place}>" for place in range(len(ids), vocabulary_size)}
        said = [b""] * vocabulary_size
        for name, place in ids.items():
            if place not in control:
                single = source.IsByte(source.PieceToId(name))
                said[place] = bytes([int(name[3:5], 16)]) if single else name.replace(_SPACE, " ").encode()
        super().__init__(said, control, prefix=b" ")
        self._source, self._ids = source, ids
        self.end = self.control(_END)

    @classmethod
    def load(cls, folder: Path, vocabulary_size: int) -> Self:
        ids = read_json(folder / VOCABULARY)
        if not all(isinstance(place, int) for place in ids.values()):
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
        return [unknown if place in self._control else place for place in ids]
