"""`/inspect`, `/attribute` and `/patch`: causes for programs. All input is untrusted until it has been checked."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from decoding.parameters.parameter import number, quoted
from model.causes.causes import Causes
from model.causes.reading import Text
from model.errors import AttendError
from model.inspection.inspector import opened
from ui.kit.validation import checked_start, checked_switch, checked_text
from ui.runs.models import Models

MAX_TOKENS = 512  # of a text
MAX_PATCHED = 128  # of a text that is patched, which takes a pass for each token in each layer
MAX_STEPS = 100  # of integrated gradients


def cause_endpoints(models: Models) -> Mapping[str, Callable[..., dict[str, Any]]]:
    """The functions behind the endpoints, by their names."""

    def causes(model: object, max_tokens: int = MAX_TOKENS) -> Causes:
        loaded = models.get(model)
        max_tokens = min(max_tokens, opened(loaded.model).inspector().longest())
        return Causes(loaded, seconds=models.limits.run_seconds, max_tokens=max_tokens)

    def inspect(
        text: str | list[int],
        model: str = models.default,
        source: str | list[int] = "",
        interventions: list[dict[str, Any]] | None = None,
        sublayers: bool = False,
        head: list[int] | None = None,
    ) -> dict[str, Any]:
        """What each layer would predict after each token of a text, and what each head looks at.

        Args:
            text: the text, or its ids.
            model: the name of a model of this page.
            source: for a translator, what its encoder reads; the text is then the translation.
            interventions: what is changed inside the model meanwhile, as in a run document.
            sublayers: whether to read the stream between the sub-layers of a layer, too.
            head: a layer and a head of it, counted from 0, whose queries and keys to return; null for none.

        Returns:
            {"tokens", "source", "columns", "guesses", "probabilities", "following", "decided", "heads", "head"}
        """
        read, between = _text(text, "The text"), checked_switch(sublayers, "sublayers")
        inspection = causes(model).inspect(
            read, source=_source(source), interventions=interventions or (), sublayers=between, head=_head(head)
        )
        return inspection.document()

    def attribute(
        text: str | list[int],
        model: str = models.default,
        chosen: str | int | None = None,
        rival: str | int | None = None,
        source: str | list[int] = "",
        steps: int | None = 30,
    ) -> dict[str, Any]:
        """Which words and which parts of the model speak for a token after a text, alone or against a rival.

        Args:
            text: the text, or its ids.
            model: the name of a model of this page.
            chosen: a token, as its text or its id; null for the likeliest.
            rival: another one; null for none.
            source: for a translator, what its encoder reads; the text is then the translation.
            steps: of integrated gradients, at most 100; null leaves them out.

        Returns:
            {"tokens", "source", "chosen", "rival", "log_probability", "words", "parts", "inputs"}
        """
        count = None if steps is None else int(number("steps", steps, 0, MAX_STEPS, integer=True))
        tokens = _token(chosen, "chosen"), _token(rival, "rival")
        return causes(model).attribute(_text(text, "The text"), *tokens, source=_source(source), steps=count).document()

    def patch(
        clean: str | list[int],
        corrupted: str | list[int],
        model: str = models.default,
        answer: str | int | None = None,
        rival: str | int | None = None,
        source: str | list[int] = "",
        corrupted_source: str | list[int] = "",
    ) -> dict[str, Any]:
        """How far each part of a clean text, put into a corrupted one, brings back the answer instead of the rival.

        Args:
            clean: a text, or its ids.
            corrupted: a text with as many tokens, in which a word differs.
            model: the name of a model of this page.
            answer: the token that the clean text leads to; null for the likeliest.
            rival: the one that the corrupted text leads to; null for the likeliest.
            source: for a translator, what its encoder reads for the clean text.
            corrupted_source: and for the corrupted one; empty if it is the same.

        Returns:
            {"clean", "corrupted", "answer", "rival", "clean_difference", "corrupted_difference", "positions", "heads"}
        """
        tokens = _token(answer, "answer"), _token(rival, "rival")
        sources = {"source": _source(source), "corrupted_source": _source(corrupted_source)}
        texts = _text(clean, "The clean text"), _text(corrupted, "The corrupted text")
        return causes(model, MAX_PATCHED).patch(*texts, *tokens, **sources).document()

    return {"inspect": inspect, "attribute": attribute, "patch": patch}


def _text(value: object, name: str) -> Text:
    """A text, or its ids, which `model.causes.reading` checks."""
    return value if isinstance(value, list) else checked_start(value, name)


def _source(value: object) -> Text:
    return value if isinstance(value, list) else checked_text(value, "The source")


def _head(value: object) -> tuple[int, int] | None:
    if value is None:
        return None
    if not isinstance(value, list) or len(value) != 2 or not all(type(number) is int for number in value):
        raise AttendError(f"head is {quoted(value)}, but must be a layer and a head, such as [5, 6].")
    return value[0], value[1]


def _token(value: object, name: str) -> str | int | None:
    if value is None or (isinstance(value, str | int) and not isinstance(value, bool)):
        return checked_text(value, name) if isinstance(value, str) else value
    raise AttendError(f"{name} is {quoted(value)}, but must be the text of a token or its id.")
