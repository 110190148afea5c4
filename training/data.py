"""Conversations and stories → texts of token ids with a loss mask, and many texts → one packed batch.

A document is one dialogue (or story). Splits are by document, and no text attends to another in its batch. The
order of everything follows from the seed alone, so a run can be resumed, or divided among processes, by row number.

    python -m training.data DATA --source chat/synthetic_persona_chat --split test --output FILE.jsonl.gz

writes one split of one source to a file for `training.evaluate`.
"""

from __future__ import annotations

import gzip
import json
import random
import sys
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple

from model.command_line import Parser, command, writing
from model.errors import AttendError
from model.lazy import torch
from model.text.conversation import ChatFormat, Message
from model.text.sentencepiece_tokenizer import Tokenizer
from training.mixture import CHAT_MIXTURE, Record, Source, Turns

if TYPE_CHECKING:
    from torch import Tensor

Split = Literal["train", "valid", "test"]

IGNORED = -100  # a target that does not count; torch's own default
GRAIN = 16  # tokens; texts are padded to a multiple of it, so that many have one length and share an attention


@dataclass(frozen=True, slots=True)
class Document:
    """One dialogue, or one story (a single text without roles)."""

    turns: tuple[str, ...]
    story: bool = False
    written: bool = False  # by a program; it is only useful uncut, and only its answers can be predicted
    continued: bool = False  # a story that goes on in the next document, so that nothing says that it ends here
    system: bool = False  # whether it had a system prompt, which our own models can't be given


class Text(NamedTuple):
    """A document's token ids, or a piece of them."""

    ids: list[int]
    loss_mask: list[bool]  # whether each id is a target; the first never is


class Row(NamedTuple):
    """A text to learn, (T,) each, with short integers, since a run holds millions of them."""

    tokens: Tensor  # ids of the input
    targets: Tensor  # the id that follows each token; IGNORED if it doesn't count in the loss


class Packed(NamedTuple):
    """Texts one after another, in a row of N tokens, each padded to a multiple of `GRAIN`, the short ones first."""

    tokens: Tensor  # (1, N)
    targets: Tensor  # (1, N); IGNORED for padding, too
    positions: Tensor  # (1, N), from 0 in each text; 0 for padding, since no model has positions beyond its context
    groups: list[tuple[int, int]]  # how many texts have the same length, and this length


def read_records(path: Path) -> Iterator[Record]:
    """The records of a gzipped JSON-lines file; `AttendError` if it is missing or of another kind."""
    for line in read_gzipped(path, "gzipped JSON lines"):
        try:
            yield json.loads(line)
        except json.JSONDecodeError as error:
            raise AttendError(f"{path} is not gzipped JSON lines: {error}.") from error


def read_gzipped(path: Path, kind: str) -> Iterator[str]:
    """The lines of a gzipped text; `AttendError` if the file is missing, or is not `kind`."""
    try:
        with gzip.open(path, "rt", encoding="utf-8") as lines:
            yield from lines
    except FileNotFoundError as error:
        raise AttendError(f"There is no data file {path}: give the folder or file that holds it.") from error
    except (OSError, EOFError, zlib.error, UnicodeDecodeError) as error:
        raise AttendError(f"{path} is not {kind}: {error}.") from error


def is_mixture(folder: Path) -> bool:
    """Whether the folder has any file of the mixture."""
    return any((folder / f"{source.path}.jsonl.gz").is_file() for source in CHAT_MIXTURE)


def present(mixture: Sequence[Source], folder: Path) -> tuple[tuple[Source, ...], tuple[str, ...]]:
    """The sources of a mixture whose files are in the data folder, and the names of the missing files.

    Raises `AttendError` if none of them is there.
    """
    available = tuple(source for source in mixture if (folder / f"{source.path}.jsonl.gz").is_file())
    missing = dict.fromkeys(f"{source.path}.jsonl.gz" for source in mixture if source not in available)
    if not available:
        raise AttendError(f"{folder} has none of the training files: give the folder that holds {next(iter(missing))}.")
    return available, tuple(missing)


def missing_note(missing: Sequence[str], total: int, folder: Path) -> str:
    """Which files of a mixture the run does without."""
    count = f"{len(missing)} of the mixture's {total} files"
    return f"{count} are not in {folder}, and the model learns from the others: {', '.join(missing)}."


