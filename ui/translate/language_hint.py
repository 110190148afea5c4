"""A hint that a text may not be in the language that the model reads, from how sure the model was of its translation.

A translator makes something of any text; it is just less sure if the language is another one. Measured with
attend-translate on 400 Tatoeba sentences of each language, translated greedily: the mean log-probability of a token was
below the threshold for 0.5 % of the French ones, 66 % of the English and 89 % of the German. So the hint is rarely
wrong, and often missing.
"""

from __future__ import annotations

import math

from model import names
from model.loaded import LoadedModel
from ui.runs.run import RunRecord

UNSURE = -0.8  # nats
_SEARCHING = ("greedy", "beam")  # what was measured; a random draw is often of a token that the model finds unlikely


def language_read(address: str) -> str:
    """The language that a model of the catalogue reads; "" where it reads several, or is not listed."""
    listed = (entry.languages.partition(" → ") for entry in names.ENTRIES if entry.name == address)
    return next((source for source, arrow, _ in listed if arrow), "")


def language_hint(run: RunRecord, loaded: LoadedModel) -> str | None:
    """The hint about a finished translation; None where there is nothing to say, or the threshold was not measured."""
    choices = (token.choice for token in run.tokens[run.first :])
    generated = [choice.probability for choice in choices if choice and choice.probability]
    if loaded.name not in names.embedded() or run.trace is None or run.trace.settings.strategy not in _SEARCHING:
        return None
    if not generated or sum(map(math.log, generated)) / len(generated) >= UNSURE:
        return None
    return f"low confidence: is this text in {language_read(loaded.address)}?"
