"""The loss curves of the embedded models' own training runs, thousands of steps in a few points each."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from functools import cache
from itertools import accumulate
from statistics import fmean

from model.names import EMBEDDED, embedded

POINTS = 50  # in a curve
_FILES = {  # for each model and file, what the training was for
    ("attend-chat", "curve-first.csv"): "attend-chat, from random weights: small talk",
    ("attend-chat", "curve-second.csv"): "attend-chat, afterwards: half of it dialogues with facts to remember",
    ("attend-chat", "curve.csv"): "attend-chat, finally: more of everything",
    ("attend-translate", "curve-first.csv"): "attend-translate, from random weights: French to English",
    ("attend-translate", "curve.csv"): "attend-translate, afterwards: with twice as many sentences",
}


# After which steps the texts that are learned change. In the first training, by its recipe (`CHAT_RECIPE` of commit
# 13b2622), six sources end at 60 % of the 2,108 steps, another at 80 % and the stories at 90 %. The second had eight
# sittings and the third three; the model card has the steps of each.
_CHANGES = {
    ("attend-chat", "curve-first.csv"): tuple(round(2108 * share) for share in (0.6, 0.8, 0.9)),
    ("attend-chat", "curve-second.csv"): tuple(accumulate((161, 366, 283, 582, 301, 303, 60))),
    ("attend-chat", "curve.csv"): tuple(accumulate((2984, 1499))),
}


@dataclass(frozen=True, slots=True)
class LossCurve:
    """The loss of a training, divided into equal parts."""

    name: str
    steps: int
    tokens: tuple[int, ...]  # fed by the end of each part
    losses: tuple[float, ...]  # the mean of each part's steps, in nats per token
    changes: tuple[int, ...]  # how many tokens were fed when the data changed


@cache
def recorded() -> tuple[LossCurve, ...]:
    """The curves of those embedded models that are present."""
    return tuple(
        _read(model, file, name, _CHANGES.get((model, file), ()))
        for (model, file), name in _FILES.items()
        if model in embedded() and (EMBEDDED / model / file).is_file()
    )


def _read(model: str, file: str, name: str, changes: tuple[int, ...]) -> LossCurve:
    with (EMBEDDED / model / file).open(newline="") as lines:
        rows = [(int(row["tokens"]), float(row["loss"])) for row in csv.DictReader(lines)]
    size = -(-len(rows) // POINTS)  # rounded up
    parts = [rows[start : start + size] for start in range(0, len(rows), size)]
    losses = (fmean(loss for _, loss in part) for part in parts)
    return LossCurve(
        name,
        len(rows),
        tuple(part[-1][0] for part in parts),
        tuple(losses),
        tuple(rows[step - 1][0] for step in changes),
    )
