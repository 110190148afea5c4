"""Tokens and log-probabilities in OpenAI's two forms. All are the model's own, before temperature and every filter."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

from decoding.run.document import TokenOrigin
from decoding.run.writer import step_entry
from decoding.step import Choice
from model.text.tokenizer import TextTokenizer
from ui.runs.attention import attention_row
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


@dataclass(slots=True)
class TokenColumns:
    """`logprobs` of a completion: a column for each kind of number, a row for each token."""

    tokenizer: TextTokenizer
    top: int
    tokens: list[str] = field(default_factory=list)
    token_logprobs: list[float | None] = field(default_factory=list)
    top_logprobs: list[dict[str, float] | None] = field(default_factory=list)
    text_offset: list[int] = field(default_factory=list)
    length: int = 0  # of the text so far, in characters

    def add(self, written: Written) -> None:
        """Add the row of a token."""
        label, choice = self.tokenizer.label(written.token), written.choice
        self.tokens.append(label)
        self.text_offset.append(self.length)
        self.length += len(written.text)
        if choice is None:
            self.token_logprobs.append(None)
            self.top_logprobs.append(None)
            return
        self.token_logprobs.append(in_nats(choice.probability))
        best: dict[str, float] = {}
        for candidate in choice.candidates[: self.top]:  # of two tokens with the same name, the likelier counts
            best.setdefault(self.tokenizer.label(candidate.id), in_nats(candidate.probabilities[0]))
        best.setdefault(label, in_nats(choice.probability))
        self.top_logprobs.append(best)

    def value(self) -> dict[str, Any]:
        return {
            "tokens": self.tokens,
            "token_logprobs": self.token_logprobs,
            "top_logprobs": self.top_logprobs if self.top else None,
            "text_offset": self.text_offset,
        }


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
