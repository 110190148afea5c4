"""What the tokenizer files of a folder say counts, whatever class its configs name."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from sentencepiece import SentencePieceProcessor, SentencePieceTrainer
from sentencepiece.sentencepiece_model_pb2 import ModelProto  # pyright: ignore[reportAttributeAccessIssue]
from tokenizers import Tokenizer
from transformers import AutoTokenizer, NllbTokenizer, PreTrainedTokenizerFast
from transformers.models.auto.tokenization_auto import TOKENIZER_MAPPING_NAMES

from model.errors import AttendError
from model.huggingface.tokenizer import HuggingFaceTokenizer
from model.huggingface.tokenizers.folder import load_tokenizer, read_backend
from tests.helpers.folders import SPOKEN, byte_level, change_json, merged, sentence_piece

FILES: dict[str, Callable[[], PreTrainedTokenizerFast]] = {"byte-level": byte_level, "sentence-piece": sentence_piece}
CLASSES = sorted({name for name in TOKENIZER_MAPPING_NAMES.values() if name})

# Texts that tokenizers cut differently where their rules differ a little.
HARD_TEXTS = (
    "",
    " ",
    "   ",
    "x",
    " the",
    "  the",
    "the ",
    "the   cat  sat",
    "the\ncat",
    "the\r\ncat\r\n",
    "\n",
    "\n\n\n the",
    "\tthe\t\tcat",
    " \n \t the",
    "12 345 6789 1,234.5 x2y",
    "it's we'll I'VE 'tis don''t",
    "THE Cat SaT",
    "(the) [cat], {sat}... !? <a|b> _c_ `d` ~e^f",
    "<s> </s> <unk> <|endoftext|> <0x41>",
    "Ünïcödé naïve",
    "e\u0301 n\u0303 \u1e69 s\u0323\u0307",  # combining marks
    "\ufb01 \uff21\uff22 \u00bd \u2460",  # which NFKC would change
    "日本語 中文 한국어 кошка γάτα قطة חתול बिल्ली แมว",
    "🙂 👩\u200d👩\u200d👧 🇫🇷 ❤\ufe0f",
    "a\u00a0b\u2009c\u3000d\u200be",  # other spaces
    "\x01\x7f\u0085",
    "\ufffd\U0010ffff",
    "a" * 300,
    " " * 300 + "z",
    "ab" * 200,
    "\n" * 100,
    "9" * 120,
)


def written(folder: Path, kind: str, family: str, **settings: object) -> Tokenizer:
    """A folder with a tokenizer and nothing else, and that file as the `tokenizers` library reads it."""
    FILES[kind]().save_pretrained(folder)
    change_json(folder / "tokenizer_config.json", **settings)
    (folder / "config.json").write_text(json.dumps({"model_type": family}))
    return Tokenizer.from_file(str(folder / "tokenizer.json"))


@pytest.mark.parametrize("kind", FILES)
def test_no_class_cuts_otherwise_than_the_file(kind: str, tmp_path: Path) -> None:
    """`AutoTokenizer` takes other ids from 9 of these classes, and can't read the file under most others."""
    reference = written(tmp_path, kind, "llama")
    expected = [reference.encode(text).ids for text in HARD_TEXTS]
    for name in CLASSES:
        change_json(tmp_path / "tokenizer_config.json", tokenizer_class=name)
        backend = read_backend(tmp_path)
        assert [backend.encode(text).ids for text in HARD_TEXTS] == expected, name


@pytest.mark.parametrize(
    ("kind", "family", "name"),
    [
        ("sentence-piece", "llama", "GPT2Tokenizer"),
        ("sentence-piece", "llama", "Qwen2Tokenizer"),
        ("sentence-piece", "llama", "LlamaTokenizer"),
        ("byte-level", "llama", "T5Tokenizer"),
        ("sentence-piece", "qwen2", "PreTrainedTokenizerFast"),
        ("byte-level", "gpt2", "RobertaTokenizer"),
    ],
)
def test_prompts_are_the_files(kind: str, family: str, name: str, tmp_path: Path) -> None:
    reference = written(tmp_path, kind, family, tokenizer_class=name, add_eos_token=True)
    reference.encode_special_tokens = True
    tokenizer = load_tokenizer(tmp_path, reference.get_vocab_size())
    for text in HARD_TEXTS:
        ids = tokenizer.encode(text, begins=True)
        assert [*tokenizer.prefix_tokens, *ids, *tokenizer.suffix_tokens] == reference.encode(text).ids
        assert tokenizer.decode(ids, begins=True) == text
    assert tokenizer.notes == ()


def test_a_class_still_names_the_tokens_that_no_file_names(tmp_path: Path) -> None:
    written(tmp_path, "byte-level", "gpt2")
    config = tmp_path / "tokenizer_config.json"
    for settings in ({}, {"tokenizer_class": "GPT2Tokenizer"}):
        config.write_text(json.dumps(settings))
        tokenizer = load_tokenizer(tmp_path, 400)
        assert tokenizer.hf_tokenizer.eos_token == AutoTokenizer.from_pretrained(tmp_path).eos_token == "<|endoftext|>"


