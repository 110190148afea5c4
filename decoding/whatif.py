"""What would have changed it: a finished text, the same draws, other settings.

One pass scores the whole text, and at every place the new settings choose from what the model said there. So the answer
is exact up to and with the first place where they take another token; behind it, it says what they would have taken had
the text still been the same. Nothing is generated. Knows of models only their interface.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from decoding.processors import Context, run_chain
from decoding.recorder import record
from decoding.sampling import Draws, token_at
from decoding.settings import DecodingSettings
from decoding.step import Choice
from decoding.strategy import Request, usable_logits
from model.errors import AttendError
from model.interface import LanguageModel


@dataclass(frozen=True, slots=True)
class WhatIf:
    """What other settings would have made of a text."""

    settings: DecodingSettings  # with the seed that was used
    choices: tuple[Choice, ...]  # one for each token of the text: what they take after the same text before it
    first_difference: int | None  # the first place where that is another token; None where the text stays as it is


def what_if(
    model: LanguageModel[Any], request: Request, choices: Sequence[Choice], settings: DecodingSettings
) -> WhatIf:
    """Choose every token of a finished run again, under other settings.

    Args:
        request: the run's, its prompt being what stood before the first choice.
        choices: the run's, first to last. Each one's own draw is used again; where nothing was drawn (a greedy run, a
            token taken by hand), it is the one that the settings' seed has for this place.
        settings: greedy or sample. Lengths and end tokens play no part, since the text is what it is.
    """
    if not settings.token_by_token:
        raise AttendError(
            f"The strategy is {settings.strategy}, which goes by more than what the model says along this one text: to "
            "see what would have changed it, choose greedy or sample."
        )
    settings = settings.seeded()
    chain, mirostat = settings.processors(request), settings.mirostat()
    tokens = tuple(choice.token for choice in choices)
    draws = Draws(settings.seed)
    scored = model.logits(request.given, tokens)  # (tokens, V)
    taken = []
    for place, choice in enumerate(choices):
        row = usable_logits(scored[place : place + 1], place)  # (1, V)
        processors = chain if mirostat is None else (*chain, mirostat.stage)
        logits = run_chain(processors, row, Context(request.prompt, (tokens[:place],)))
        names = ("model", *(processor.name for processor in processors))
        recording = record(names, logits, settings.top_candidates)[0]
        own = draws.next()  # every place has one, needed or not
        draw = own if choice.draw is None else choice.draw
        if settings.greedy:
            taken.append(recording.choice(int(logits[-1][0].argmax())))
        else:
            taken.append(recording.choice(token_at(draw, recording), draw=draw))
        if mirostat is not None:
            mirostat.chose(taken[-1].final_probability)
    changed = (place for place, choice in enumerate(taken) if choice.token != tokens[place])
    return WhatIf(settings, tuple(taken), next(changed, None))
