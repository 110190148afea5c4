"""Why a model would choose a token, in sentences, from what `/attribute` and `/inspect` answer.

Layers and heads are counted from 1, as on the page.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

_WORDS = 3  # that are named
_SMALL = 0.1  # nats: a word whose absence changes less is not named


def explained(model: str, attributed: Mapping[str, Any], inspected: Mapping[str, Any]) -> str:
    """Explain the choice of a token in one paragraph.

    Args:
        attributed: of the chosen token, and perhaps a rival, as `Attributed.document` gives it.
        inspected: of the same text, as `Inspected.document` gives it.
    """
    return " ".join(
        [
            *_probability(model, attributed, inspected),
            *_words(attributed),
            *_layers(attributed, inspected),
            *_parts(attributed),
        ]
    )


def _probability(model: str, attributed: Mapping[str, Any], inspected: Mapping[str, Any]) -> Iterator[str]:
    chosen, rival, nats = _quoted(attributed["chosen"]), attributed["rival"], attributed["log_probability"]
    likeliest, probability = inspected["guesses"][-1][-1], inspected["probabilities"][-1][-1]
    if rival is None:
        yield f"After this text, {model} gives {chosen} a probability of {math.exp(nats):.3g}."
    else:
        times = f"{math.exp(min(abs(nats), 700)):,.3g} times as probable as"
        more, less = (chosen, _quoted(rival)) if nats >= 0 else (_quoted(rival), chosen)
        yield f"After this text, {model} finds {more} {times} {less}."
    if likeliest["id"] == attributed["chosen"]["id"]:
        yield "No token is more probable."
    else:
        yield f"The most probable token is {_quoted(likeliest)} with {probability:.3g}."


def _words(attributed: Mapping[str, Any]) -> Iterator[str]:
    """Say on which words the choice rests."""
    words = sorted(attributed["words"], key=lambda word: word["effect"])
    for_it = [word for word in words if word["effect"] < -_SMALL][:_WORDS]
    against = [word for word in words[::-1] if word["effect"] > _SMALL][:_WORDS]
    what = "its log-probability" if attributed["rival"] is None else "the difference of the two log-probabilities"
    if for_it:
        yield f"It rests most on {_listed(for_it, attributed)}."
    if against:
        yield f"What speaks against it most is {_listed(against, attributed)}."
    if for_it or against:
        yield f"These are the changes of {what}, in nats, when a word is left out."
    else:
        yield f"No single word matters: leaving any of them out changes {what} by less than {_SMALL} nats."


def _layers(attributed: Mapping[str, Any], inspected: Mapping[str, Any]) -> Iterator[str]:
    """Say from which layer on the model's best guess at the end of the text is the chosen token."""
    guesses = [row[-1]["id"] for row in inspected["guesses"]]
    chosen = attributed["chosen"]["id"]
    if guesses[-1] != chosen:
        return
    first = len(guesses)
    while first and guesses[first - 1] == chosen:
        first -= 1
    column = inspected["columns"][first]
    begins = "the embeddings" if column == "0" else f"layer {column}"
    yield f"By the logit lens, it is the top guess from {begins} on."


def _parts(attributed: Mapping[str, Any]) -> Iterator[str]:
    """Say which parts of the model matter most for its logit."""
    sublayers = [
        (share, f"the {name.replace('_', '-')} in layer {layer}")
        for name, shares in attributed["parts"]["sublayers"].items()
        for layer, share in enumerate(shares, start=1)
    ]
    heads = [
        (share, f"head {layer}.{head}")
        for layer, row in enumerate(attributed["parts"]["heads"] or (), start=1)
        for head, share in enumerate(row, start=1)
    ]
    what = "the logit" if attributed["rival"] is None else "the difference of the two logits"
    yield f"What changes {what} most is {_strongest(sublayers, 2)}."
    if heads:
        yield f"Of the attention heads (layer.head), the strongest are {_strongest(heads, 3)}."


def _strongest(parts: Sequence[tuple[float, str]], count: int) -> str:
    """The parts with the largest shares, of either sign."""
    order = sorted(parts, key=lambda part: -abs(part[0]))[:count]
    return ", ".join(f"{name} ({share:+.2f})" for share, name in order)


def _quoted(token: Mapping[str, Any]) -> str:
    return repr(token["text"])


def _listed(words: Sequence[Mapping[str, Any]], attributed: Mapping[str, Any]) -> str:
    """Words with their effects; what stands before a word tells it from another one that reads the same."""

    def described(word: Mapping[str, Any]) -> str:
        before = "".join(token["text"] for token in attributed["tokens"][max(0, word["start"] - 3) : word["start"]])
        return f"{word['text']!r} after {before!r} ({word['effect']:+.2f})"

    return ", ".join(map(described, words))
