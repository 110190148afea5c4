"""Real small talk, among which the written dialogues stand."""

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
_TELLING = re.compile(
    r"\b(?:names?|called|named|I'm [A-Z]|I am [A-Z]|from [A-Z]|live in|living|favorite)\b"
)  # facts of its own


class SmallTalk:
    """Exchanges of real dialogues that tell no facts themselves, to stand between a fact and the question for it."""

    def __init__(self, dialogues: Sequence[Sequence[str]]) -> None:
        """Dialogues whose first turn is the user's."""
        self._dialogues = [turns for turns in dialogues if len(turns) > 1]

    @classmethod
    def of(cls, folder: Path, split: Split) -> Self:
        """Those of one split of the data folder's best dialogues; none where it lacks them."""
        source = replace(CHAT_MIXTURE[0], keep=honest(named))
        if not (folder / f"{source.path}.jsonl.gz").is_file():
            return cls([])
        return cls([document.turns for document in documents(source, folder, split)])

    def draw(self, rng: random.Random, exchanges: int) -> list[str]:
        """So many exchanges, of one dialogue where it is long enough; empty where there is no small talk at all."""
        found: list[str] = []
        while self._dialogues and len(found) < 2 * exchanges:
            turns = rng.choice(self._dialogues)
            start = 2 * rng.randrange(len(turns) // 2)
            for user, answer in zip(turns[start::2], turns[start + 1 :: 2], strict=False):
                if len(found) == 2 * exchanges or max(len(user), len(answer)) > _LONGEST:
                    break
                found += [] if _TELLING.search(f"{user} {answer}") else [user, answer]
        return found
