"""A text that is read again for every token, without Ray: the same passes as with keys and values."""

from __future__ import annotations

import pytest

from model.errors import AttendError
from model.interface import Want
from model.loaded import LoadedModel
from serve.text_cache import TextCache, read_again
from tests.helpers.tiny import check_same_pass


def test_reading_the_text_again_gives_the_passes_of_the_model(tiny: LoadedModel) -> None:
    prompt, want = tiny.prompt("The quick brown"), Want(attention=True, hidden=True)
    forward, text = tiny.model.prefill(prompt), TextCache(prompt)
    for token in (5, 40, 7):
        forward = tiny.model.step([token], forward.cache.select([0]), want=want)
        again = read_again(tiny.model, [token], text.select([0]), want=want)
        check_same_pass(again, forward)
        text = again.cache
    assert text.tokens == (*prompt, 5, 40, 7)


def test_one_text_of_a_decoder_alone_can_be_read_again(tiny: LoadedModel, tiny_translator: LoadedModel) -> None:
    text = TextCache(tiny.prompt("The"))
    for refused in (lambda: text.select([0, 0]), lambda: text.join(text), lambda: text.select([])):
        with pytest.raises(AttendError, match="one text"):
            refused()
    for model, tokens in ((tiny.model, [5, 6]), (tiny_translator.model, [5])):
        with pytest.raises(AttendError, match="one text"):
            read_again(model, tokens, text)
