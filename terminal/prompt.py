"""The prompt of a command: typed, read from a file or read from standard input, in whatever encoding it has."""

from __future__ import annotations

import codecs
import io
import locale
import sys
from contextlib import nullcontext, suppress

from model.command_line import Parser
from model.errors import AttendError

STDIN = "-"
MAX_CHARACTERS = 1_000_000  # of a prompt from a file or standard input; no model reads as much
_LONGEST_CHARACTER = 4  # bytes, in every encoding of Unicode
_BYTE_ORDER_MARKS = {  # before a text; that of UTF-16 is the beginning of one of UTF-32
    codecs.BOM_UTF8: "utf-8-sig",
    codecs.BOM_UTF32_LE: "utf-32",
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}


def add_prompt_flags(parser: Parser, metavar: str, help: str) -> None:
    """Add what `read_prompt` reads."""
    parser.add_argument("prompt", nargs="?", metavar=metavar, help=help)
    parser.add_argument("--file", metavar="FILE", help=f"read the {metavar.lower()} from a file")


def utf8() -> None:
    """Read and write UTF-8 whatever the terminal's settings are; bytes that are no UTF-8 stay what they are."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(encoding="utf-8")
    if isinstance(sys.stdin, io.TextIOWrapper):
        sys.stdin.reconfigure(encoding="utf-8", errors="surrogateescape")  # see `typed_text`


def read_prompt(prompt: str | None, file: str | None) -> str | None:
    """The prompt that was typed, or that standard input or a file holds; None if there is none."""
    if prompt is not None and file is not None:
        raise AttendError("There are two prompts, one on the command line and one from --file: give only one.")
    if prompt != STDIN and file is None:
        return prompt and typed_text(prompt, "The prompt")
    name = "Standard input" if file in (None, STDIN) else str(file)
    try:
        with nullcontext(sys.stdin.buffer) if file in (None, STDIN) else open(str(file), "rb") as source:
            content = source.read(_LONGEST_CHARACTER * MAX_CHARACTERS + 1)
    except OSError as error:
        raise AttendError(f"{name} can't be read ({error.strerror}): choose another file.") from error
    if len(content) > _LONGEST_CHARACTER * MAX_CHARACTERS or len(text := _decoded(content, name)) > MAX_CHARACTERS:
        raise AttendError(f"{name} has more than {MAX_CHARACTERS:,} characters: shorten it.")
    return text.removesuffix("\n").removesuffix("\r")


def _decoded(content: bytes, name: str) -> str:
    """The text of a file, with its own line ends but without a byte order mark; `name`: what messages call it.

    A text with a mark is in the encoding that the mark tells, any other in UTF-8 or else in the system's encoding.
    """
    encodings = (encoding for mark, encoding in _BYTE_ORDER_MARKS.items() if content.startswith(mark))
    marked = next(encodings, None)
    try:
        return content.decode(marked or "utf-8")
    except UnicodeDecodeError as error:
        with suppress(UnicodeDecodeError, LookupError):
            return content.decode(marked or locale.getencoding())
        raise AttendError(
            f"{name} is not UTF-8 text (byte {content[error.start]:02X} at position {error.start + 1}): convert it, "
            "for example with iconv -f latin1 -t utf-8."
        ) from error


def typed_text(text: str, name: str) -> str:
    """A text that was typed, in which Python keeps bytes that are not UTF-8 as halves of characters."""
    try:
        content = text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:  # other halves, which tokenizers refuse
        return text
    return text if text.isascii() else _decoded(content, name)
