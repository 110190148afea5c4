"""Helpers for tests of training: data in the real layout, settings for one-second runs, and losses."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from training.mixture import CHAT_MIXTURE
from training.settings import TRANSLATE, TrainingSettings
from training.translation.pairs import SOURCE_FILE, Pair

_SMALL: dict[str, Any] = {
    "width": 16,
    "layers": 1,
    "heads": 2,
    "key_value_heads": 2,
    "feed_forward_width": 24,
    "precision": "no",
}
CHAT = TrainingSettings(vocabulary_size=320, context_length=64, batch_tokens=512, validate_steps=1000, **_SMALL)
TRANSLATOR = replace(
    TRANSLATE,
    vocabulary_size=340,
    context_length=32,
    encoder_layers=1,
    batch_tokens=256,
    passes=3.0,
    save_minutes=60.0,
    validate_steps=10,
    average=2,
    average_steps=5,
    **_SMALL,
)
_NOUNS = {"chat": "cat", "chien": "dog", "livre": "book", "train": "train", "jardin": "garden", "pain": "bread"}
_COLOURS = {"rouge": "red", "noir": "black", "vert": "green", "petit": "small", "grand": "big", "vieux": "old"}


def flags(settings: TrainingSettings) -> list[str]:
    """Settings as command-line flags."""
    return [f"--{name.replace('_', '-')}={value}" for name, value in asdict(settings).items()]


def losses(run: Path) -> list[float]:
    """The loss of each step."""
    return [float(line.split(",")[3]) for line in (run / "curve.csv").read_text().splitlines()[1:]]


def write_records(path: Path, records: Iterable[Mapping[str, Any]]) -> Path:
    path.parent.mkdir(exist_ok=True)
    with gzip.open(path, "wt", encoding="utf-8") as lines:
        lines.writelines(json.dumps(record) + "\n" for record in records)
    return path


def write_conversations(folder: Path) -> Path:
    """A data folder with a few lines in every file of the mixture."""
    for number, source in enumerate(CHAT_MIXTURE):
        dialogues = [[f"Hello {number} and {line}.", f"The answer is {line}.", "Good.", "Bye."] for line in range(90)]
        records = [
            {
                **({"text": " ".join(turns)} if "stories" in source.path else {"turns": turns}),
                "style": "friendly",
                "topic": "greetings",
            }
            for turns in dialogues
        ]
        write_records(folder / f"{source.path}.jsonl.gz", records)
    return folder


def sentences() -> list[Pair]:
    """Pairs that share no sentence, but for numbers too many for the groups to be one."""
    return [
        Pair(source=f"Le {noun} {number} est {colour}.", target=f"The {_NOUNS[noun]} {number} is {_COLOURS[colour]}.")
        for number in range(8)
        for noun in _NOUNS
        for colour in _COLOURS
    ]


def write_pairs(folder: Path) -> Path:
    """A data folder with those sentences."""
    (folder / SOURCE_FILE).parent.mkdir()
    write_lines(folder / SOURCE_FILE, [f"{pair.target}\t{pair.source}" for pair in sentences()])
    return folder


def write_lines(path: Path, lines: Iterable[str]) -> None:
    with gzip.open(path, "wt", encoding="utf-8") as file:
        file.writelines(f"{line}\n" for line in lines)
