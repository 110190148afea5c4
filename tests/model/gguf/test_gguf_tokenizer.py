"""The tokenizer in a GGUF file cuts as SentencePiece does, or as llama.cpp cuts by the name that the file has."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from sentencepiece import SentencePieceProcessor, SentencePieceTrainer
from sentencepiece.sentencepiece_model_pb2 import ModelProto  # pyright: ignore[reportAttributeAccessIssue]
from transformers.integrations.gguf.gguf_tokenizer_mapping import GGUF_PRE_TOKENIZER_SPLITS, convert_gguf_tokenizer

from model import catalog
from model.huggingface.tokenizer import HuggingFaceTokenizer
from model.huggingface.tokenizers.gguf import gguf_tokenizer
from model.huggingface.tokenizers.splits import SPLITS
from model.text.conversation import Message
from tests.helpers.folders import SPOKEN, byte_level
from tests.model.gguf.test_gguf import llama, qwen3, written
from tests.model.huggingface.tokenizers.test_tokenizer_files import HARD_TEXTS

NONE = 0xFFFFFFFF


@pytest.fixture(scope="module")
def stored(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """Trained SentencePiece models by kind."""
    models = {}
    for kind in ("bpe", "unigram"):
        prefix = tmp_path_factory.mktemp(kind) / "m"
        SentencePieceTrainer.train(
            sentence_iterator=iter(SPOKEN * 20),
            model_prefix=str(prefix),
            model_type=kind,
            vocab_size=330 if kind == "bpe" else 310,
            hard_vocab_limit=False,
            byte_fallback=True,
            user_defined_symbols=["<think>"],
            control_symbols=["<|im_end|>"],
            minloglevel=2,
        )
        models[kind] = ModelProto.FromString(prefix.with_suffix(".model").read_bytes())
    return models


def as_metadata(model: Any, **changes: Any) -> dict[str, Any]:
    """The vocabulary as llama.cpp's converter writes it (`_create_vocab_sentencepiece`)."""
    values = {
        "model": {1: "t5", 2: "llama"}[model.trainer_spec.model_type],
        "tokens": [piece.piece for piece in model.pieces],
        "scores": [piece.score for piece in model.pieces],
        "token_type": [piece.type for piece in model.pieces],
        "add_space_prefix": model.normalizer_spec.add_dummy_prefix,
        "remove_extra_whitespaces": model.normalizer_spec.remove_extra_whitespaces,
        "precompiled_charsmap": [*model.normalizer_spec.precompiled_charsmap],
        "bos_token_id": 1,
        "eos_token_id": 2,
        "unknown_token_id": 0,
    }
    return {f"tokenizer.ggml.{name}": value for name, value in (values | changes).items() if value is not None}


@pytest.mark.parametrize("removed", [True, False])
@pytest.mark.parametrize("prefix", [True, False])
@pytest.mark.parametrize("kind", ["bpe", "unigram"])
def test_a_sentencepiece_vocabulary_cuts_as_sentencepiece(
    kind: str, prefix: bool, removed: bool, stored: dict[str, Any]
) -> None:
    model = ModelProto.FromString(stored[kind].SerializeToString())
    model.normalizer_spec.add_dummy_prefix, model.normalizer_spec.remove_extra_whitespaces = prefix, removed
    reference = SentencePieceProcessor(model_proto=model.SerializeToString())
    tokenizer = gguf_tokenizer(as_metadata(model), len(reference) + 3)
    for text in (*HARD_TEXTS, "a <think>  b", "a<|im_end|>b"):
        assert tokenizer.encode(text, begins=True) == reference.EncodeAsIds(text), text
    end = reference.PieceToId("<|im_end|>")
    expected = [*reference.EncodeAsIds("Hi"), end, *reference.EncodeAsIds("the cat"), 2]
    assert tokenizer.parse("Hi<|im_end|>the cat</s>") == expected


