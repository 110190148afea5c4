"""Translates many sentences, and scores the translations.

BLEU (Papineni et al., 2002) and chrF (Popović, 2015) are computed by sacreBLEU (Post, 2018) with its defaults, so that
they can be compared with published ones; every reference of a sentence counts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sacrebleu.metrics.bleu import BLEU
from sacrebleu.metrics.chrf import CHRF
from tqdm import tqdm

from decoding.batch import generate_batch
from decoding.request import Request, RequestOptions
from decoding.settings import DecodingSettings
from model.loaded import LoadedModel

LONGEST_ANSWER = 100  # tokens; all sentences of Tatoeba are shorter
_BATCH_SIZE = 64  # sentences


@dataclass(frozen=True, slots=True)
class TranslationScores:
    """The scores of translations against all references, both in percent."""

    bleu: float
    chrf: float


def translate_all(
    loaded: LoadedModel, sentences: Sequence[str], settings: DecodingSettings, *, progress: bool = False
) -> list[str]:
    """Translate sentences; those of similar lengths share a batch, which does not change the result."""
    prompts = [loaded.prompt(sentence) for sentence in sentences]
    order = sorted(range(len(sentences)), key=lambda index: len(prompts[index]))
    translations = [""] * len(sentences)
    batch_size = _BATCH_SIZE if loaded.model.joinable else 1
    with tqdm(total=len(sentences), disable=not progress, unit="sentence", leave=False) as bar:
        for start in range(0, len(order), batch_size):
            batch = order[start : start + batch_size]
            answers = answer_all(loaded, [prompts[index] for index in batch], settings)
            for index, tokens in zip(batch, answers, strict=True):
                translations[index] = loaded.text_of(tokens)
            bar.update(len(batch))
    return translations


def answer_all(
    loaded: LoadedModel, prompts: Sequence[Sequence[int]], settings: DecodingSettings
) -> list[tuple[int, ...]]:
    """The tokens of each prompt's answer, decoded in one batch without recording the candidates."""
    requests = [Request.of(loaded, prompt, RequestOptions(explained=False)) for prompt in prompts]
    strategies = [settings.strategy_for(request) for request in requests]
    answers: list[tuple[int, ...]] = [()] * len(prompts)
    for steps in generate_batch(loaded.model, prompts, strategies):
        for index, step in enumerate(steps):
            if step is not None and step.finished:
                answers[index] = step.returned[0].tokens
    return answers


def score_translations(translations: Sequence[str], references: Sequence[Sequence[str]]) -> TranslationScores:
    """Score one translation per sentence against any number of references."""
    count = max(map(len, references))
    # A stream holds the n-th reference of every sentence; sacreBLEU skips the sentences that have fewer.
    streams: Any = [[texts[n] if n < len(texts) else None for texts in references] for n in range(count)]
    bleu, chrf = BLEU().corpus_score(translations, streams), CHRF().corpus_score(translations, streams)
    return TranslationScores(bleu.score, chrf.score)
