"""The record of a run that is about to begin."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from decoding.request import Request, RequestOptions
from decoding.run.trace import Trace
from decoding.settings import DecodingSettings
from model.inspection.inspector import under
from model.inspection.intervention import Intervention
from model.loaded import LoadedModel


def new_trace(
    loaded: LoadedModel,
    ids: Sequence[int],
    settings: DecodingSettings,
    *,
    text: str,
    messages: Sequence[Mapping[str, str]] = (),
    draws_used: int = 0,
    interventions: tuple[Intervention, ...] = (),
) -> Trace:
    """A trace without steps; `AttendError` for settings that this model cannot follow and for parts that it lacks.

    Args:
        ids: the prompt.
        settings: with a definite seed.
        text: as the visitor wrote it: the text to continue, or the newest message.
        messages: the conversation, where it is one.
        draws_used: draws already taken from the seed's stream.
        interventions: what is changed inside the model.
    """
    request = Request.of(loaded, ids, RequestOptions(draws_used=draws_used, interventions=interventions))
    settings.strategy_for(request)
    under(loaded.model, interventions)
    return Trace(loaded.name, text, request, settings, loaded.tokenizer, messages)
