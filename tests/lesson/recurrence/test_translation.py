"""Sentences translated with their alignment, and the recurrent translators that come with Attend."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from decoding.settings import DecodingSettings
from lesson.recurrence.translation import WITH_ATTENTION, WITHOUT_ATTENTION, recurrent_translator, translate
from model.loaded import LoadedModel
from training.translate import answer_all

MAX = 12
GREEDY = DecodingSettings(strategy="greedy", max_new_tokens=MAX)


def test_a_translation_is_greedy_and_aligned_token_by_token(tiny_translator: LoadedModel) -> None:
    found = translate(tiny_translator, "Le chat est noir.", MAX)
    assert found.source == tiny_translator.prompt("Le chat est noir.")
    assert found.tokens == answer_all(tiny_translator, [found.source], GREEDY)[0]
    assert found.text == tiny_translator.text_of(found.tokens)
    assert found.complete == (found.tokens[-1] in tiny_translator.end_tokens)
    assert found.alignment is not None and found.alignment.shape == (len(found.tokens), len(found.source))
    assert (found.alignment.sum(dim=-1) - 1).abs().max() < 1e-5


@pytest.mark.parametrize("name", [WITHOUT_ATTENTION, WITH_ATTENTION])
def test_the_embedded_ones_translate(name: str) -> None:
    found = translate(recurrent_translator(name), "Où est la gare ?", MAX)
    assert found.complete and found.text
    assert (found.alignment is None) == (name == WITHOUT_ATTENTION)


def test_one_load_serves_all() -> None:
    with ThreadPoolExecutor(4) as pool:
        loaded = list(pool.map(recurrent_translator, [WITH_ATTENTION] * 4))
    assert all(one is loaded[0] for one in loaded)
