"""SentencePiece pieces as exact bytes: any Unicode text comes back as it was, and text streams in whole characters.

A piece is either text, one byte (for characters outside the vocabulary) or a control token. SentencePiece splits text;
everything else here works on the pieces' bytes, so decoding is a join and nothing is ever normalised away. What people
type can never become a control token, because control pieces are not matched against text.
"""

from __future__ import annotations

import codecs
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Self

from sentencepiece import SentencePieceProcessor

from model.errors import AttendError

BEGIN, END, USER, ASSISTANT = "<s>", "<end>", "<user>", "<assistant>"

_SPACE = "\u2581"  # SentencePiece writes a space as this character, so the character itself must go by its bytes


class Tokenizer:
    """A trained SentencePiece model with byte fallback (see `training/vocabulary.py` for how one is made)."""

    def __init__(self, serialised: bytes) -> None:
        pieces = SentencePieceProcessor()
        pieces.LoadFromSerializedProto(serialised)
        self._pieces = pieces
        self._control = frozenset(
            piece for piece in range(len(pieces)) if pieces.IsControl(piece) or pieces.IsUnknown(piece)
        )
        self._names = {pieces.IdToPiece(piece): piece for piece in self._control}
        self._bytes = tuple(self._bytes_of(piece) for piece in range(len(pieces)))
        self._space_bytes = [pieces.PieceToId(f"<0x{byte:02X}>") for byte in _SPACE.encode()]
        if not all(pieces.IsByte(piece) for piece in self._space_bytes):
            raise AttendError(
                "This SentencePiece model has no pieces for single bytes, so some texts could not be told to it: "
                "train it with byte fallback, as training/vocabulary.py does."
            )

    @classmethod
    def load(cls, path: Path | str) -> Self:
        """Read a `tokenizer.model` file; `AttendError` when it is missing, not SentencePiece's or lacks byte pieces."""
        try:
            return cls(Path(path).read_bytes())
        except FileNotFoundError as error:
            raise AttendError(f"There is no tokenizer at {path}: copy the whole checkpoint folder.") from error
        except (OSError, RuntimeError) as error:
            raise AttendError(f"{path} is not a SentencePiece model: copy the checkpoint folder again.") from error

    @property
    def vocabulary_size(self) -> int:
        return len(self._bytes)

    def encode(self, text: str) -> list[int]:
        """Text to ids, never a control token; `AttendError` for half of a surrogate pair, which is no character."""
        try:
            text.encode()
        except UnicodeEncodeError as error:
            raise AttendError(
                f"The text holds half a character (code {ord(text[error.start]):04X}) at place {error.start + 1}: "
                "delete it and type it again."
            ) from error
        ids: list[int] = []
        for number, part in enumerate(text.split(_SPACE)):
            ids += self._space_bytes if number else []
            ids += self._pieces.EncodeAsIds(part) if part else []
        return ids

    def decode(self, ids: Iterable[int]) -> str:
        """Ids to text; control tokens give nothing, bytes that form no character give U+FFFD."""
        return b"".join(self._bytes[piece] for piece in ids).decode(errors="replace")

    def control(self, name: str) -> int:
        """The id of a control token such as `<user>`; `AttendError` when the vocabulary has none of that name."""
        if name not in self._names:
            raise AttendError(f"This tokenizer has no {name} token, so it does not fit this model.")
        return self._names[name]

    def has_control(self, name: str) -> bool:
        return name in self._names

    def is_control(self, piece: int) -> bool:
        return piece in self._control

    def label(self, piece: int) -> str:
        """What a table shows for a token: its text, `<end>` for a control token.

        A lone byte is a character only if it is one that can be told apart: printable ASCII or a line end. Every other
        is `<0xF0>`.
        """
        if piece not in self._control:
            text = self._bytes[piece].decode(errors="replace")
            if not self._pieces.IsByte(piece) or text == "\n" or (text.isascii() and text.isprintable()):
                return text
        return self._pieces.IdToPiece(piece)

    def stream(self) -> TextStream:
        return TextStream(self._bytes)

    def _bytes_of(self, piece: int) -> bytes:
        if piece in self._control:
            return b""
        name = self._pieces.IdToPiece(piece)
        return bytes([int(name[3:5], 16)]) if self._pieces.IsByte(piece) else name.replace(_SPACE, " ").encode()


class TextStream:
    """Turns ids into text one at a time, holding back the bytes of a character until it is whole."""

    def __init__(self, bytes_of: Sequence[bytes]) -> None:
        self._bytes_of = bytes_of
        self._decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")

    def push(self, piece: int) -> str:
        """The text that this token completes; empty while a character is still open."""
        return self._decoder.decode(self._bytes_of[piece])

    @property
    def whole(self) -> bool:
        """Whether no character is open."""
        return not self._decoder.getstate()[0]

    def finish(self) -> str:
        """What was held back, as U+FFFD if it never became a character."""
        return self._decoder.decode(b"", final=True)