def split_of(record: Record) -> Split:
    """The split of a record, by a checksum of its text: 3 % each for validation and test."""
    text = record["text"] if "text" in record else "\n".join(record["turns"])
    bucket = zlib.crc32(text.encode()) % 100
    return "valid" if bucket < 3 else "test" if bucket < 6 else "train"


def documents(source: Source, folder: Path, split: Split) -> list[Document]:
    """The documents of one source in one split, in the file's order."""
    selected = []
    for record in read_records(folder / f"{source.path}.jsonl.gz"):
        if split_of(record) != split:
            continue
        if "text" in record:
            selected.append(Document((record["text"],), story=True))
        elif (turns := source.keep(record)) is not None:
            selected.append(Document(tuple(turns)))
    return selected


def schedule(mixture: Sequence[Source], folder: Path, seed: int) -> list[Document]:
    """All training documents in reading order, with each source spread evenly over its span."""
    rng = random.Random(seed)
    timed: list[tuple[float, Document]] = []
    for source in mixture:
        pool = documents(source, folder, "train")
        whole, part = divmod(source.passes, 1)
        for reading in range(int(whole) + 1):
            shuffled = _varied(rng.sample(pool, len(pool)), source.alike)
            shuffled = shuffled if reading < whole else shuffled[: round(part * len(shuffled))]
            joined = list(_together(shuffled, source.together, rng))
            # The readings of a source follow one another, so that repetitions lie far apart.
            start, end = (_within(source.span, at / source.passes) for at in (reading, reading + 1))
            timed += [(rng.uniform(start, end), document) for document in joined]
    timed.sort(key=lambda item: item[0])
    return [document for _, document in timed]


def _varied(pool: Sequence[Document], alike: int) -> Sequence[Document]:
    """At most the first `alike` documents with the same last turn."""
    if not alike:
        return pool
    seen: Counter[str] = Counter()
    varied = []
    for document in pool:
        seen[document.turns[-1]] += 1
        if seen[document.turns[-1]] <= alike:
            varied.append(document)
    return varied


def mixed(order: Iterable[Document], written: Iterator[tuple[str, ...]], part: float) -> Iterator[Document]:
    """The documents in order, mixed with dialogues by a program, which make up the share `part` of all characters."""
    missing = 0.0  # characters of such dialogues that are still to come
    for document in order:
        yield document
        missing += sum(map(len, document.turns)) * part / (1.0 - part)
        while missing > 0.0:
            turns = next(written)
            yield Document(turns, written=True)
            missing -= sum(map(len, turns))


def _within(span: tuple[float, float], part: float) -> float:
    return span[0] + (span[1] - span[0]) * min(1.0, part)


def _together(pool: Sequence[Document], max_parts: int, rng: random.Random) -> Iterator[Document]:
    """Join short dialogues into longer ones of 1 to `max_parts`; those with an odd number of turns stay alone."""
    waiting: list[str] = []
    parts = rng.randint(1, max_parts)
    for document in pool:
        if document.story or max_parts == 1 or len(document.turns) % 2:
            yield document
            continue
        waiting += document.turns
        parts -= 1
        if parts == 0:
            yield Document(tuple(waiting))
            waiting, parts = [], rng.randint(1, max_parts)
    if waiting:
        yield Document(tuple(waiting))


def messages(turns: Turns | Sequence[str]) -> list[Message]:
    """The turns as messages: speakers alternate, beginning with the user."""
    return [Message("assistant" if number % 2 else "user", turn) for number, turn in enumerate(turns)]


