"""The map of a model: its parameters add up, and every part shows what the model's own pass computes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import torch
from torch import Tensor

from lesson.map.model_map import ModelMap
from lesson.map.tree import module_tree
from model import catalog, names
from model.device import DeviceConfig
from model.errors import AttendError
from model.transformer import checkpoint
from model.transformer.attention import attention_weights
from tests.helpers.paths import ROOT

CHAT, TRANSLATE = "attend-chat", "attend-translate"
pytestmark = pytest.mark.skipif(CHAT not in names.embedded(), reason="the embedded models are not there")


@pytest.fixture(scope="module")
def chat() -> ModelMap:
    return ModelMap(catalog.load(CHAT))


@pytest.fixture(scope="module")
def translate() -> ModelMap:
    return ModelMap(catalog.load(TRANSLATE))


def parts(model: ModelMap) -> set[str]:
    return {part for side in model.sides for part in side.parts}


@pytest.mark.parametrize("name", [CHAT, TRANSLATE])
def test_the_parameters_add_up_to_those_of_the_file(name: str) -> None:
    model_map = ModelMap(catalog.load(name))
    file = sum(checkpoint.weight_sizes(ROOT / "checkpoints" / name / checkpoint.WEIGHTS).values())
    assert sum(map(sum, model_map.counts.values())) == file
    assert set(model_map.counts) <= parts(model_map), "each is in the picture"


def test_each_count_is_that_of_the_paper_and_the_config(chat: ModelMap, translate: ModelMap) -> None:
    width, inner = 256, 704  # checkpoints/attend-chat/config.json
    expected = {
        "embedding": (4096 * width,),
        "attention_norm": (width,) * 6,
        "projections": (3 * width * width,) * 6,
        "output": (width * width,) * 6,
        "feed_forward_norm": (width,) * 6,
        "up": (2 * inner * width,) * 6,  # with the gate of SwiGLU
        "down": (inner * width,) * 6,
        "final_norm": (width,),
    }
    assert chat.counts == {f"decoder.{kind}": count for kind, count in expected.items()}
    assert translate.counts["decoder.cross_keys_values"] == (2 * width * width + 2 * width,) * 3
    assert translate.counts["encoder.up"] == (1024 * width + 1024,) * 5
    assert "decoder.embedding" not in translate.counts, "shared with the encoder, which reads first"


def test_the_counts_of_packed_weights_are_the_same(chat: ModelMap) -> None:
    packed = ModelMap(catalog.load(CHAT, device_config=DeviceConfig("cpu", "int8")))
    assert packed.counts == chat.counts
    text = packed.read("Hello.", "", 24)
    assert packed.values(text, 0).keys() == chat.values(text, 0).keys()


def shape_errors(model: ModelMap, values: dict[str, Any], sizes: dict[str, int]) -> Iterator[str]:
    """The parts whose arrays don't have their axes' sizes."""
    for part, arrays in values.items():
        for array in arrays:
            for axis, size in zip(array.axes, array.values.shape, strict=True):
                if sizes.get(axis, size) != size:
                    yield f"{part}: {axis} {size}"


@torch.inference_mode()
def test_all_parts_of_the_decoder_fit_together(chat: ModelMap) -> None:
    text = chat.read("My dog is called Max.", "", 24)
    layer = 3
    values = dict(chat.values(text, layer))
    assert parts(chat) - values.keys() == {"decoder.tokens"}
    assert list(shape_errors(chat, values, {"text": len(text.tokens), "heads": 8, "vocabulary": 4096})) == []

    def one(kind: str, index: int = 0) -> Tensor:
        return values[f"decoder.{kind}"][index].values

    queries, keys, sums = (one("projections", index)[None] for index in range(3))
    mask = torch.ones(len(text.tokens), len(text.tokens), dtype=torch.bool).tril()
    weights = attention_weights(queries, keys, mask)
    torch.testing.assert_close(one("weights"), weights[0])
    torch.testing.assert_close(one("mixed"), (weights @ sums)[0])
    matrices = dict(chat.network.named_parameters())
    joined = one("mixed").transpose(0, 1).flatten(1)  # (T, W)
    torch.testing.assert_close(one("output"), joined @ matrices[f"blocks.{layer}.attention.o_proj.weight"].T)
    before = chat.values(text, layer - 1)["decoder.feed_forward_add"][0].values
    torch.testing.assert_close(one("attention_add"), before + one("output"), atol=1e-4, rtol=1e-4)
    torch.testing.assert_close(one("feed_forward_add"), one("attention_add") + one("down"), atol=1e-4, rtol=1e-4)
    last = chat.values(text, 5)
    logits = last["decoder.final_norm"][0].values @ matrices["embedding.weight"].T
    torch.testing.assert_close(one("logits"), logits, atol=1e-3, rtol=1e-3)
    torch.testing.assert_close(one("probabilities").sum(dim=-1), torch.ones(len(text.tokens)))


@torch.inference_mode()
def test_both_sides_of_the_translator(translate: ModelMap) -> None:
    text = translate.read("Elle a perdu sa clé.", "She lost", 24)
    values = dict(translate.values(text, 4))  # of the encoder's last layer, and of the decoder's, which is its third
    sizes = {"text": len(text.tokens), "source": len(text.source), "heads": 8, "vocabulary": 6000}
    assert list(shape_errors(translate, values, sizes)) == []
    assert parts(translate) - values.keys() == {"encoder.tokens", "decoder.tokens"}
    queries = values["decoder.cross_queries"][0].values[None]
    keys, sums = (array.values[None] for array in values["decoder.cross_keys_values"])
    weights = attention_weights(queries, keys, None)
    torch.testing.assert_close(values["decoder.cross_weights"][0].values, weights[0])
    torch.testing.assert_close(values["decoder.cross_mixed"][0].values, (weights @ sums)[0])
    normed = values["decoder.feed_forward_norm"][0].values
    torch.testing.assert_close(
        normed @ dict(translate.network.named_parameters())["embedding.weight"].T,
        values["decoder.logits"][0].values,
        atol=1e-3,
        rtol=1e-3,
    )


def test_a_text_beyond_the_limit_is_refused(translate: ModelMap) -> None:
    with pytest.raises(AttendError, match=r"The translation has \d+ tokens, but at most 4"):
        translate.read("Oui.", "one two three four five", 4)


def test_the_tree_names_every_shape_once(translate: ModelMap) -> None:
    tree = module_tree(translate.network)
    assert tree.splitlines()[0] == "EncoderDecoder: 8,645,120 parameters"
    assert "    0–4: 5 × Block" in tree.splitlines()
    assert tree.count("weight (6,000, 256)") == 2
    assert "unembedding: Linear  weight (6,000, 256) shared" in tree
