"""What all tokenizers share: decoding, labels and special tokens, from the exact bytes of each token.

Decoding joins bytes, so text can be streamed without cutting a character. Splitting a text into tokens is up to the
subclasses: `model.text.sentencepiece_tokenizer` for our own, `model.huggingface.tokenizer` for other people's.
"""

from __future__ import annotations

import codecs
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence

from model.errors import AttendError


class TextTokenizer(ABC):
    """Tokens as bytes, and special tokens, which have no text and never result from encoding text.

    Some vocabularies hold whole words only with a leading space, so their tokenizers put a space before every text.
    Hence `begins`: whether these ids, or this text, are at the beginning of one.
    """

    def __init__(self, bytes_of: Sequence[bytes], special: Mapping[int, str], *, prefix: bytes = b"") -> None:
        """
        Args:
            bytes_of: the bytes of each token; special tokens have none.
            special: id → name of the special tokens.
            prefix: what the tokenizer puts before every text.
        """
        self._bytes_of = tuple(bytes_of)
        self._special = dict(special)
        self._ids_of_special = {name: piece for piece, name in special.items()}
        self._prefix = prefix

    @property
    def vocabulary_size(self) -> int:
        return len(self._bytes_of)

    @abstractmethod
    def encode(self, text: str, *, begins: bool = False) -> list[int]:
        """Text to ids, never a special token; `AttendError` for text that this vocabulary cannot encode."""

    def decode(self, ids: Iterable[int], *, begins: bool = False) -> str:
        """Ids to text; special tokens add nothing, and bytes that form no character become U+FFFD."""
        raw = b"".join(self._bytes_of[piece] for piece in ids)
        return (raw.removeprefix(self._prefix) if begins else raw).decode(errors="replace")

    def detokenizer(self, *, begins: bool = False) -> StreamingDetokenizer:
        return StreamingDetokenizer(self._bytes_of, self._prefix if begins else b"")

    def special_token_id(self, name: str) -> int:
        """The id of a special token such as `<user>`; `AttendError` if there is no such token."""
        if name not in self._ids_of_special:
            raise AttendError(f"This tokenizer has no {name} token, so it doesn't fit this model.")
        return self._ids_of_special[name]

    def has_special_token(self, name: str) -> bool:
        return name in self._ids_of_special

    @property
    def special_tokens(self) -> Mapping[str, int]:
        """Name → id of every special token."""
        return self._ids_of_special

    def is_special(self, piece: int) -> bool:
        return piece in self._special

    def bytes_of(self, piece: int) -> bytes:
        """The exact bytes of a token; a special token has none."""
        return self._bytes_of[piece]

    def label(self, piece: int) -> str:
        """A token for display: its text, or `<end>` for a special token.

        Bytes that form no character are shown as `<0xF0>`, and so is a single byte that is neither printable ASCII nor
        a line break.
        """
        if piece in self._special:
            return self._special[piece]
        raw = self._bytes_of[piece]
        text = raw.decode(errors=_IN_HEX)
        return text if len(raw) > 1 or text == "\n" or text.isprintable() else _in_hex(raw)


class StreamingDetokenizer:
    """Turns ids into text one at a time, keeping the bytes of a character until it is complete."""

    def __init__(self, bytes_of: Sequence[bytes], prefix: bytes = b"") -> None:
        """`prefix`: removed from the beginning of the text; one byte or none."""
        self._bytes_of = bytes_of
        self._prefix = prefix
        self._decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")

    def push(self, piece: int) -> str:
        """The text that this token completes; empty while a character is incomplete."""
        raw = self._bytes_of[piece]
        if raw and self._prefix:
            raw, self._prefix = raw.removeprefix(self._prefix), b""
        return self._decoder.decode(raw)

    @property
    def is_complete(self) -> bool:
        """Whether the text so far ends with a complete character."""
        return not self._decoder.getstate()[0]

    def finish(self) -> str:
        """The bytes of an incomplete character, as U+FFFD; the text may still be continued."""
        return self._decoder.getstate()[0].decode(errors="replace")


def _in_hex(raw: bytes) -> str:
    return "".join(f"<0x{byte:02X}>" for byte in raw)


def _replaced(error: UnicodeError) -> tuple[str, int]:
    """What `bytes.decode` should insert for bytes that form no character, and where it should continue."""
    if not isinstance(error, UnicodeDecodeError):
        raise error
    return _in_hex(error.object[error.start : error.end]), error.end


_IN_HEX = "attend.in_hex"
codecs.register_error(_IN_HEX, _replaced)


def check_whole(text: str) -> None:
    """Raise `AttendError` for half of a surrogate pair, which is no character and has no bytes."""
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise AttendError(
            f"The text contains half a character (code {ord(text[error.start]):04X}) at position {error.start + 1}: "
            "delete it and type it again."
        ) from error
