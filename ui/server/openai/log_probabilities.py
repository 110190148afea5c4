"""Tokens and log-probabilities in OpenAI's two forms. All are the model's own, before temperature and every filter."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import accumulate
from typing import Any

from decoding.run.run_document import TokenOrigin
from decoding.run.writer import step_entry
from decoding.step import Choice
from model.text.tokenizer import TextTokenizer
from ui.runs.attention_rows import attention_row
from ui.server.openai.body import Explanation
from ui.server.openai.choices import Written

_LEAST = -9999.0  # in place of minus infinity, which JSON can't express; OpenAI does the same


def in_nats(probability: float) -> float:
    return math.log(probability) if probability > 0 else _LEAST


def chat_token(tokenizer: TextTokenizer, choice: Choice, top: int) -> dict[str, Any]:
    """An entry of `logprobs.content`."""

    def entry(token: int, probability: float) -> dict[str, Any]:
        raw = tokenizer.bytes_of(token)
        return {"token": tokenizer.label(token), "logprob": in_nats(probability), "bytes": list(raw)}

    best = [entry(candidate.id, candidate.probabilities[0]) for candidate in choice.candidates[:top]]
    return {**entry(choice.token, choice.probability), "top_logprobs": best}


def token_columns(tokenizer: TextTokenizer, tokens: Sequence[Written], top: int, length: int) -> dict[str, Any]:
    """`logprobs` of a completion: a column for each kind of number, a row for each token.

    Args:
        length: of the text before, in characters.
    """
    return {
        "tokens": [tokenizer.label(written.token) for written in tokens],
        "token_logprobs": [written.choice and in_nats(written.choice.probability) for written in tokens],
        "top_logprobs": [_best(tokenizer, written.choice, top) for written in tokens] if top else None,
        "text_offset": list(accumulate((len(written.text) for written in tokens), initial=length))[:-1],
    }


def _best(tokenizer: TextTokenizer, choice: Choice | None, top: int) -> dict[str, float] | None:
    """The likeliest candidates and the chosen one; of two tokens with the same name, the likelier counts."""
    if choice is None:
        return None
    best: dict[str, float] = {}
    for candidate in choice.candidates[:top]:
        best.setdefault(tokenizer.label(candidate.id), in_nats(candidate.probabilities[0]))
    best.setdefault(tokenizer.label(choice.token), in_nats(choice.probability))
    return best


def explained(choice: Choice | None, origin: TokenOrigin, explanation: Explanation) -> dict[str, Any] | None:
    """What Attend's table shows of a token, as a step of a run document, for a request with `attend`; None for a token
    that nothing predicts."""
    if choice is None:
        return None
    entry: dict[str, Any] = {**step_entry(choice, origin)} if explanation.stages else {"id": choice.token}
    if explanation.attention and choice.attention is not None:
        layers, heads, keys = choice.attention.shape
        entry["attention"] = {"layers": layers, "heads": heads, "keys": keys, "row": attention_row(choice.attention)}
    return entry
