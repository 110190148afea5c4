"""Between ids and text: what every tokenizer offers, made from the exact bytes of its tokens.

Decoding is a join of bytes, so a text streams as it decodes and no character is ever cut. How a text is split into
tokens is for the tokenizers to say: `model.tokenizer` for our own, `model.huggingface_tokenizer` for those of others.
"""

from __future__ import annotations

import codecs
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence

from model.errors import AttendError


class TextTokenizer(ABC):
    """Tokens as bytes and, beside them, control tokens, which are no text and which no text becomes.

    Some vocabularies have whole words only with the space before them, and so their tokenizers write a space before a
    text, which nobody typed. Hence `begins` says of ids or of a text whether it stands at the beginning.
    """

    def __init__(self, bytes_of: Sequence[bytes], control: Mapping[int, str], *, prefix: bytes = b"") -> None:
        """
        Args:
            bytes_of: of every token what it says; nothing of control tokens.
            control: id → name of the control tokens.
            prefix: what stands before a text that nobody typed.
        """
        self._bytes_of = tuple(bytes_of)
        self._control = dict(control)
        self._names = {name: piece for piece, name in control.items()}
        self._prefix = prefix

    @property
    def vocabulary_size(self) -> int:
        return len(self._bytes_of)

    @abstractmethod
    def encode(self, text: str, *, begins: bool = False) -> list[int]:
        """Text to ids, never a control token; `AttendError` for what this vocabulary cannot say."""

    def decode(self, ids: Iterable[int], *, begins: bool = False) -> str:
        """Ids to text; control tokens give nothing, bytes that form no character give U+FFFD."""
        said = b"".join(self._bytes_of[piece] for piece in ids)
        return (said.removeprefix(self._prefix) if begins else said).decode(errors="replace")

    def stream(self, *, begins: bool = False) -> TextStream:
        return TextStream(self._bytes_of, self._prefix if begins else b"")

    def control(self, name: str) -> int:
        """The id of a control token such as `<user>`; `AttendError` when the vocabulary has none of that name."""
        if name not in self._names:
            raise AttendError(f"This tokenizer has no {name} token, so it does not fit this model.")
        return self._names[name]

    def has_control(self, name: str) -> bool:
        return name in self._names

    @property
    def controls(self) -> Mapping[str, int]:
        """Name → id of all control tokens."""
        return self._names

    def is_control(self, piece: int) -> bool:
        return piece in self._control

    def label(self, piece: int) -> str:
        """What a table shows for a token: its text, `<end>` for a control token.

        Bytes that form no character, and a lone one that cannot be told apart when it is seen (all but printable ASCII
        and the line end), are shown as `<0xF0>`.
        """
        if piece in self._control:
            return self._control[piece]
        said = self._bytes_of[piece]
        text = said.decode(errors=_IN_HEX)
        return text if len(said) > 1 or text == "\n" or text.isprintable() else _in_hex(said)


class TextStream:
    """Turns ids into text one at a time, holding back the bytes of a character until it is whole."""

    def __init__(self, bytes_of: Sequence[bytes], prefix: bytes = b"") -> None:
        """`prefix`: what the first bytes may begin with that is not shown; one byte or nothing."""
        self._bytes_of = bytes_of
        self._prefix = prefix
        self._decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")

    def push(self, piece: int) -> str:
        """The text that this token completes; empty while a character is still open."""
        said = self._bytes_of[piece]
        if said and self._prefix:
            said, self._prefix = said.removeprefix(self._prefix), b""
        return self._decoder.decode(said)

    @property
    def whole(self) -> bool:
        """Whether no character is open."""
        return not self._decoder.getstate()[0]

    def finish(self) -> str:
        """What is held back, as U+FFFD since it is no character; it stays held back, should the text go on."""
        return self._decoder.getstate()[0].decode(errors="replace")


def _in_hex(said: bytes) -> str:
    return "".join(f"<0x{byte:02X}>" for byte in said)


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
            f"The text holds half a character (code {ord(text[error.start]):04X}) at place {error.start + 1}: "
            "delete it and type it again."
        ) from error
