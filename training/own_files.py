"""A folder of one's own files → documents to learn: plain text, and JSON lines with stories or conversations.

docs/training.md has the layout. Files are read one after the other, in the order of their names, and what can't be
learned is refused by its file and line. Nothing here knows of tokens.
"""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import count
from pathlib import Path
from typing import Literal

from model.errors import AttendError
from model.text.conversation import message_from_dict
from model.text.tokenizer import check_whole
from training.data import Document, messages

ENDINGS = (".txt", ".jsonl", ".jsonl.gz")

LARGEST = 100_000_000  # characters in a folder, and bytes in a file of plain text; a run holds all of their tokens
LONGEST_LINE = 10_000_000  # bytes of one record
PASSAGE = 2_000  # characters, about a page; longer texts are cut
HELD_OUT = 20  # one document out of so many is not learned but measures the model


def find(folder: Path) -> list[Path]:
    """The files that can be learned, those in folders of the folder included, in the order of their names."""
    return sorted(path for path in folder.rglob("*") if _is_named_right(path.relative_to(folder)) and path.is_file())


def _is_named_right(path: Path) -> bool:
    """Whether a file's name ends as one to learn, and neither it nor a folder that it is in is hidden."""
    return path.name.lower().endswith(ENDINGS) and not any(part.startswith(".") for part in path.parts)


def size(folder: Path) -> int:
    """The bytes of all those files on the disk."""
    return sum(path.stat().st_size for path in find(folder))


def read(folder: Path) -> Iterator[Document]:
    """All documents; `AttendError` names the file and the line of what can't be learned."""
    if not folder.is_dir():
        raise AttendError(f"{folder} is not a folder: put your files in one, and give its name.")
    paths = find(folder)
    if not paths:
        raise AttendError(
            f"{folder} has no files to learn: put text in it, as *.txt, or JSON lines, as *.jsonl or *.jsonl.gz."
        )
    characters = 0
    for path in paths:
        for document in _text(path) if path.suffix.lower() == ".txt" else _records(path):
            characters += sum(map(len, document.turns))
            if characters > LARGEST:
                raise AttendError(
                    f"{folder} has more than {LARGEST:,} characters of text, reached in {path}: "
                    "train on a folder with fewer files."
                )
            yield document


def documents(folder: Path, split: Literal["train", "valid"]) -> Iterator[Document]:
    """The documents of one split: the second of every `HELD_OUT` is for validation, so that two are enough for both."""
    for number, document in enumerate(read(folder)):
        if (number % HELD_OUT == 1) == (split == "valid"):
            yield document


def passages(text: str, longest: int = PASSAGE) -> Iterator[str]:
    """Cut a text into pieces of at most `longest` characters: after a paragraph or, failing that, a line or a word."""
    start = 0
    while len(text) - start > longest:
        middle, most = start + longest // 2, start + longest
        ends = (text.rfind(mark, middle, most) + len(mark) for mark in ("\n\n", "\n", " "))
        end = next((end for end in ends if end > middle), most)
        yield text[start:end]
        start = end
    yield text[start:]


def _story(text: str) -> Iterator[Document]:
    *first, last = passages(text)
    yield from (Document((passage,), story=True, continued=True) for passage in first)
    yield Document((last,), story=True)


def _text(path: Path) -> Iterator[Document]:
    """The passages of a file of plain text."""
    try:
        if (size := path.stat().st_size) > LARGEST:
            raise AttendError(f"{path} has {size:,} bytes, but at most {LARGEST:,} can be learned: train on a part.")
        text = path.read_text(encoding="utf-8-sig").strip()
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        raise AttendError(f"Line {line:,} of {path} is not UTF-8: save the file as UTF-8, or remove it.") from error
    except OSError as error:
        raise AttendError(f"{path} can't be read ({error.strerror}): make it readable, or remove it.") from error
    if not text:
        raise AttendError(f"{path} contains no text: write some, or remove the file.")
    yield from _story(text)


def _records(path: Path) -> Iterator[Document]:
    """The documents of a file of JSON lines, gzipped or not; blank lines are skipped."""
    empty = True
    try:
        with gzip.open(path) if path.suffix.lower() == ".gz" else path.open("rb") as file:
            for number, line in zip(count(1), iter(partial(file.readline, LONGEST_LINE + 1), b""), strict=False):
                if line.strip():
                    empty = False
                    yield from _record(line, f"Line {number:,} of {path}")
    except (OSError, EOFError, zlib.error) as error:
        raise AttendError(f"{path} can't be read ({error}): write the file again, or remove it.") from error
    if empty:
        raise AttendError(f"{path} contains no records: write some, or remove the file.")


def _record(line: bytes, place: str) -> Iterator[Document]:
    """The documents of one record, which is at `place`."""
    if len(line) > LONGEST_LINE:
        raise AttendError(f"{place} has more than {LONGEST_LINE:,} bytes: cut the record into several.")
    try:
        record = json.loads(line.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise AttendError(f"{place} is not UTF-8: save the file as UTF-8.") from error
    except (ValueError, RecursionError) as error:
        raise AttendError(f"{place} is not JSON ({error}): correct it, or delete the line.") from error
    match record:
        case {"text": text}:
            yield from _story(_checked(text, place))
        case {"turns": [_, _, *_] as turns}:
            yield Document(tuple(_checked(turn, place) for turn in turns))
        case {"messages": [{"role": "system"}, *entries]}:
            yield Document(_alternating(entries, place), system=True)
        case {"messages": [*entries]}:
            yield Document(_alternating(entries, place))
        case _:
            raise AttendError(
                f'{place} must be {{"text": a text}}, {{"turns": [two texts or more]}} or {{"messages": '
                '[{"role": …, "content": …}, …]}: correct it, or delete the line.'
            )


def _alternating(entries: Sequence[object], place: str) -> tuple[str, ...]:
    """The turns of OpenAI's messages, of which the user's comes first."""
    read = [message_from_dict(entry, f"{place}: each message") for entry in entries]
    turns = tuple(_checked(message.text, place) for message in read)
    if len(turns) < 2 or read != messages(turns):
        raise AttendError(
            f"{place}: user and assistant must take turns, beginning with the user: correct it, or delete the line."
        )
    return turns


def _checked(text: object, place: str) -> str:
    if not isinstance(text, str) or not text.strip():
        raise AttendError(f"{place} has {text!r:.80} in place of a text: correct it, or delete the line.")
    try:
        check_whole(text)
    except AttendError as error:
        raise AttendError(f"{place} contains half a character: correct it, or delete the line.") from error
    return text
