"""Attention in real sentences: what a word attends to."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch

from lesson.sentences import HeadTargets, WordAttention, attention_of_word, head_targets, token_share, token_span
from model import catalog, names
from model.errors import AttendError
from model.loaded import LoadedModel

EMBEDDED = pytest.mark.skipif("attend-chat" not in names.embedded(), reason="the embedded models are not there")


def test_the_tokens_of_a_word_spell_it_and_what_is_no_word_is_refused(tiny: LoadedModel) -> None:
    tokens = tiny.prompt("The quick brown fox jumps over it.")
    for word in ("quick", "fox", "it", "THE"):
        span = token_span(tiny, tokens, word)
        spelt = tiny.text_of(tokens[span.start : span.stop])
        assert spelt.strip(" .").lower() == word.lower()
    for word in ("uic", "cat", "", " ", "(", "fox jumps over it. and"):
        with pytest.raises(AttendError, match="is not a word of"):
            token_span(tiny, tiny.prompt("The quick brown fox"), word)


def test_a_decoders_word_looks_back_and_an_encoders_both_ways(tiny: LoadedModel, tiny_translator: LoadedModel) -> None:
    word = attention_of_word(tiny, "The quick brown fox jumps", "brown", 96)
    attention = tiny.model.inspect(word.tokens).attention.decoder[0, :, :, list(word.word)].mean(dim=2)
    assert torch.equal(word.weights, attention.float())
    assert word.weights[:, :, word.word.stop :].abs().max() == 0
    assert (word.weights.sum(dim=-1) - 1).abs().max() < 1e-5
    read = attention_of_word(tiny_translator, "the cat sat", "the", 96)
    assert (read.weights.sum(dim=-1) - 1).abs().max() < 1e-5
    assert read.weights[:, :, read.word.stop :].sum() > 0


def test_heads_are_counted_by_what_gets_most_of_their_attention() -> None:
    """Two layers of two heads on five tokens, the word at 2 and 3: one looks at itself, two at the first token (one of
    them as much at the last), one at the token before the word."""
    weights = [[0.1, 0.2, 0.1, 0.5, 0.1], [0.4, 0.1, 0.1, 0.0, 0.4], [0.3, 0.4, 0.1, 0.1, 0.1], [0.9, 0.1, 0, 0, 0]]
    word = WordAttention((5, 6, 7, 8, 9), range(2, 4), torch.tensor(weights).unflatten(0, (2, 2)))  # (2, 2, 5)
    assert head_targets(word) == HeadTargets(itself=1, first=2, previous=1, elsewhere=0)
    later = replace(word, weights=torch.eye(5)[[4, 4, 3, 1]].unflatten(0, (2, 2)))  # (2, 2, 5)
    assert head_targets(later) == HeadTargets(itself=1, first=0, previous=1, elsewhere=2)


def test_a_long_text_is_refused_before_its_maps_are_computed(
    tiny: LoadedModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = "The quick brown fox jumps"
    count = len(tiny.prompt(text))
    attention_of_word(tiny, text, "fox", count)
    monkeypatch.setattr(type(tiny.model), "inspect", lambda *_: pytest.fail("a map was computed"))
    with pytest.raises(AttendError, match=f"has {count} tokens, but at most {count - 1}"):
        attention_of_word(tiny, text, "fox", count - 1)


def test_a_tokens_share_stands_beside_chance() -> None:
    """Two heads of a decoder whose word is third: they can see three tokens, and one favours the first."""
    weights = torch.tensor([[0.6, 0.1, 0.3, 0.0], [0.2, 0.5, 0.3, 0.0]]).unflatten(0, (2, 1))  # (2, 1, 4)
    share = token_share(WordAttention((5, 6, 7, 8), range(2, 3), weights), 0)
    assert (share.favourites, share.best, share.visible) == (1, (1, 1), 3)
    assert (share.mean, share.best_share, share.even) == pytest.approx((0.4, 0.6, 1 / 3))


@EMBEDDED
def test_fewer_heads_find_the_animal_than_would_by_chance() -> None:
    """As the chapter's exercises say; head by head, with the eleven tokens up to "it" in view."""
    loaded, sentence = catalog.load("attend-chat"), "The animal did not cross the street because it was too tired."
    share = token_share(attention_of_word(loaded, sentence, "it", 96), 2)
    attention = loaded.model.inspect(loaded.prompt(sentence)).attention
    assert attention is not None
    rows = {(layer + 1, head + 1): attention.decoder[0, layer, head, 10] for layer in range(6) for head in range(8)}
    assert share.best == max(rows, key=lambda place: float(rows[place][2]))
    assert share.mean == pytest.approx(sum(float(row[2]) for row in rows.values()) / 48, abs=1e-6)
    assert share.favourites == sum(int(row.argmax()) == 2 for row in rows.values()) < 48 / 11
    assert (share.visible, share.even) == (11, 1 / 11)
