"""Our encoder with a decoder in the Marian layout, held against transformers itself: ids, logits and beams."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from transformers import MarianMTModel, MarianTokenizer

from decoding.settings import DecodingSettings
from model import catalog, export
from model.errors import AttendError
from model.huggingface.export.marian import marian_config
from model.loaded import LoadedModel
from model.text.sentencepiece_tokenizer import Tokenizer
from model.transformer import checkpoint
from tests.model.transformer.test_encoder_decoder import PAPER, random_translator
from training.translation.translate import translate_all
from training.vocabulary import train_pairs_vocabulary

PIECES = 380
FRENCH = (
    "Je suis étudiant. Où est la gare ? Il n'a pas mangé depuis hier. Elle aime beaucoup les pommes, pas les poires."
)
ENGLISH = (
    "I am a student. Where is the station? He has not eaten since yesterday. She likes apples a lot, but not pears."
)
SENTENCES = ["Je suis étudiant.", "Où est\u202fla gare\u00a0?", "Elle n’aime pas les poires…", "zut <pad> </s> ▁ 🍐"]


@pytest.fixture(scope="module")
def ours(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A checkpoint folder with random weights far from their initial values."""
    folder = tmp_path_factory.mktemp("ours")
    (folder / checkpoint.TOKENIZER).write_bytes(train_pairs_vocabulary([FRENCH, ENGLISH] * 50, PIECES))
    model = random_translator(replace(PAPER, vocabulary_size=PIECES + 1, context_length=64, encoder_layers=2, layers=3))
    with torch.no_grad():
        for parameter in model.parameters():
            parameter += 0.2 * torch.randn_like(parameter)
        model.embedding.weight[model.padding] = 0.0
    checkpoint.save(model, folder, dtype=torch.float32)
    return folder


@pytest.fixture(scope="module")
def exported(ours: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("marian")
    export.main([str(ours), str(folder)])
    return folder


@pytest.fixture(scope="module")
def reference(exported: Path) -> Any:
    return MarianMTModel.from_pretrained(exported).eval()


@pytest.mark.filterwarnings("ignore:Recommended. pip install sacremoses")
def test_their_tokenizer_gives_our_ids_and_texts(ours: Path, exported: Path) -> None:
    tokenizer: Any = MarianTokenizer.from_pretrained(exported)
    loaded = catalog.load(str(ours))
    for sentence in SENTENCES[:3]:
        ids = loaded.prompt(sentence)
        assert list(ids) == tokenizer(sentence).input_ids
        assert tokenizer.decode(ids, skip_special_tokens=True) == loaded.tokenizer.decode(ids, begins=True)


@pytest.mark.parametrize("sentence", SENTENCES)
def test_the_logits_are_ours(ours: Path, reference: Any, sentence: str) -> None:
    loaded = catalog.load(str(ours))
    source, text = loaded.prompt(sentence), [5, 9, 100, 3, 7]
    expected = reference(
        input_ids=torch.tensor([source]), decoder_input_ids=torch.tensor([[PIECES, *text[:-1]]])
    ).logits[0]
    torch.testing.assert_close(loaded.model.logits(source, text), expected, atol=1e-4, rtol=0)


@pytest.mark.parametrize("beams", [1, 4])
def test_the_beams_are_ours(ours: Path, reference: Any, beams: int) -> None:
    loaded = catalog.load(str(ours))
    settings = DecodingSettings(strategy="beam" if beams > 1 else "greedy", num_beams=beams, max_new_tokens=20)
    translations = translate_all(loaded, SENTENCES, settings)
    for sentence, text in zip(SENTENCES, translations, strict=True):
        source = torch.tensor([loaded.prompt(sentence)])
        expected = reference.generate(source, num_beams=beams, max_new_tokens=20, max_length=None)[0].tolist()
        assert loaded.tokenizer.decode(expected, begins=True) == text


def test_what_was_exported_runs_here_through_the_adapter(ours: Path, exported: Path) -> None:
    settings = DecodingSettings(strategy="beam", num_beams=3, max_new_tokens=20)
    native, adapted = (translate_all(catalog.load(str(folder)), SENTENCES, settings) for folder in (ours, exported))
    assert native == adapted


def test_other_variants_and_a_tokenizer_of_another_model_are_refused_in_one_sentence(ours: Path) -> None:
    refused: list[tuple[dict[str, Any], str]] = [
        ({"positions": "rotary"}, "its positions is 'rotary', but a Marian's is 'sinusoidal'"),
        ({"norm_place": "before"}, "its norm_place is 'before', but a Marian's is 'after'"),
        ({"key_value_heads": 2}, "its key_value_heads is 2, but a Marian's is 4"),
        ({"activation": "swiglu"}, "its activation is swiglu"),
    ]
    for changes, words in refused:
        with pytest.raises(AttendError, match=words):
            marian_config(replace(PAPER, **changes))
    tokenizer = Tokenizer.load(ours / checkpoint.TOKENIZER)  # without padding, as that of a decoder
    with pytest.raises(AttendError, match="they belong to different checkpoints"):
        LoadedModel.from_transformer("mixed", random_translator(PAPER), tokenizer)


def test_nothing_typed_becomes_a_control_token(ours: Path) -> None:
    loaded: LoadedModel = catalog.load(str(ours))
    ids = loaded.tokenizer.encode("<pad> </s> <end> <unk> <s>", begins=True)
    assert not any(map(loaded.tokenizer.is_special, ids))
    assert loaded.tokenizer.decode(ids, begins=True) == "<pad> </s> <end> <unk> <s>"
