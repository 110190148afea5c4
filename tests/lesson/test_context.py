"""A word in its context: its similarities by layer, against a loop over all pairs, and a decoder's vector of it."""

from __future__ import annotations

from itertools import product
from statistics import fmean

import pytest
import torch
from torch.nn import functional

from lesson.context import similarities_by_layer, word_in_context
from model import catalog
from model.encoder import Encoder, cosines
from model.errors import AttendError
from model.loaded import LoadedModel
from tests.helpers.folders import bert

MEANINGS = (("The cat has an apple.", "an apple, a banana"), ("Apple and banana", "he is in apple", "the apple"))
SENTENCES = [(sentence, meaning) for meaning, sentences in enumerate(MEANINGS) for sentence in sentences]


@pytest.fixture(scope="module")
def encoder(tmp_path_factory: pytest.TempPathFactory) -> Encoder:
    return catalog.load_encoder(str(bert(tmp_path_factory.mktemp("encoder") / "bert")))


def test_averages_are_those_over_all_pairs(encoder: Encoder) -> None:
    layers = similarities_by_layer(encoder, "apple", MEANINGS)
    assert len(layers) == encoder.layer_count + 1
    readings = [encoder.read(sentence) for sentence, _ in SENTENCES]
    for layer, similarities in enumerate(layers):
        same, different, control = [], [], []
        for one, other in product(range(len(SENTENCES)), repeat=2):
            if one == other:
                continue
            vector = readings[one].vector("apple", layer)
            alike = functional.cosine_similarity(vector, readings[other].vector("apple", layer), dim=0).item()
            assert similarities.cosines[one, other].item() == pytest.approx(alike, abs=1e-5)
            (same if SENTENCES[one][1] == SENTENCES[other][1] else different).append(alike)
            own = readings[other].pieces_of("apple")
            for index, piece in enumerate(readings[other].pieces):
                if index not in own and piece.label not in ("[CLS]", "[SEP]", ",", "."):
                    hidden = readings[other].hidden[layer, index]
                    control.append(functional.cosine_similarity(vector, hidden, dim=0).item())
        assert len(same) == 2 + 6 and len(different) == 12
        averages = (similarities.same, similarities.different, similarities.control)
        assert averages == pytest.approx((fmean(same), fmean(different), fmean(control)), abs=1e-5)


def test_the_map_keeps_as_much_of_the_distances_as_it_says(encoder: Encoder) -> None:
    """Of points on a plane of principal components, the squared distances from the centre are the share of all."""
    last = similarities_by_layer(encoder, "apple", MEANINGS)[-1]
    vectors = torch.stack([encoder.read(sentence).vector("apple", 2) for sentence, _ in SENTENCES])
    rows = functional.normalize(vectors, dim=-1)
    spread = (rows - rows.mean(0)).square().sum().item()
    assert sum(last.shares) == pytest.approx(last.points.square().sum().item() / spread, abs=1e-4)
    assert last.shares[0] >= last.shares[1] > 0


def test_a_sentence_without_the_word_and_sentences_without_another_are_refused(encoder: Encoder) -> None:
    for meanings, words in (
        ((MEANINGS[0], ("the apple", "a banana")), '"apple" is not in "a banana"'),
        ((("apple", "Apple."), ("apple,", "apple")), 'no word but "apple": add others'),
    ):
        with pytest.raises(AttendError, match=words):
            similarities_by_layer(encoder, "apple", meanings)


def test_a_meaning_is_what_the_model_has_at_the_word(tiny: LoadedModel) -> None:
    """Text after the word changes nothing; text before it does."""
    one, longer = (
        word_in_context(tiny, text, "fox", 3) for text in ("The quick fox", "The quick fox jumps over the dog")
    )
    assert torch.allclose(one.vector, longer.vector, atol=1e-5) and one.following == longer.following
    other = word_in_context(tiny, "A brown and lazy fox", "fox", 3)
    assert cosines([one.vector, other.vector])[0, 1] < 0.99999
    logits = tiny.model.inspect(tiny.prompt("The quick fox")).logits[-1]
    best = logits.softmax(dim=-1).topk(3)
    assert [token for token, _ in one.following] == best.indices.tolist()
    assert [share for _, share in one.following] == pytest.approx(best.values.tolist(), rel=1e-4)
