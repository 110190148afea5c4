"""`/score`: how probable texts are to a model. All input is untrusted until it has been checked."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import closing
from typing import Any

from decoding.parameters.parameter import quoted
from decoding.run.score import TextScore, score_windows
from model.errors import AttendError
from ui.kit.validation import checked_start, checked_text
from ui.runs.models import Models

MAX_TEXTS = 64


def score_endpoint(models: Models) -> Callable[..., dict[str, Any]]:
    """The function behind `/score`."""

    def score(texts: str | list[str], model: str = models.default, prompt: str = "", stride: int = 0) -> dict[str, Any]:
        """Say how probable each token of a text is to the model, and the text as a whole.

        Args:
            texts: a text, or a list of up to 64.
            model: the name of a model of this page.
            prompt: a text before them that is not scored; of a translator, the source.
            stride: how many tokens each window of a text longer than the context scores; 0 is half of the context.

        Returns:
            {"scores": for each text {"model", "text", "tokens": [{"id", "text", "log_probability", "surprise", "rank",
            "entropy"}, …], "log_probability", "perplexity", "bits_per_byte"}}. Surprise and entropy are in bits.
        """
        listed = [texts] if isinstance(texts, str) else texts
        if not isinstance(listed, list) or not 0 < len(listed) <= MAX_TEXTS:
            raise AttendError(f"texts is {quoted(texts)}, but must be a text or a list of 1 to {MAX_TEXTS} texts.")
        if not isinstance(stride, int) or stride < 0:
            raise AttendError(f"stride is {quoted(stride)}, but must be a whole number, 0 or more.")
        loaded, before = models.get(model), checked_text(prompt, "The prompt")
        end, scores = time.monotonic() + models.limits.run_seconds, []
        for number, text in enumerate(listed, start=1):
            checked = checked_start(text, f"Text {number}")
            with closing(score_windows(loaded, checked, prompt=before, stride=stride)) as passes:
                scores.append(_within(end, passes, number).document())
        return {"scores": scores}

    return score


def _within(end: float, passes: Iterator[TextScore], number: int) -> TextScore:
    """The whole score; `AttendError` if it isn't there in time."""
    scored = next(passes)
    for scored in passes:  # noqa: B007 (the last one is whole)
        if time.monotonic() > end:
            raise AttendError(f"Text {number} could not be scored within the time limit of an answer: send less text.")
    return scored
