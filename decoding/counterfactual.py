"""What-if: every token of a finished text is chosen again under other settings, with the same draws.

`decoding.run.scoring` reads the text in pieces, and at every position the new settings choose from the model's
distribution there. The result is exact up to and including the first token that differs; after it, each choice assumes
the original text before it. Nothing is generated. Knows models only by their interface.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from decoding.processors import Context
from decoding.request import Request
from decoding.run.scoring import predictions
from decoding.settings import DecodingSettings
from decoding.step import Choice
from decoding.strategies.base import usable_logits
from decoding.strategies.sampling import SamplingStrategy
from model.errors import AttendError
from model.interface import LanguageModel


@dataclass(frozen=True, slots=True)
class Counterfactual:
    """What other settings would have chosen along a text."""

    settings: DecodingSettings  # with the seed that was used
    choices: tuple[Choice, ...]  # one per token of the text, each after the original text before it
    first_difference: int | None  # the index of the first token that differs; None where all are the same


def choose_again(
    model: LanguageModel[Any], request: Request, choices: Sequence[Choice], settings: DecodingSettings
) -> Counterfactual:
    """Choose every token of a finished run again, under other settings.

    Args:
        request: the run's; its prompt ends before the first choice.
        choices: the run's, first to last. Each one's draw is used again; where nothing was drawn (a greedy run, a
            token taken by hand), it is the number that the seed of the settings has for this position.
        settings: greedy or sample. Lengths and end tokens are ignored, since the text is given.

    Raises:
        AttendError: for any other strategy.
    """
    if not settings.token_by_token:
        raise AttendError(
            f"The strategy is {settings.strategy}, which doesn't choose each token by its probability alone: "
            "What if? needs greedy or sample."
        )
    settings = settings.seeded()
    strategy = replace(settings, num_return_sequences=1).strategy_for(request)
    assert isinstance(strategy, SamplingStrategy)
    tokens = tuple(choice.token for choice in choices)
    ids, first = (tokens, 0) if request.source else ((*request.prompt, *tokens), len(request.prompt))
    pieces = predictions(model, ids, scored=first, source=request.source)
    rows = (row for _, logits in pieces for row in logits)  # (V,) each
    chosen: list[Choice] = []
    for index, (row, choice) in enumerate(zip(rows, choices, strict=True)):
        logits = usable_logits(row[None], index)  # (1, V)
        again, _ = strategy.chooser.choose(logits, Context(request.prompt, (tokens[:index],)), draw=choice.draw)
        chosen.append(again)
    changed = (index for index, again in enumerate(chosen) if again.token != tokens[index])
    return Counterfactual(settings, tuple(chosen), next(changed, None))
