"""Sentence pairs of two languages, split so that no sentence of one part occurs in another in any form.

A file is gzipped TSV with one pair per line, English first. A sentence may have many translations, which have others in
turn, so connected groups of sentences stay together. Sentences that differ only in capitals, accents or punctuation
count as one.

    python -m training.translation.pairs DATA --split test --output FILE.tsv.gz

writes one part to a file for `training.evaluate`.
"""

from __future__ import annotations

import gzip
import random
import sys
import unicodedata
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from model.command_line import Parser, command, writing
from model.errors import AttendError
from training.data import Split, read_gzipped

SOURCE_FILE = "translation/tatoeba_eng_fra.tsv.gz"  # validation and test sentences come from it
BACK_TRANSLATED_FILE = "translation/back_translated_eng_fra.tsv.gz"  # `training.translation.back_translate` writes it
OTHER_FILES = {  # more files to learn from, and how often each is read per pass over SOURCE_FILE
    "translation/tatoeba_2019_new_eng_fra.tsv.gz": 1.0,  # the same style
    BACK_TRANSLATED_FILE: 1.0,  # the same style
    "translation/african_storybook_eng_fra.tsv.gz": 1.0,  # simple stories
    "translation/wikiotics_phrasebook_eng_fra.tsv.gz": 1.0,
    "translation/pd_books_eng_fra.tsv.gz": 0.5,  # old style
    "translation/gnome_help_eng_fra.tsv.gz": 0.5,
    "translation/software_permissive_eng_fra.tsv.gz": 0.5,
    "translation/tico19_eng_fra.tsv.gz": 0.5,  # this one and the next two are long and formal
    "translation/ntrex_eng_fra.tsv.gz": 0.5,
    "translation/ud_pud_eng_fra.tsv.gz": 0.5,
}


@dataclass(frozen=True, slots=True)
class Pair:
    """A sentence and one translation of it."""

    source: str  # what is read: in the files the second column, mostly French
    target: str  # what is written: in the files the first column, English; `turned` exchanges the two


def bare(sentence: str) -> str:
    """The letters and digits only, in lower case and without accents; the sentence itself if it has none."""
    decomposed = unicodedata.normalize("NFKD", sentence.lower())
    return "".join(character for character in decomposed if character.isalnum()) or sentence


def read_pairs(path: Path) -> list[Pair]:
    """All pairs of a file; `AttendError` if it is missing or of another kind."""
    pairs = []
    for number, line in enumerate(read_gzipped(path, "gzipped text"), start=1):
        parts = line.rstrip("\n").split("\t")
        if len(parts) != 2 or not all(part.strip() for part in parts):
            raise AttendError(
                f"Line {number} of {path} is not an English sentence, a tab and its translation: correct it."
            )
        pairs.append(Pair(source=parts[1], target=parts[0]))
    return pairs


def write_pairs(pairs: Iterable[Pair], path: Path) -> None:
    """Write a file for `read_pairs`; `AttendError` if it can't be written."""
    with writing(path), gzip.open(path, "wt", encoding="utf-8") as lines:
        lines.writelines(f"{pair.target}\t{pair.source}\n" for pair in pairs)


def split_pairs(pairs: Sequence[Pair]) -> dict[Split, list[Pair]]:
    """Split the connected groups: 1 % for validation, 2 % for test, the rest for training, in the file's order.

    The part follows from a checksum of the group's sentences, so it is the same in every run.
    """
    groups = _Groups()
    for pair in pairs:
        groups.connect("fr " + bare(pair.source), "en " + bare(pair.target))
    parts: dict[Split, list[Pair]] = {"train": [], "valid": [], "test": []}
    first: dict[str, str] = {}  # for each group, the sentence that comes first in the alphabet
    for sentence in groups.sentences():
        root = groups.root(sentence)
        first[root] = min(first.get(root, sentence), sentence)
    for pair in pairs:
        bucket = zlib.crc32(first[groups.root("fr " + bare(pair.source))].encode()) % 100
        parts["valid" if bucket < 1 else "test" if bucket < 3 else "train"].append(pair)
    return parts


