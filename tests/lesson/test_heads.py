"""Several heads: their shapes against Keras' documentation and PyTorch's own module, and the maps of our models."""

from __future__ import annotations

import pytest
import torch

from lesson.heads import head_maps, previous_shares, shapes, three_maps
from model.errors import AttendError
from model.loaded import LoadedModel


@pytest.mark.parametrize(("width", "heads"), [(16, 4), (512, 8), (6, 1)])
def test_the_count_is_that_of_pytorch(width: int, heads: int) -> None:
    module = torch.nn.MultiheadAttention(width, heads)
    attention = shapes(batch=1, time=3, width=width, heads=heads, head_width=width // heads)
    assert attention.parameters == sum(parameter.numel() for parameter in module.parameters())
    module.batch_first = True
    _, weights = module(*[torch.zeros(1, 3, width)] * 3, average_attn_weights=False)
    assert next(array.shape for array in attention.computed if array.name.startswith("Scores")) == tuple(weights.shape)


def test_a_head_that_looks_ahead_is_there_in_the_encoder_alone(tiny: LoadedModel, tiny_translator: LoadedModel) -> None:
    assert head_maps(tiny, "The quick brown fox", 16)[1].triu(1).abs().max() == 0
    source, text, maps = three_maps(tiny_translator, "the cat sat", "the cat", 32)
    assert text[: len(tiny_translator.model.decoder_start)] == tuple(tiny_translator.model.decoder_start)
    assert maps.encoder is not None and maps.cross is not None
    assert maps.decoder.triu(1).abs().max() == 0 < maps.encoder.triu(1).abs().max()
    for weights, shape in (
        (maps.encoder, (len(source), len(source))),
        (maps.decoder, (len(text), len(text))),
        (maps.cross, (len(text), len(source))),
    ):
        assert weights.shape[3:] == shape and (weights.sum(-1) - 1).abs().max() < 1e-5


def test_a_long_text_is_refused(tiny: LoadedModel, tiny_translator: LoadedModel) -> None:
    with pytest.raises(AttendError, match=r"The sentence has .* at most 3 can be shown: shorten it"):
        head_maps(tiny, "The quick brown fox jumps", 3)
    with pytest.raises(AttendError, match="The translation has"):
        three_maps(tiny_translator, "a", "the cat sat on the mat " * 5, 16)


def test_what_a_head_gives_to_the_token_before() -> None:
    """Rows (1), (.4, .6), (.2, .5, .3): .4 and .5 stand left of the diagonal."""
    weights = torch.tensor([[1.0, 0, 0], [0.4, 0.6, 0], [0.2, 0.5, 0.3]])[None, None]  # (1, 1, 3, 3)
    assert previous_shares(weights).tolist() == [[pytest.approx(0.45)]]
