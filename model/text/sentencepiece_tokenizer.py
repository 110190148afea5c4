"""SentencePiece pieces as exact bytes: any Unicode text is restored exactly, and text streams in whole characters.

A piece is either text, one byte (for characters outside the vocabulary) or a special token. SentencePiece splits text;
everything else here works on the pieces' bytes, so decoding is a join and nothing is normalised away, unless the
vocabulary has rules for it (the translator's: one kind of space, of quotes and of accents). What people type can never
become a special token, because special pieces are not matched against text.
"""

from __future__ import annotations

from pathlib import Path
from typing import Self

from sentencepiece import SentencePieceProcessor

from model.errors import AttendError
from model.text.tokenizer import TextTokenizer, check_whole

BEGIN, END, USER, ASSISTANT, PADDING = "<s>", "<end>", "<user>", "<assistant>", "<pad>"

SPACE = "\u2581"  # SentencePiece writes a space as this character, so the character itself is encoded by its bytes


class Tokenizer(TextTokenizer):
    """A trained SentencePiece model with byte fallback (see `training/vocabulary.py` for how one is made)."""

    def __init__(self, serialised: bytes, *, padded: bool = False) -> None:
        """`padded`: whether the model has one token more than pieces, the padding of encoders with decoders."""
        pieces = SentencePieceProcessor()
        pieces.LoadFromSerializedProto(serialised)
        special = {
            piece: pieces.IdToPiece(piece)
            for piece in range(len(pieces))
            if pieces.IsControl(piece) or pieces.IsUnknown(piece)
        }
        bytes_of = [
            b"" if piece in special else piece_bytes(pieces.IdToPiece(piece), single=pieces.IsByte(piece))
            for piece in range(len(pieces))
        ]
        if padded:
            special[len(pieces)] = PADDING
            bytes_of.append(b"")
        # A vocabulary of sentences begins each with a space, and has rules of its own for what is not plain in it.
        self._of_sentences = pieces.EncodeAsPieces("a")[0].startswith(SPACE)
        super().__init__(bytes_of, special, prefix=b" " if self._of_sentences else b"")
        self._pieces = pieces
        self._space_bytes = [pieces.PieceToId(f"<0x{byte:02X}>") for byte in SPACE.encode()]
        if not all(pieces.IsByte(piece) for piece in self._space_bytes):
            raise AttendError(
                "This SentencePiece model has no pieces for single bytes, so it can't encode every text: "
                "train it with byte fallback, as training/vocabulary.py does."
            )

    @classmethod
    def load(cls, path: Path | str, *, padded: bool = False) -> Self:
        """Read a `tokenizer.model` file; `AttendError` if it is missing, of another kind or without byte pieces."""
        try:
            return cls(Path(path).read_bytes(), padded=padded)
        except FileNotFoundError as error:
            raise AttendError(f"There is no tokenizer at {path}: copy the whole checkpoint folder.") from error
        except (OSError, RuntimeError) as error:
            raise AttendError(f"{path} is not a SentencePiece model: copy the checkpoint folder again.") from error

    def piece(self, token: int) -> str:
        """The name of a token in SentencePiece; padding is not one of its pieces."""
        return PADDING if token == len(self._pieces) else self._pieces.IdToPiece(token)

    def encode(self, text: str, *, begins: bool = False) -> list[int]:
        """Text to ids, never a special token; `AttendError` for half of a surrogate pair, which is no character."""
        check_whole(text)
        if self._of_sentences:
            return self._pieces.EncodeAsIds(text)
        ids: list[int] = []
        for number, part in enumerate(text.split(SPACE)):
            ids += self._space_bytes if number else []
            ids += self._pieces.EncodeAsIds(part) if part else []
        return ids


def piece_bytes(name: str, *, single: bool) -> bytes:
    """The bytes of a piece that is no special token; `single`: whether it is one byte, written as `<0xF0>`."""
    return bytes([int(name[3:5], 16)]) if single else name.replace(SPACE, " ").encode()