def test_what_a_file_leaves_out_is_as_in_llama_cpp(stored: dict[str, Any]) -> None:
    """Its defaults for SentencePiece: a space and <s> before a text, no spaces removed, and nothing normalised."""
    bare = dict.fromkeys(("add_space_prefix", "remove_extra_whitespaces", "precompiled_charsmap", "bos_token_id"))
    tokenizer = gguf_tokenizer(as_metadata(stored["bpe"], **bare), len(stored["bpe"].pieces))
    assert (tokenizer.prefix_tokens, tokenizer.suffix_tokens, tokenizer.notes) == ((1,), (), ())
    for text in HARD_TEXTS:
        assert tokenizer.decode(tokenizer.encode(text, begins=True), begins=True) == text.replace("\u2581", " ")
    assert tokenizer.encode(" the", begins=True)[0] == tokenizer.encode("  the")[0]


def test_equal_scores_merge_from_the_left(stored: dict[str, Any]) -> None:
    """As in SentencePiece and llama.cpp (`llm_bigram_spm`); a list of merges has to prefer one of them everywhere."""
    model = ModelProto.FromString(stored["bpe"].SerializeToString())
    for piece in model.pieces:
        piece.score = 0.0
    model.normalizer_spec.remove_extra_whitespaces = False
    reference = SentencePieceProcessor(model_proto=model.SerializeToString())
    tokenizer = gguf_tokenizer(as_metadata(model, scores=None), len(reference))
    for text in (*SPOKEN, *HARD_TEXTS):
        assert tokenizer.encode(text, begins=True) == reference.EncodeAsIds(text)


@pytest.mark.parametrize(
    ("changes", "prefix", "suffix"),
    [
        ({}, (1,), ()),
        ({"add_bos_token": False, "add_eos_token": True}, (), (2,)),
        ({"bos_token_id": NONE, "padding_token_id": NONE, "eos_token_id": NONE}, (1,), ()),  # llama.cpp's own ids
        ({"bos_token_id": 5}, (5,), ()),
    ],
)
def test_special_tokens_are_the_files(
    changes: dict[str, Any], prefix: tuple[int, ...], suffix: tuple[int, ...], stored: dict[str, Any]
) -> None:
    tokenizer = gguf_tokenizer(as_metadata(stored["bpe"], **changes), len(stored["bpe"].pieces))
    assert (tokenizer.prefix_tokens, tokenizer.suffix_tokens) == (prefix, suffix)
    assert tokenizer.hf_tokenizer.eos_token_id == 2 and tokenizer.hf_tokenizer.pad_token_id is None


def test_a_whole_file_obeys(tmp_path: Path) -> None:
    keys = {"tokenizer.ggml.add_space_prefix": False, "tokenizer.ggml.padding_token_id": NONE}
    loaded = catalog.load(str(written(tmp_path / "m.gguf", llama(), keys=keys)))
    assert loaded.prompt("the cat")[0] == 1 and loaded.end_tokens == {2}
    assert loaded.tokenizer.label(loaded.prompt("the")[1])[0] == "t"
    assert loaded.prompt(" the") != loaded.prompt("the")
    chat = list(loaded.chat_prompt([Message("user", "Hi!")], reserve=8).ids)
    assert chat == [1, *loaded.tokenizer.encode("[INST] Hi! [/INST]")]
    ends = {"tokenizer.ggml.eos_token_id": NONE, "tokenizer.ggml.eot_token_id": NONE}
    loaded = catalog.load(str(written(tmp_path / "m.gguf", qwen3(), keys=ends)))
    assert loaded.end_tokens == {loaded.tokenizer.special_token_id("<|im_end|>")}  # the chat template's alone


def byte_metadata(**changes: Any) -> dict[str, Any]:
    reference = byte_level()
    model = json.loads(reference.backend_tokenizer.to_str())["model"]
    values = {
        "model": "gpt2",
        "tokens": [str(reference.convert_ids_to_tokens(token)) for token in range(len(reference))],
        "token_type": [3] * 3 + [1] * (len(reference) - 3),
        "merges": [" ".join(merge) for merge in model["merges"]],
    }
    return {f"tokenizer.ggml.{name}": value for name, value in (values | changes).items()}