def encode(document: Document, tokenizer: Tokenizer, chat: ChatFormat, longest: int) -> Iterator[Text]:
    """A document's ids, in several texts if it is longer than `longest`; a dialogue is cut before a user's turn.

    Everything but the leading `<s>` is a target: both speakers' turns, their roles and their end tokens. An exchange
    that is too long on its own is cut short. In a dialogue written by a program, only the answers are targets, since
    the user's turns contain random values; if it is too long, it is left out, since its end asks about its beginning.
    """
    if document.story:
        ids = tokenizer.encode(document.turns[0])
        for start in range(0, len(ids), longest - 2):
            piece = ids[start : start + longest - 2]
            last = start + longest - 2 >= len(ids)
            yield _text([chat.begin, *piece, chat.end] if last and not document.continued else [chat.begin, *piece])
        return
    turns = [chat.turn(message) for message in messages(document.turns)]
    if document.written:
        if 1 + sum(map(len, turns)) <= longest:
            answers = [number % 2 == 1 for number, turn in enumerate(turns) for _ in turn]
            yield Text([chat.begin, *(token for turn in turns for token in turn)], [False, *answers])
        return
    ids = [chat.begin]
    for start in range(0, len(turns), 2):
        exchange = [token for turn in turns[start : start + 2] for token in turn]  # a user's turn and its answer
        if len(ids) > 1 and len(ids) + len(exchange) > longest:
            yield _text(ids)
            ids = [chat.begin]
        ids += exchange[: longest - len(ids)]
    yield _text(ids)


def _text(ids: list[int]) -> Text:
    return Text(ids, [False] + [True] * (len(ids) - 1))


def rows(texts: Iterable[Text]) -> Iterator[Row]:
    """Each text as a row of one token less, since its last id is only a target."""
    for ids, loss_mask in texts:
        dtype = torch.int16 if max(ids) < 2**15 else torch.int32
        targets = torch.tensor(ids[1:], dtype=dtype)
        learned = torch.tensor(loss_mask[1:], dtype=torch.bool)
        yield Row(torch.tensor(ids[:-1], dtype=dtype), targets.masked_fill(~learned, IGNORED))


def batches(rows: Iterable[Row], batch_tokens: int) -> Iterator[list[Row]]:
    """The rows in order, as many in a batch as fit with their padding, but at least one; the last batch is left out."""
    batch: list[Row] = []
    filled = 0
    for row in rows:
        filled += _padded_length(row)
        if batch and filled > batch_tokens:
            yield batch
            batch, filled = [], _padded_length(row)
        batch.append(row)


def _padded_length(row: Row) -> int:
    return -(-len(row.tokens) // GRAIN) * GRAIN


def pack(rows: Iterable[Row]) -> Packed:
    """The texts of one step for `Transformer.forward`; see `Packed`."""
    ordered = sorted(rows, key=_padded_length)
    groups = [(len(list(texts)), length) for length, texts in groupby(ordered, _padded_length)]
    total, start = sum(count * length for count, length in groups), 0
    tokens, positions = torch.zeros(2, total, dtype=torch.long)  # (N,) each
    targets = torch.full((total,), IGNORED)  # (N,)
    for row in ordered:
        text = slice(start, start + len(row.tokens))
        tokens[text], targets[text], positions[text] = row.tokens, row.targets, torch.arange(len(row.tokens))
        start += _padded_length(row)
    return Packed(tokens[None], targets[None], positions[None], groups)


@command
def main(arguments: Sequence[str] | None = None) -> None:
    parser = Parser(
        prog="python -m training.data", description="Write one split of one source as a file for training.evaluate."
    )
    parser.add_argument("data", metavar="DATA", type=Path, help="the folder with the training data")
    sources = dict.fromkeys(source.path for source in CHAT_MIXTURE)
    parser.add_argument(
        "--source", metavar="SOURCE", required=True, choices=sources, help=f"which source: {', '.join(sources)}"
    )
    parser.add_argument(
        "--split", choices=("train", "valid", "test"), default="test", help="which part of it (default test)"
    )
    parser.add_argument("--output", metavar="FILE", type=Path, required=True, help="the file to write (.jsonl.gz)")
    options = parser.parse_args(arguments)
    source = next(source for source in CHAT_MIXTURE if source.path == options.source)
    selected = documents(source, options.data, options.split)
    with writing(options.output), gzip.open(options.output, "wt", encoding="utf-8") as lines:
        for document in selected:
            record = {"text": document.turns[0]} if document.story else {"turns": document.turns}
            lines.write(json.dumps(record, ensure_ascii=False) + "\n")
    print(f"{len(selected):,} documents of {options.source} ({options.split}) in {options.output}")


if __name__ == "__main__":
    sys.exit(main())
