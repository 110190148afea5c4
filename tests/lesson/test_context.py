"""A word in its context: its similarities, layer by layer, against a loop over all pairs."""

from __future__ import annotations

from itertools import product
from statistics import fmean

import pytest
import torch
from torch.nn import functional

from lesson.context import similarities_by_layer
from model import catalog
from model.encoder import Encoder
from model.errors import AttendError
from tests.helpers.folders import bert

MEANINGS = (("The cat has an apple.", "an apple, a banana"), ("Apple and banana", "he is in apple", "the apple"))
SENTENCES = [(sentence, meaning) for meaning, sentences in enumerate(MEANINGS) for sentence in sentences]


@pytest.fixture(scope="module")
def encoder(tmp_path_factory: pytest.TempPathFactory) -> Encoder:
    return catalog.load_encoder(str(bert(tmp_path_factory.mktemp("encoder") / "bert")))


def test_averages_are_those_over_all_pairs(encoder: Encoder) -> None:
    found = similarities_by_layer(encoder, "apple", MEANINGS)
    assert len(found) == encoder.layer_count + 1
    readings = [encoder.read(sentence) for sentence, _ in SENTENCES]
    for layer, similarities in enumerate(found):
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


def test_a_sentence_without_the_word_is_refused(encoder: Encoder) -> None:
    with pytest.raises(AttendError, match='"apple" is not in "a banana"'):
        similarities_by_layer(encoder, "apple", (MEANINGS[0], ("the apple", "a banana")))