def cuts(name: str, text: str) -> list[str]:
    """The words of an ASCII text; byte-level texts write a space as Ġ."""
    tokenizer = gguf_tokenizer(byte_metadata(pre=name), 400)
    assert isinstance(tokenizer, HuggingFaceTokenizer)
    pre: Any = tokenizer.hf_tokenizer.backend_tokenizer.pre_tokenizer  # type: ignore[union-attr]
    return [word.replace("Ġ", " ") for word, _ in pre.pre_tokenize_str(text)]


@pytest.mark.parametrize(
    ("name", "words"),
    [  # by hand, from the expressions in llama.cpp's src/llama-vocab.cpp
        ("gpt-2", ["I", "'m", " 12345", "  ", " (", "a", ")..."]),
        ("smollm", ["I", "'m", " ", "1", "2", "3", "4", "5", "  ", " (", "a", ")..."]),
        ("llama-bpe", ["I", "'m", " ", "123", "45", "  ", " (", "a", ")..."]),
        ("qwen2", ["I", "'m", " ", "1", "2", "3", "4", "5", "  ", " (", "a", ")..."]),
        ("default", ["I", "'", "m", " ", "123", "45", "   ", "(", "a", ")..."]),
        ("falcon", ["I", "'", "m", " ", "123", "45", "   ", "(", "a", ")..."]),
        ("deepseek-coder", ["I", "'", "m", " ", "1", "2", "3", "4", "5", "  ", " (", "a", ")..."]),
        ("deepseek-v3", ["I", "'m", " ", "123", "45", "  ", " (", "a", ")..."]),
        ("bloom", ["I'm", " 12345", "   (", "a", ")..."]),
    ],
)
def test_each_name_cuts_in_its_own_way(name: str, words: list[str]) -> None:
    assert cuts(name, "I'm 12345   (a)...") == words


def test_every_name_keeps_the_text_and_those_that_transformers_knows_give_its_ids() -> None:
    renamed = {"model": "tokenizer_type", "pre": "pre_tokenizer_type"}
    for name in sorted(SPLITS):
        metadata = byte_metadata(pre=name)
        tokenizer = gguf_tokenizer(metadata, 400)
        short = {key.rpartition(".")[2]: value for key, value in metadata.items()}
        reference, _ = convert_gguf_tokenizer("llama", {renamed.get(key, key): value for key, value in short.items()})
        reference.encode_special_tokens = True
        for text in HARD_TEXTS:
            ids = tokenizer.encode(text, begins=True)
            assert tokenizer.decode(ids, begins=True) == text, name
            assert name not in GGUF_PRE_TOKENIZER_SPLITS or ids == reference.encode(text).ids, (name, text)


def test_a_file_that_does_not_say_how_it_cuts_is_cut_by_default_and_noted(tmp_path: Path) -> None:
    loaded = catalog.load(str(written(tmp_path / "m.gguf", qwen3(), keys={"tokenizer.ggml.pre": "default"})))
    assert loaded.notes == (
        "m doesn't say how it cuts texts into words, so they are cut as llama.cpp does it by default: tokens may "
        "differ from those it was trained on.",
    )
    assert cuts("", "I'm 12345") == cuts("default", "I'm 12345")


def test_kinds_of_tokens(tmp_path: Path) -> None:
    """Control tokens are never typed, user-defined ones always whole; both may be written in plain letters."""
    names = byte_metadata()["tokenizer.ggml.tokens"]
    names = [*names, "<\uff5cend\u2581of\u2581text\uff5c>", "\u00e9 the  cat", ""]
    kinds = [3] * 3 + [1] * (len(names) - 6) + [3, 4, 5]
    tokenizer = gguf_tokenizer(byte_metadata(tokens=names, token_type=kinds, pre="gpt-2"), len(names))
    control, user_defined, empty = range(len(names) - 3, len(names))
    assert tokenizer.is_special(control) and not tokenizer.is_special(user_defined)
    assert control not in tokenizer.encode(names[control]) and tokenizer.parse(names[control]) == [control]
    ids = tokenizer.encode(f"a{names[user_defined]}b")
    assert user_defined in ids and tokenizer.decode(ids) == f"a{names[user_defined]}b"
    assert tokenizer.label(empty) == f"[EMPTY_{empty}]"