def test_a_file_from_before_nllb_was_mended_is_framed_as_transformers_frames_it(tmp_path: Path) -> None:
    """Published tokenizer.json files of NLLB put the source's language behind the text; transformers puts it first."""
    pieces, merges = merged([text.replace(" ", " \u2581") for text in SPOKEN], ["\u2581"])
    ids = {name: index for index, name in enumerate(["<s>", "<pad>", "</s>", "<unk>", *pieces])}
    options = {"vocab": ids, "merges": merges, "extra_special_tokens": ["eng_Latn", "fra_Latn"], "src_lang": "fra_Latn"}
    NllbTokenizer(**options, legacy_behaviour=True).save_pretrained(tmp_path)
    change_json(tmp_path / "tokenizer_config.json", legacy_behaviour=False)
    expected = AutoTokenizer.from_pretrained(tmp_path)("the cat").input_ids
    tokenizer = load_tokenizer(tmp_path, len(ids) + 3)
    assert [tokenizer.label(token) for token in tokenizer.prefix_tokens] == ["fra_Latn"]
    assert [*tokenizer.prefix_tokens, *tokenizer.encode("the cat", begins=True), *tokenizer.suffix_tokens] == expected


@pytest.fixture(scope="module")
def pieces(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Folders with nothing but a SentencePiece model, with and without rules that change a text."""
    folders = {name: tmp_path_factory.mktemp(name) for name in ("plain", "normalizing", "unigram")}
    options = {
        "plain": {"remove_extra_whitespaces": False, "normalization_rule_name": "identity", "byte_fallback": True},
        "normalizing": {"byte_fallback": True},
        "unigram": {"model_type": "unigram", "add_dummy_prefix": False},
    }
    for name, folder in folders.items():
        model = {"model_type": "bpe", "vocab_size": 320, "hard_vocab_limit": False} | options[name]
        if name == "unigram":
            model["vocab_size"] = 60
        SentencePieceTrainer.train(
            sentence_iterator=iter(SPOKEN * 20),
            model_prefix=str(folder / "tokenizer"),
            user_defined_symbols=["<think>"],
            control_symbols=["<|im_end|>"],
            minloglevel=2,
            **model,
        )
        settings = {"tokenizer_class": "LlamaTokenizer", "bos_token": "<s>", "add_bos_token": True, "legacy": True}
        (folder / "tokenizer_config.json").write_text(json.dumps(settings))
        (folder / "config.json").write_text('{"model_type": "llama"}')
    return folders


@pytest.mark.parametrize("name", ["plain", "normalizing", "unigram"])
def test_a_sentencepiece_model_cuts_as_sentencepiece(name: str, pieces: dict[str, Path]) -> None:
    reference = SentencePieceProcessor(model_file=str(pieces[name] / "tokenizer.model"))
    tokenizer = load_tokenizer(pieces[name], len(reference) + 8)
    for text in (*HARD_TEXTS, "a <think> b", "a<|im_end|>b<s>"):
        ids = tokenizer.encode(text, begins=True)
        assert ids == reference.EncodeAsIds(text)
        assert name != "plain" or tokenizer.decode(ids, begins=True) == text.replace("\u2581", " ")
    assert tokenizer.prefix_tokens == (reference.PieceToId("<s>"),)
    end = reference.PieceToId("<|im_end|>")
    assert tokenizer.is_special(end) and not tokenizer.is_special(reference.PieceToId("<think>"))
    expected = [*reference.EncodeAsIds("Hi"), end, *reference.EncodeAsIds("the cat")]
    assert tokenizer.parse("Hi<|im_end|>the cat") == expected
    lost = {
        "plain": "",
        "normalizing": "spaces at the beginning of a text, spaces at the end",
        "unigram": "line breaks",
    }
    assert lost[name] in " ".join(tokenizer.notes) and bool(tokenizer.notes) == (name != "plain")


def test_an_added_token_that_is_not_special_is_text(pieces: dict[str, Path], tmp_path: Path) -> None:
    folder = shutil.copytree(pieces["plain"], tmp_path / "added")
    size = len(SentencePieceProcessor(model_file=str(folder / "tokenizer.model")))
    names = {size: ("<call>", False), size + 1: ("<|stop|>", True), size + 2: ("<more>", False)}
    added = {str(token): {"content": name, "special": special} for token, (name, special) in names.items()}
    change_json(folder / "tokenizer_config.json", added_tokens_decoder=added)
    tokenizer, reference = load_tokenizer(folder, size + 2), AutoTokenizer.from_pretrained(folder)
    ids = tokenizer.parse("the<call>cat<|stop|>")
    assert [token for token in ids if token >= size] == [size, size + 1]
    decoded = reference.decode([size, size + 1], skip_special_tokens=True)
    assert tokenizer.decode([size, size + 1]) == decoded == "<call>"
    assert (tokenizer.label(size), tokenizer.is_special(size)) == ("<call>", False)
    assert tokenizer.encode("<call>", begins=True) != [size]  # a template may use it to control the model
    with pytest.raises(AttendError, match="has a token '<more>' that its model doesn't know: leave it out"):
        tokenizer.parse("the<more>")


@pytest.mark.parametrize(
    ("family", "name", "file", "prefix", "suffix"),
    [
        ("t5", "T5Tokenizer", "spiece.model", "", "</s>"),
        ("mt5", "T5Tokenizer", "spiece.model", "", "</s>"),
        ("pegasus", "PegasusTokenizer", "spiece.model", "", "</s>"),
        ("xlm-roberta", "XLMRobertaTokenizer", "sentencepiece.bpe.model", "<s>", "</s>"),
        ("mbart", "MBartTokenizer", "sentencepiece.bpe.model", "", "</s> en_XX"),
    ],
)
def test_a_family_s_own_file_is_cut_by_sentencepiece_and_numbered_by_the_family(
    tmp_path: Path, family: str, name: str, file: str, prefix: str, suffix: str
) -> None:
    """transformers 5.23 drops the byte fallback, so T5's ids differ in 16 of these texts, and in 2 without a fallback.
    Its numbers are right: the family was trained with them, T5 with 100 extra ids behind its pieces."""
    sizes: dict[str, Any] = {"vocab_size": 320, "hard_vocab_limit": False, "byte_fallback": True}
    ends: dict[str, Any] = (
        {"pad_id": 0, "eos_id": 1, "unk_id": 2, "bos_id": -1} if suffix == "</s>" and not prefix else {}
    )
    SentencePieceTrainer.train(
        sentence_iterator=iter(SPOKEN * 20), model_prefix=str(tmp_path / "m"), minloglevel=2, **sizes, **ends
    )
    (tmp_path / "m.model").rename(tmp_path / file)
    (tmp_path / "config.json").write_text(json.dumps({"model_type": family}))
    (tmp_path / "tokenizer_config.json").write_text(json.dumps({"tokenizer_class": name}))
    reference, numbered = (
        SentencePieceProcessor(model_file=str(tmp_path / file)),
        AutoTokenizer.from_pretrained(tmp_path),
    )
    tokenizer = load_tokenizer(tmp_path, len(numbered))
    for text in HARD_TEXTS:
        cut = reference.EncodeAsPieces(text)
        assert tokenizer.encode(text, begins=True) == numbered.convert_tokens_to_ids(cut), text
    for text in ("the cat", "Hi! How are you today?"):
        ids = tokenizer.encode(text, begins=True)
        assert [*tokenizer.prefix_tokens, *ids, *tokenizer.suffix_tokens] == numbered(text).input_ids
        assert tokenizer.decode(ids, begins=True) == text
    assert " ".join(map(tokenizer.label, tokenizer.prefix_tokens)) == prefix
    assert " ".join(map(tokenizer.label, tokenizer.suffix_tokens)) == suffix
    if name == "T5Tokenizer":
        assert tokenizer.label(len(reference)) == "<extra_id_99>" and tokenizer.is_special(len(reference))


def test_a_padding_above_the_models_rows_is_allowed(tmp_path: Path) -> None:
    tokenizer = sentence_piece("{% for m in messages %}{{ m.content }}<pad>{% endfor %}")
    rows = len(tokenizer)
    tokenizer.add_special_tokens({"pad_token": "<pad>"})
    tokenizer.save_pretrained(tmp_path)
    loaded = load_tokenizer(tmp_path, rows)
    assert loaded.vocabulary_size == rows
    assert loaded.decode(loaded.encode("a <pad> b", begins=True), begins=True) == "a <pad> b"
    with pytest.raises(AttendError, match="has a token '<pad>' that its model doesn't know: leave it out"):
        loaded.parse("Hi<pad>")
    tokenizer.add_tokens(["fennec"])
    with pytest.raises(AttendError, match="belong to different checkpoints"):
        HuggingFaceTokenizer(tokenizer, rows)


def test_what_is_no_sentencepiece_model_or_has_no_unknown_piece_is_refused(
    pieces: dict[str, Path], tmp_path: Path
) -> None:
    """The former is left to transformers."""
    shutil.copytree(pieces["plain"], tmp_path, dirs_exist_ok=True)
    model = ModelProto.FromString((tmp_path / "tokenizer.model").read_bytes())
    for piece in model.pieces:
        piece.type = ModelProto.SentencePiece.NORMAL
    damaged = "The SentencePiece model of this checkpoint is damaged: copy it again"
    for content, words in ((b"no model", "cannot be read"), (model.SerializeToString(), damaged)):
        (tmp_path / "tokenizer.model").write_bytes(content)
        with pytest.raises(AttendError, match=words):
            load_tokenizer(tmp_path, 320)
