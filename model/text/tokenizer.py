"""Between ids and text: what every tokenizer offers, made from the exact bytes of its tokens.

Decoding is a join of bytes, so a text streams as it decodes and no character is ever cut. How a text is split into
tokens is for the tokenizers to say: `model.text.sentencepiece_tokenizer` for our own, `model.huggingface.tokenizer` for
those of others.
"""

from __future__ import annotations

import codecs
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence

from model.errors import AttendError


class TextTokenizer(ABC):
    """Tokens as bytes and, beside them, special tokens, which are no text and which no text becomes.

    Some vocabularies have whole words only with the space before them, and so their tokenizers write a space before a
    text, which nobody typed. Hence `begins` says of ids or of a text whether it stands at the beginning.
    """

    def __init__(self, bytes_of: Sequence[bytes], special: Mapping[int, str], *, prefix: bytes = b"") -> None:
        """
        Args:
            bytes_of: each token's bytes; none for special tokens.
            special: id → name of the special tokens.
            prefix: what stands before a text that nobody typed.
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
        """Text to ids, never a special token; `AttendError` for what this vocabulary cannot say."""

    def decode(self, ids: Iterable[int], *, begins: bool = False) -> str:
        """Ids to text; special tokens give nothing, bytes that form no character give U+FFFD."""
        raw = b"".join(self._bytes_of[piece] for piece in ids)
        return (raw.removeprefix(self._prefix) if begins else raw).decode(errors="replace")

    def detokenizer(self, *, begins: bool = False) -> StreamingDetokenizer:
        return StreamingDetokenizer(self._bytes_of, self._prefix if begins else b"")

    def special_token_id(self, name: str) -> int:
        """The id of a special token such as `<user>`; `AttendError` when the vocabulary has none of that name."""
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

    def label(self, piece: int) -> str:
        """What a table shows for a token: its text, `<end>` for a special token.

        Bytes that form no character, and a lone one that cannot be told apart when it is seen (all but printable ASCII
        and the line end), are shown as `<0xF0>`.
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
    """What `bytes.decode` puts in the place of bytes that form no character, and where it goes on."""
    if not isinstance(error, UnicodeDecodeError):
        raise error
    return _in_hex(error.object[error.start : error.end]), error.end


_IN_HEX = "attend.in_hex"
codecs.register_error(_IN_HEX, _replaced)


def check_whole(text: str) -> None:
    """`AttendError` for half of a surrogate pair, which is no character and has no bytes."""
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise AttendError(
            f"The text contains half a character (code {ord(text[error.start]):04X}) at position {error.start + 1}: "
            "delete it and type it again."
        ) from error
