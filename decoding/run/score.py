"""How probable a whole text is to a model: the surprise of each token, and sums over the text.

The numbers follow their usual definitions: surprise is -log2 of a token's probability; perplexity is e to the mean
-ln p; bits per byte are the sum of all surprises over the bytes of the scored text in UTF-8, by which models with
different tokens can be compared.
"""

from __future__ import annotations

import math
from collections.abc import Generator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, Protocol, TypedDict

from decoding.request import ModelWithTokenizer, TokenLabels
from decoding.run.scoring import Slot, score
from decoding.run.token_texts import Detokenizer
from decoding.run.writer import exact
from decoding.step import Choice
from model.errors import AttendError


class _Tokenizer(TokenLabels, Protocol):
    def encode(self, text: str, /, *, begins: bool = False) -> Sequence[int]: ...
    def detokenizer(self, *, begins: bool) -> Detokenizer: ...


class Scorable(ModelWithTokenizer, Protocol):
    """What a score takes from a loaded model; `model.loaded.LoadedModel` is one."""

    @property
    def name(self) -> str: ...
    @property
    def tokenizer(self) -> _Tokenizer: ...
    @property
    def prefix_tokens(self) -> tuple[int, ...]: ...
    @property
    def starts_new_text(self) -> bool: ...
    @property
    def lock(self) -> AbstractContextManager[Any]: ...
    @property
    def scoring(self) -> Slot: ...
    def prompt(self, text: str, /) -> tuple[int, ...]: ...


class ScoredToken(TypedDict):
    """A token of the text, in plain values."""

    id: int
    text: str
    log_probability: float  # nats
    surprise: float  # bits
    rank: int  # from 1
    entropy: float  # bits, of the distribution that it comes from


class ScoreDocument(TypedDict):
    """A scored text in plain values, as `/score` and `generate.py --score --json` give it."""

    model: str
    text: str
    tokens: list[ScoredToken]
    log_probability: float  # nats, of all tokens
    perplexity: float
    bits_per_byte: float


@dataclass(frozen=True, slots=True)
class TextScore:
    """The scored tokens of a text; the very first is missing if the model predicts none without a token before it."""

    model: str
    texts: tuple[str, ...]  # what each token adds
    choices: tuple[Choice, ...]

    @property
    def log_probability(self) -> float:
        """The log-probability of all scored tokens together, in nats."""
        return math.fsum(_log(choice) for choice in self.choices)

    @property
    def perplexity(self) -> float:
        return math.exp(min(-self.log_probability / len(self.choices), 700.0))  # beyond it a float overflows

    @property
    def bits_per_byte(self) -> float:
        written = len("".join(self.texts).encode(errors="replace"))
        return -self.log_probability / math.log(2) / max(1, written)

    def document(self) -> ScoreDocument:
        tokens: list[ScoredToken] = [
            {
                "id": choice.token,
                "text": text,
                "log_probability": exact(_log(choice)),
                "surprise": exact(-_log(choice) / math.log(2)),
                "rank": choice.rank,
                "entropy": exact(choice.entropy),
            }
            for text, choice in zip(self.texts, self.choices, strict=True)
        ]
        return {
            "model": self.model,
            "text": "".join(self.texts),
            "tokens": tokens,
            "log_probability": self.log_probability,
            "perplexity": self.perplexity,
            "bits_per_byte": self.bits_per_byte,
        }


def score_text(loaded: Scorable, text: str, *, prompt: str = "", top_candidates: int = 1, stride: int = 0) -> TextScore:
    """Score a text, to the end; see `score_windows`."""
    *_, whole = score_windows(loaded, text, prompt=prompt, top_candidates=top_candidates, stride=stride)
    return whole


def score_windows(
    loaded: Scorable, text: str, *, prompt: str = "", top_candidates: int = 1, stride: int = 0
) -> Generator[TextScore, None, None]:
    """Score a text; yields what is scored so far, after each piece and while it waits. Close it to stop.

    Args:
        prompt: text before it that is not scored. For a translator: the source, of which the text is a translation.
        top_candidates: how many candidates to record for each token.
        stride: how many tokens each window of a text longer than the context scores; 0 is half of the context.

    Raises:
        AttendError: for a text with nothing to score, and for a translator without a source.
    """
    tokenizer, translates = loaded.tokenizer, bool(loaded.model.decoder_start)
    if translates and not prompt.strip():
        raise AttendError(f"{loaded.name} is a translator: give the source text as prompt.")
    begins = not prompt or loaded.starts_new_text
    before, ids = loaded.prompt(prompt) if prompt else loaded.prefix_tokens, tokenizer.encode(text, begins=begins)
    first = 0 if before else 1
    if len(ids) <= first:
        raise AttendError(f"There is nothing to score in {text[:40]!r}: give a longer text.")
    detokenizer = tokenizer.detokenizer(begins=begins)
    texts = [detokenizer.push(token) for token in ids]
    texts[-1] += detokenizer.finish()
    whole = [*ids] if translates else [*before, *ids]
    choices: tuple[Choice, ...] = ()
    for window in score(
        loaded.model,
        whole,
        scored=len(whole) - len(ids) + first,
        top_candidates=top_candidates,
        prefix=len(loaded.prefix_tokens),
        stride=stride,
        source=before if translates else (),
        lock=loaded.lock,
        slot=loaded.scoring,
    ):
        choices += tuple(window)
        yield TextScore(loaded.name, tuple(texts[first : first + len(choices)]), choices)


def _log(choice: Choice) -> float:
    """A token's log-probability in nats; one too small for a number counts as the smallest."""
    return math.log(max(choice.probability, _SMALLEST))


_SMALLEST = 5e-324
