"""One sentence on its way through a model: what each layer would say, what each head does for it, where a word is kept.

The computations are those of `model.inspection`; this file asks them about the next token after a short text.

Shapes: L layers, H heads, T tokens.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from lesson.sentences import at_most
from model.errors import AttendError
from model.inspection.ablation import switch_off_each
from model.inspection.inspector import Inspector, opened
from model.inspection.intervention import Intervention
from model.inspection.lens import Lens, read_layers
from model.inspection.patching import Patching, patch
from model.loaded import LoadedModel

Guesses = list[tuple[int, float]]  # tokens and their probabilities, likeliest first
MAX_TOKENS = 24


@dataclass(frozen=True, slots=True)
class Insides:
    """A text, looked into."""

    tokens: tuple[int, ...]
    lens: Lens
    effects: Tensor  # the change of the likeliest token's log-probability without each head, (L, H)
    guesses: Guesses  # what the model says next
    without: Guesses  # what it says with one head off: the same tokens, then what is new among its best


def look_inside(loaded: LoadedModel, text: str, head: tuple[int, int], *, count: int) -> Insides:
    """Follow a text through the model, once as it is and once with one head switched off.

    Args:
        head: its layer and number, from 0.
        count: how many guesses to return.

    Raises `AttendError` for a text of more than `MAX_TOKENS` tokens, and for a model that can't be opened.
    """
    tokens = at_most(MAX_TOKENS, loaded.prompt(text), "text")
    with loaded.lock:
        inspector = opened(loaded.model).inspector()
        lens = read_layers(inspector, tokens)
        one = Intervention(head[0], "head", head[1])
        both = inspector.predictions([tokens] * 2, interventions=[[], [one]]).softmax(dim=-1)  # (2, V)
        effects = torch.empty(0)
        for progress in switch_off_each(inspector, tokens, int(both[0].argmax())):
            effects = progress.effects
    before, after = (row.topk(count).indices.tolist() for row in both)
    compared = [*before, *(token for token in after[:2] if token not in before)]
    return Insides(tokens, lens, effects, *([(token, row[token].item()) for token in compared] for row in both))


def patch_word(loaded: LoadedModel, text: str, other: str) -> tuple[tuple[int, ...], Guesses, Patching]:
    """Put parts of a text's pass into that of another text, which differs in a word.

    Returns:
        The ids of the other text, what each text makes the model say (of the text, then of the other), and what the
        patches restore.

    Raises `AttendError` for texts of different lengths, or with the same next token.
    """
    tokens, others = (at_most(MAX_TOKENS, loaded.prompt(one), "text") for one in (text, other))
    with loaded.lock:
        inspector = opened(loaded.model).inspector()
        answers = _answers(inspector, tokens, others)
        if answers[0][0] == answers[1][0]:
            raise AttendError("Both texts go on with the same token: change the word that is to be remembered.")
        *_, result = patch(inspector, tokens, others, answers[0][0], answers[1][0])
    return others, answers, result


def _answers(inspector: Inspector, *texts: Sequence[int]) -> Guesses:
    """The likeliest next token of each text."""
    best = inspector.predictions(texts).softmax(dim=-1).max(dim=-1)
    return list(zip(best.indices.tolist(), best.values.tolist(), strict=True))
