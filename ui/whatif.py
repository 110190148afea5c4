"""What would have changed it, told for the page: the same text and draws under another temperature, top-k or top-p.

The answer is `decoding.whatif`'s; this file finds the run, checks what is asked, and puts it into words.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from decoding.parameter import shown
from decoding.settings import DecodingSettings, parameters
from decoding.trace import Trace
from decoding.whatif import WhatIf, what_if
from model.errors import AttendError
from model.loaded import LoadedModel
from ui.contract import WhatIfForm, WhatIfValue
from ui.models import Models
from ui.replay import is_replay
from ui.session import Run, Session
from ui.settings_panel import LABELS, WORDS

VARIED = ("temperature", "top_k", "top_p")
QUICK = (0.0, 0.5, 1.0, 1.5)  # temperatures


def whatif_form() -> WhatIfForm:
    """What can be varied, in which ranges, and the temperatures that are one press away."""
    declared = [parameter for parameter in parameters() if parameter.name in VARIED]
    return {
        "controls": [
            {
                "name": one.name,
                "label": LABELS[one.name],
                "help": one.help,
                "minimum": one.minimum,
                "maximum": one.maximum,
                "step": one.step,
                "neutral": one.neutral if isinstance(one.neutral, int | float) else None,
            }
            for one in declared
        ],
        "quick": list(QUICK),
    }


def answer(session: Session, models: Models, identifier: object, changes: object) -> WhatIfValue:
    """What these changes would have made of a run; `{}` starts with the run's own settings."""
    session.refuse_while_busy()
    if is_replay(identifier):
        return _unasked(str(identifier), "This is a replay: only a run of this page has the model at hand to be asked.")
    run = session.run(identifier if isinstance(identifier, str) else None)
    trace = run.trace
    if trace is None or not trace.steps:
        return _unasked(run.id, "How this text came about is not kept: continue it, or retry the answer, then ask.")
    if not trace.settings.token_by_token:
        return _unasked(
            run.id,
            f"This text was made with {WORDS[trace.settings.strategy]}. Only greedy and sampled runs choose every "
            "token for itself, so only they can be asked.",
        )
    own = own_settings(trace.settings)
    asked = changed(own, changes)
    loaded = models.present(run.model)
    with loaded.lock:
        result = what_if(loaded.model, trace.request, trace.choices(), asked)
    return _told(run, trace, own, result, loaded)


def own_settings(settings: DecodingSettings) -> DecodingSettings:
    """The run's settings as the sliders have them: a greedy run is one that sampled at temperature 0.

    It has no draws of its own; those of one seed, whichever, give the same question the same answer.
    """
    as_sampled = {"temperature": 0, "seed": max(0, settings.seed)} if settings.greedy else {}
    return DecodingSettings.from_dict({**settings.to_dict(), "strategy": "sample", **as_sampled})


def changed(own: DecodingSettings, changes: object) -> DecodingSettings:
    """The run's settings with these changes, which may be anything."""
    if not isinstance(changes, Mapping) or not all(name in VARIED for name in changes):
        raise AttendError(f"The changes are {shown(changes)}, but may name only {', '.join(VARIED)}: send those.")
    return DecodingSettings.from_dict({**own.to_dict(), **changes})


def in_words(own: DecodingSettings, result: WhatIf) -> str:
    """How far the text stays; where it does not, the sentence goes on with the token taken and the one it replaces."""
    differing = [name for name in VARIED if getattr(result.settings, name) != getattr(own, name)]
    told = [f"{LABELS[name].lower()} {getattr(result.settings, name):g}" for name in differing]
    having = f"With {', '.join(told[:-1])} and {told[-1]}" if len(told) > 1 else f"With {' '.join(told)}"
    if not told:
        having = "With its own settings"
    count, place = len(result.choices), result.first_difference
    if place is None:
        return f"{having} {'the one token stays' if count == 1 else f'all {count:,} tokens stay'}."
    if place == 0:
        return f"{having} the first token is"
    return f"{having} the first {'token stays' if place == 1 else f'{place:,} tokens stay'}; then"


def _told(run: Run, trace: Trace, own: DecodingSettings, result: WhatIf, loaded: LoadedModel) -> WhatIfValue:
    label = loaded.tokenizer.label
    return {
        "run": run.id,
        "sentence": in_words(own, result),
        "settings": _varied(result.settings),
        "own": _varied(own),
        "first": len(trace.request.read) - run.first,
        "tokens": [
            (label(token), None if choice.token == token else label(choice.token), choice.final_probability)
            for token, choice in zip(trace.ids, result.choices, strict=True)
        ],
        "first_difference": result.first_difference,
    }


def _unasked(run: str, why: str) -> WhatIfValue:
    return {
        "run": run,
        "sentence": why,
        "settings": {},
        "own": {},
        "first": 0,
        "tokens": [],
        "first_difference": None,
    }


def _varied(settings: DecodingSettings) -> dict[str, Any]:
    return {name: getattr(settings, name) for name in VARIED}
