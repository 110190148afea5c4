"""What if? on the page: the same text and draws under another temperature, top-k or top-p.

`decoding.counterfactual` computes the answer; this file finds the run, checks the request and words the result.
"""

from __future__ import annotations

from collections.abc import Mapping

from decoding.counterfactual import Counterfactual, choose_again
from decoding.parameters.parameter import quoted
from decoding.settings import DecodingSettings, parameters
from decoding.strategies.registry import SPECS
from model.errors import AttendError
from model.inspection.inspector import under
from ui.inspector.toolbar.replay import is_replay
from ui.inspector.toolbar.toolbar_contract import WhatIfForm, WhatIfValue
from ui.kit.labels import LABELS
from ui.kit.setting import setting_field
from ui.runs.models import Models
from ui.runs.session import Session

VARIED = ("temperature", "top_k", "top_p")
QUICK = (0.0, 0.5, 1.0, 1.5)  # temperatures


def whatif_form() -> WhatIfForm:
    """What can be varied, in which ranges, and the temperatures that are one press away."""
    settings = [setting_field(parameter) for parameter in parameters() if parameter.name in VARIED]
    return {"settings": settings, "quick": list(QUICK)}


def answer(session: Session, models: Models, run: str, changes: object) -> WhatIfValue:
    """What these changes would have made of a run; `{}` starts with the run's own settings."""
    session.refuse_while_busy()
    if is_replay(run):
        return _refusal(run, "This run was opened from a file. What if? needs a run made on this page.")
    record = session.run(run)
    try:
        trace = record.require_trace()
    except AttendError as error:
        return _refusal(run, str(error))
    if not trace.settings.token_by_token:
        return _refusal(
            run,
            f"The decoding method of this text is {SPECS[trace.settings.strategy].label}. What if? needs a greedy or "
            "sampled run, where each token is chosen by its probability alone.",
        )
    original = original_settings(trace.settings)
    altered = changed(original, changes)
    loaded = models.require_loaded(record.model)
    with loaded.lock:
        result = choose_again(under(loaded.model, record.interventions), trace.request, trace.choices(), altered)
    label = loaded.tokenizer.label
    return {
        "run": run,
        "sentence": in_words(original, result),
        "settings": {name: getattr(result.settings, name) for name in VARIED},
        "first": len(trace.request.attended) - record.first,
        "tokens": [
            {
                "text": label(token),
                "instead": None if choice.token == token else label(choice.token),
                "probability": choice.final_probability,
            }
            for token, choice in zip(trace.ids, result.choices, strict=True)
        ],
        "first_difference": result.first_difference,
    }


def original_settings(settings: DecodingSettings) -> DecodingSettings:
    """The run's settings as the sliders have them: a greedy run is one that sampled at temperature 0.

    It drew nothing, so it gets the draws of some fixed seed: the same question then always has the same answer.
    """
    as_sampled = {"temperature": 0, "seed": max(0, settings.seed)} if settings.greedy else {}
    return DecodingSettings.from_dict({**settings.to_dict(), "strategy": "sample", **as_sampled})


def changed(original: DecodingSettings, changes: object) -> DecodingSettings:
    """The run's settings with these changes, which may be anything."""
    if not isinstance(changes, Mapping) or not all(name in VARIED for name in changes):
        raise AttendError(f"The changes are {quoted(changes)}, but only these can change: {', '.join(VARIED)}.")
    return DecodingSettings.from_dict({**original.to_dict(), **changes})


def in_words(original: DecodingSettings, result: Counterfactual) -> str:
    """How far the text stays the same; after a difference, the page adds the new token and the one it replaces."""
    differing = [name for name in VARIED if getattr(result.settings, name) != getattr(original, name)]
    changes = [f"{LABELS[name].lower()} {getattr(result.settings, name):g}" for name in differing]
    having = f"With {', '.join(changes[:-1])} and {changes[-1]}" if len(changes) > 1 else f"With {' '.join(changes)}"
    if not changes:
        having = "With its original settings"
    count, first = len(result.choices), result.first_difference
    if first is None:
        return f"{having}, {'the one token stays' if count == 1 else f'all {count:,} tokens stay'} the same."
    if first == 0:
        return f"{having}, the first token is"
    return f"{having}, the first {'token stays' if first == 1 else f'{first:,} tokens stay'} the same; then"


def _refusal(run: str, why: str) -> WhatIfValue:
    return {"run": run, "sentence": why, "settings": {}, "first": 0, "tokens": [], "first_difference": None}
