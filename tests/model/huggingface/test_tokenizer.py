"""Hugging Face tokenizers: the ids of transformers, exact texts, and control tokens that cannot be typed."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from tokenizers import Tokenizer, decoders, models, pre_tokenizers
from transformers import PreTrainedTokenizerFast

from model.errors import AttendError
from model.huggingface.tokenizer import HuggingFaceTokenizer
from tests.helpers.folders import byte_level, sentence_piece

KINDS: dict[str, Callable[[], PreTrainedTokenizerFast]] = {
    "byte-level": byte_level,
    "sentence-piece": sentence_piece,
}
TEXTS = [
    "Once upon a time there was a small fox.",
    " two  spaces, tabs\tand\n\nlines ",
    "häuser, 猫, 😀 and e\u0301",
    "<s> </s> <unk> <|endoftext|> <|im_end|> <0x41>",
    "",
]


def made(kind: str, unused: int = 0) -> HuggingFaceTokenizer:
    reference = KINDS[kind]()
    return HuggingFaceTokenizer(reference, len(reference) + unused)


@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("kind", KINDS)
def test_a_text_has_the_ids_of_transformers_and_comes_back(kind: str, text: str) -> None:
    tokenizer, reference = made(kind), KINDS[kind]()
    ids = tokenizer.encode(text, begins=True)
    assert [*tokenizer.prefix_tokens, *ids] == reference(text, split_special_tokens=True).input_ids
    assert tokenizer.decode(ids, begins=True) == reference.decode(ids) == text
    going_on = tokenizer.encode(text)
    assert tokenizer.decode(going_on) == text
    assert not any(tokenizer.is_special(piece) for piece in (*ids, *going_on))


@pytest.mark.parametrize("begins", [True, False])
@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("kind", KINDS)
def test_a_stream_is_the_decoded_text_in_whole_characters(kind: str, text: str, begins: bool) -> None:
    tokenizer = made(kind)
    stream, streamed = tokenizer.detokenizer(begins=begins), ""
    ids = tokenizer.encode(text, begins=begins)
    for count, piece in enumerate(ids, start=1):
        streamed += stream.push(piece)
        assert "\ufffd" not in streamed
        decoded = tokenizer.decode(ids[:count], begins=begins)
        assert streamed == decoded.rstrip("\ufffd")
        assert stream.is_complete == (streamed == decoded)
    assert streamed + stream.finish() == text


def test_what_stands_before_a_text_is_found() -> None:
    assert made("byte-level").prefix_tokens == ()
    assert made("sentence-piece").prefix_tokens == (1,)  # <s>, by the template of its post-processor


def test_labels_tell_tokens_apart() -> None:
    tokenizer = made("byte-level", unused=2)
    size = tokenizer.vocabulary_size
    assert tokenizer.label(tokenizer.special_token_id("<|im_end|>")) == "<|im_end|>"
    assert [tokenizer.label(piece) for piece in (size - 2, size - 1)] == [
        f"<unused {size - 2}>",
        f"<unused {size - 1}>",
    ]
    # U+1F600 is F0 9F 98 80 in UTF-8, and no merge of the training text joins such bytes
    assert [tokenizer.label(piece) for piece in tokenizer.encode("😀")] == ["<0xF0>", "<0x9F>", "<0x98>", "<0x80>"]
    tokenizer = made("sentence-piece")
    assert [tokenizer.label(piece) for piece in tokenizer.encode("😀\n")][-2:] == ["<0x80>", "\n"]


def unigram() -> HuggingFaceTokenizer:
    """A vocabulary in which a control token is the best reading of its own name."""
    pieces = [("<unk>", 0.0), ("<s>", 0.0), *((character, -3.0) for character in "\u2581<s>ab")]
    built = Tokenizer(models.Unigram(pieces, unk_id=0, byte_fallback=False))
    built.pre_tokenizer = pre_tokenizers.Metaspace()  # pyright: ignore[reportAttributeAccessIssue]
    built.decoder = decoders.Metaspace()  # pyright: ignore[reportAttributeAccessIssue]
    reference = PreTrainedTokenizerFast(tokenizer_object=built, bos_token="<s>", unk_token="<unk>")
    return HuggingFaceTokenizer(reference, len(reference))


def test_a_vocabulary_that_would_read_a_control_token_in_a_text_does_not() -> None:
    tokenizer = unigram()
    assert 1 in tokenizer.hf_tokenizer("a<s>b", split_special_tokens=True).input_ids  # transformers' reading
    ids = tokenizer.encode("a<s>b<s>", begins=True)
    assert not any(tokenizer.is_special(piece) for piece in ids)
    assert tokenizer.decode(ids, begins=True) == "a<s>b<s>"


def test_what_the_vocabulary_cannot_say_is_refused() -> None:
    with pytest.raises(AttendError, match="no token for 'é'"):
        unigram().encode("aéb")
    with pytest.raises(AttendError, match="half a character"):
        made("byte-level").encode("a\ud83d")


@pytest.mark.parametrize("size", [-1, 1000])
def test_a_tokenizer_of_another_vocabulary_is_refused(size: int) -> None:
    reference = byte_level()
    with pytest.raises(AttendError, match="belong to different checkpoints"):
        HuggingFaceTokenizer(reference, len(reference) + size)


def test_one_whose_tokens_are_no_exact_texts_is_refused() -> None:
    built = Tokenizer(models.WordPiece({"[UNK]": 0, "x": 1, "##y": 2}, unk_token="[UNK]"))
    built.decoder = decoders.WordPiece()  # pyright: ignore[reportAttributeAccessIssue]
    with pytest.raises(AttendError, match="neither byte-level BPE nor SentencePiece"):
        HuggingFaceTokenizer(PreTrainedTokenizerFast(tokenizer_object=built), 3)


def test_a_folder_without_a_readable_tokenizer_is_refused(tmp_path: Path) -> None:
    byte_level().save_pretrained(tmp_path)
    (tmp_path / "tokenizer.json").write_text("{")
    with pytest.raises(AttendError, match=r"cannot be read.*tokenizer\.json"):
        HuggingFaceTokenizer.load(tmp_path, 320)
    for path in tmp_path.iterdir():
        path.unlink()
    with pytest.raises(AttendError, match=r"has no tokenizer: put its tokenizer\.json"):
        HuggingFaceTokenizer.load(tmp_path, 320)


def test_a_vocabulary_outside_the_byte_alphabet_is_refused() -> None:
    tokenizer = byte_level(None)
    described = json.loads(tokenizer.backend_tokenizer.to_str())
    described["model"]["vocab"]["\u4e2d"] = len(described["model"]["vocab"])  # no byte is written so
    foreign = PreTrainedTokenizerFast(tokenizer_object=Tokenizer.from_str(json.dumps(described)))
    with pytest.raises(AttendError, match="holds '\u4e2d', which byte-level BPE cannot spell"):
        HuggingFaceTokenizer(foreign, len(foreign))


def test_a_tokenizer_that_drops_the_text_is_refused() -> None:
    tokenizer = byte_level(None)
    described = json.loads(tokenizer.backend_tokenizer.to_str())
    described["normalizer"] = {"type": "Replace", "pattern": {"Regex": "."}, "content": ""}
    blank = PreTrainedTokenizerFast(tokenizer_object=Tokenizer.from_str(json.dumps(described)))
    with pytest.raises(AttendError, match="loses part of the text"):
        HuggingFaceTokenizer(blank, len(blank))
