"""Small talk from real dialogues, to fill the distance between a fact and its question."""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Self

from training.data import Split, documents
from training.mixture import CHAT_MIXTURE, honest, named

_LONGEST = 160  # characters of a turn of small talk
# Words of an exchange that states a fact itself.
_TELLING = re.compile(r"\b(?:names?|called|named|I'm [A-Z]|I am [A-Z]|from [A-Z]|live in|living|favorite)\b")


class SmallTalk:
    """Exchanges of real dialogues that state none of the facts that questions ask for."""

    def __init__(self, dialogues: Sequence[Sequence[str]]) -> None:
        """`dialogues` start with a turn of the user."""
        self._dialogues = [turns for turns in dialogues if len(turns) > 1]

    @classmethod
    def load(cls, folder: Path, split: Split) -> Self:
        """Load one split of Synthetic Persona Chat; empty if the data folder doesn't have it."""
        source = replace(CHAT_MIXTURE[0], keep=honest(named))
        if not (folder / f"{source.path}.jsonl.gz").is_file():
            return cls([])
        return cls([document.turns for document in documents(source, folder, split)])

    def draw(self, rng: random.Random, exchanges: int) -> list[str]:
        """Draw a number of exchanges as turns, from one dialogue if it is long enough; [] if there are none."""
        small_talk: list[str] = []
        while self._dialogues and len(small_talk) < 2 * exchanges:
            turns = rng.choice(self._dialogues)
            start = 2 * rng.randrange(len(turns) // 2)
            for user, answer in zip(turns[start::2], turns[start + 1 :: 2], strict=False):
                if len(small_talk) == 2 * exchanges or max(len(user), len(answer)) > _LONGEST:
                    break
                small_talk += [] if _TELLING.search(f"{user} {answer}") else [user, answer]
        return small_talk
