"""How far back a reader's last vector reaches: exact derivatives, and what recurrent readers lose with distance."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from itertools import pairwise
from typing import Any

import pytest
import torch
from torch import nn

from lesson.recurrence.reach import (
    Reader,
    changes,
    gradient_by_distance,
    gradient_norms,
    input_vectors,
    read,
    time_reading,
    untrained,
)
from lesson.recurrence.translation import VOCABULARY_OF, WITH_ATTENTION, WITHOUT_ATTENTION, recurrent_translator
from model import catalog, names
from model.errors import AttendError
from model.loaded import LoadedModel
from model.recurrent.network import Recurrent, RecurrentConfig
from model.transformer.encoder_decoder import EncoderDecoder
from model.transformer.layers import Block

SENTENCE = "Tom a dit à Marie qu’il ne pouvait pas venir à la fête parce qu’il devait travailler toute la journée."
BETWEEN = "que ma sœur a trouvé hier dans la rue derrière la maison de nos parents"
pytestmark = pytest.mark.skipif(VOCABULARY_OF not in names.embedded(), reason=f"{VOCABULARY_OF} is not there")


@cache
def translator(name: str) -> LoadedModel:
    return catalog.load(name) if name == VOCABULARY_OF else recurrent_translator(name)


def reader(name: str) -> Reader:
    model = translator(name).model
    assert isinstance(model, Recurrent | EncoderDecoder)
    return model


def tokens(sentence: str) -> Sequence[int]:
    return translator(VOCABULARY_OF).prompt(sentence)


@pytest.mark.parametrize("name", [WITHOUT_ATTENTION, VOCABULARY_OF])
def test_gradients_are_those_of_the_whole_matrix_of_derivatives(name: str) -> None:
    """With an identity matrix as probes; the random ones (seed 0) come within a third of it."""
    model, ids = reader(name), tokens("Où est la gare ?")
    inputs = input_vectors(model, ids)
    matrix = torch.autograd.functional.jacobian(lambda rows: read(model, rows[None])[0, -1], inputs)  # (W, T, W)
    assert isinstance(matrix, torch.Tensor)
    exact = matrix.square().sum(dim=(0, 2)).sqrt()
    torch.testing.assert_close(gradient_norms(model, inputs, torch.eye(inputs.shape[1])), exact, rtol=1e-3, atol=1e-5)
    assert ((gradient_by_distance(model, ids).flip(0) / exact).log().abs() < 0.3).all()


def test_what_is_read_is_what_the_model_reads() -> None:
    """The transformer's keys and values of its source, and the state that a GRU's decoder begins with."""
    ids = tokens(SENTENCE)
    transformer = reader(VOCABULARY_OF)
    assert isinstance(transformer, EncoderDecoder)
    cached = transformer.prefill(ids).cache.source
    encoded = read(transformer, input_vectors(transformer, ids)[None])
    block = transformer.blocks[0]
    assert cached is not None and isinstance(block, Block) and block.cross is not None
    expected = block.cross.project_keys_values(encoded)  # (2, G, 1, T, D)
    for actual, part in zip(cached.keys_values(0), expected, strict=True):
        torch.testing.assert_close(actual, part, rtol=1e-3, atol=1e-3)
    gru = reader(WITHOUT_ATTENTION)
    assert isinstance(gru, Recurrent)
    states = gru.prefill(ids).cache.source.states  # (1, T, 2W)
    torch.testing.assert_close(read(gru, input_vectors(gru, ids)[None]), states[..., : gru.config.width])


def test_the_statements_about_gradients_are_true() -> None:
    """Before training the gradient falls by about the same factor at every token; afterwards, least in attention."""
    gru = reader(WITHOUT_ATTENTION)
    assert isinstance(gru, Recurrent)
    ids = tokens(SENTENCE)
    fresh = gradient_by_distance(untrained(gru.config, seed=0), ids)
    factors = [float(later / earlier) for earlier, later in pairwise(fresh)]
    assert all(0.3 < factor < 0.9 for factor in factors)
    kept = {}
    for name in (WITHOUT_ATTENTION, WITH_ATTENTION, VOCABULARY_OF):
        norms = gradient_by_distance(reader(name), ids)
        kept[name] = float(norms[-1] / norms.max())
    assert fresh[-1] / fresh[0] < 1e-4 < kept[WITH_ATTENTION] < kept[WITHOUT_ATTENTION] < kept[VOCABULARY_OF]


def test_random_numbers_drawn_elsewhere_change_no_weight(monkeypatch: pytest.MonkeyPatch) -> None:
    """As another thread draws some while the network is made."""
    config = RecurrentConfig(vocabulary_size=9, width=4, attention=False)
    alone = untrained(config, seed=0).state_dict()
    make_linear = nn.Linear
    monkeypatch.setattr(nn, "Linear", lambda *args, **options: (torch.rand(3), make_linear(*args, **options))[1])
    torch.testing.assert_close(untrained(config, seed=0).state_dict(), alone, rtol=0, atol=0)


def test_who_loses_it() -> None:
    """With 14 words between, "il" has lost most of its animal in both GRUs; the transformer still has a third of it."""

    def change(name: str, words: int) -> float:
        one, other = (
            tokens(" ".join(["Le", noun, *BETWEEN.split()[:words], "dort parce qu’il"]))[:-1]
            for noun in ("chat", "chien")
        )
        return changes(reader(name), one, other)

    kept = {name: change(name, 14) / change(name, 0) for name in (WITHOUT_ATTENTION, WITH_ATTENTION, VOCABULARY_OF)}
    assert kept[WITH_ATTENTION] < 0.02 < kept[WITHOUT_ATTENTION] < 0.2 < 0.3 < kept[VOCABULARY_OF]
    late, early = change(VOCABULARY_OF, 14), change(VOCABULARY_OF, 9)
    assert late > early * 0.9
    with pytest.raises(AttendError, match="choose another word"):  # texts of different lengths
        changes(reader(WITHOUT_ATTENTION), [1, 2, 3], [1, 2])


def test_texts_of_the_lengths_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    lengths, loaded, prefill = list[int](), translator(WITHOUT_ATTENTION), Recurrent.prefill

    def noted(model: Recurrent, prompt: Sequence[int], **options: Any) -> Any:
        lengths.append(len(prompt))
        return prefill(model, prompt, **options)

    monkeypatch.setattr(Recurrent, "prefill", noted)
    assert len(time_reading(loaded, (4, 8), tries=1)) == 2 and list(dict.fromkeys(lengths)) == [4, 8]