def other_pairs(
    folder: Path, files: Mapping[str, float], held_out: Sequence[Pair]
) -> tuple[list[tuple[float, list[Pair]]], list[str]]:
    """How often each file is read in a pass, with its pairs; and the names of the files that are missing.

    Args:
        held_out: pairs of which no sentence may be learned, on either side and in any form.
    """
    sources, targets = {bare(pair.source) for pair in held_out}, {bare(pair.target) for pair in held_out}
    read, missing = [], []
    for name, share in files.items():
        if not (folder / name).is_file():
            missing.append(name)
            continue
        pairs = read_pairs(folder / name)
        kept = [pair for pair in pairs if bare(pair.source) not in sources and bare(pair.target) not in targets]
        read.append((share, kept))
    return read, missing


def turned(pairs: Sequence[Pair]) -> list[Pair]:
    """The same pairs, to be translated the other way."""
    return [Pair(source=pair.target, target=pair.source) for pair in pairs]


def by_source(pairs: Sequence[Pair]) -> dict[str, list[str]]:
    """All translations of each sentence."""
    translations: dict[str, list[str]] = {}
    for pair in pairs:
        translations.setdefault(pair.source, []).append(pair.target)
    return translations


class _Groups:
    """Which sentences are connected: a union-find (Galler and Fischer, 1964)."""

    def __init__(self) -> None:
        self._parent: dict[str, str] = {}

    def connect(self, one: str, other: str) -> None:
        self._parent[self.root(one)] = self.root(other)

    def root(self, sentence: str) -> str:
        above = self._parent.setdefault(sentence, sentence)
        while above != sentence:
            self._parent[sentence] = self._parent[above]  # path halving
            sentence = self._parent[sentence]
            above = self._parent[sentence]
        return sentence

    def sentences(self) -> list[str]:
        return list(self._parent)


Encoded = tuple[list[int], list[int]]  # source and target ids


def by_length(pairs: Sequence[Encoded], batch_tokens: int, rng: random.Random) -> Iterator[list[Encoded]]:
    """Batches of pairs of similar lengths, so that there is little padding, in random order.

    Args:
        batch_tokens: the limit on the tokens of a batch, in both languages together, with every pair counted as long as
            the longest one. There is more padding if the longest source and the longest target are of different pairs.
    """
    shuffled = rng.sample(pairs, len(pairs))
    shuffled.sort(key=lambda pair: (len(pair[0]), len(pair[1])))  # stable: equal lengths stay shuffled
    batches: list[list[Encoded]] = []
    batch: list[Encoded] = []
    longest = 0
    for source, target in shuffled:
        longer = max(longest, len(source) + len(target))
        if batch and longer * (len(batch) + 1) > batch_tokens:
            batches.append(batch)
            batch, longer = [], len(source) + len(target)
        batch.append((source, target))
        longest = longer
    if batch:
        batches.append(batch)
    rng.shuffle(batches)
    yield from batches


@command
def main(arguments: Sequence[str] | None = None) -> None:
    parser = Parser(
        prog="python -m training.translation.pairs",
        description="Write one part of the sentence pairs for training.evaluate.",
    )
    parser.add_argument("data", metavar="DATA", type=Path, help="the folder with the training data")
    parser.add_argument(
        "--split", choices=("train", "valid", "test"), default="test", help="which part to write (default test)"
    )
    parser.add_argument("--output", metavar="FILE", type=Path, required=True, help="the file to write (.tsv.gz)")
    options = parser.parse_args(arguments)
    pairs = split_pairs(read_pairs(options.data / SOURCE_FILE))[options.split]
    write_pairs(pairs, options.output)
    print(f"{len(pairs):,} pairs ({options.split}) in {options.output}")


if __name__ == "__main__":
    sys.exit(main())
