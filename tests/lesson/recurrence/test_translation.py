"""Sentences translated with their alignment, and the recurrent translators that come with Attend."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from decoding.settings import DecodingSettings
from lesson.recurrence.translation import WITH_ATTENTION, WITHOUT_ATTENTION, recurrent_translator, translate
from model.loaded import LoadedModel
from training.translation.translate import answer_all

MAX = 12
GREEDY = DecodingSettings(strategy="greedy", max_new_tokens=MAX)


def test_a_translation_is_greedy_and_aligned_token_by_token(tiny_translator: LoadedModel) -> None:
    translation = translate(tiny_translator, "Le chat est noir.", MAX)
    assert translation.source == tiny_translator.prompt("Le chat est noir.")
    assert translation.tokens == answer_all(tiny_translator, [translation.source], GREEDY)[0]
    assert translation.text == tiny_translator.text_of(translation.tokens)
    assert translation.complete == (translation.tokens[-1] in tiny_translator.end_tokens)
    assert translation.alignment is not None
    assert translation.alignment.shape == (len(translation.tokens), len(translation.source))
    assert (translation.alignment.sum(dim=-1) - 1).abs().max() < 1e-5


@pytest.mark.parametrize("name", [WITHOUT_ATTENTION, WITH_ATTENTION])
def test_the_embedded_ones_translate_and_one_load_serves_all(name: str) -> None:
    translation = translate(recurrent_translator(name), "Où est la gare ?", MAX)
    assert translation.complete and translation.text
    assert (translation.alignment is None) == (name == WITHOUT_ATTENTION)
    with ThreadPoolExecutor(4) as pool:
        loaded = set(map(id, pool.map(recurrent_translator, [name] * 4)))
    assert len(loaded) == 1
