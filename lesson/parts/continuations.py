"""Which of several continuations fits a text: the next sentence, or a class, by the probability of its tokens."""

from __future__ import annotations

from collections.abc import Sequence

import torch

from lesson.generation.probability import TextProbability, text_probability
from model.loaded import LoadedModel


def judge(loaded: LoadedModel, text: str, continuations: Sequence[str]) -> list[TextProbability]:
    """How probable a decoder-only model finds each continuation after the text and a space."""
    prompt = loaded.prompt(text)
    return [_judged(loaded, prompt, loaded.tokenizer.encode(f" {one.strip()}")) for one in continuations]


def _judged(loaded: LoadedModel, prompt: Sequence[int], tokens: Sequence[int]) -> TextProbability:
    with loaded.lock:
        logits = loaded.model.logits(prompt, tokens)  # (T, V)
    shares = logits.cpu().double().softmax(dim=-1)[torch.arange(len(tokens)), list(tokens)]  # (T,)
    return text_probability(shares.tolist())
