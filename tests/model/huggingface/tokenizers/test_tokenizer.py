"""Hugging Face tokenizers: the ids of transformers, exact texts, and control tokens that cannot be typed."""

from __future__ import annotations

import itertools
import json
import multiprocessing
import os
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest
from tokenizers import Encoding, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers
from transformers import PreTrainedTokenizerFast

from model.errors import AttendError
from model.huggingface import tokenizer as tokenizer_module
from model.huggingface.tokenizer import HuggingFaceTokenizer, encoded
from model.huggingface.tokenizers.folder import load_tokenizer
from tests.helpers.folders import byte_level, sentence_piece
from tests.helpers.waiting import LONGEST, eventually

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


def tokenizer_of(kind: str, unused: int = 0) -> HuggingFaceTokenizer:
    reference = KINDS[kind]()
    return HuggingFaceTokenizer(reference, len(reference) + unused)


@pytest.mark.parametrize("kind", KINDS)
def test_a_text_has_the_ids_of_transformers_and_streams_back_in_whole_characters(kind: str) -> None:
    tokenizer, reference = tokenizer_of(kind), KINDS[kind]()
    for text, begins in itertools.product(TEXTS, (True, False)):
        stream, streamed = tokenizer.detokenizer(begins=begins), ""
        ids = tokenizer.encode(text, begins=begins)
        assert not any(tokenizer.is_special(piece) for piece in ids)
        if begins:
            assert [*tokenizer.prefix_tokens, *ids] == reference(text, split_special_tokens=True).input_ids
            assert reference.decode(ids) == text
        for count, piece in enumerate(ids, start=1):
            streamed += stream.push(piece)
            assert "\ufffd" not in streamed
            decoded = tokenizer.decode(ids[:count], begins=begins)
            assert streamed == decoded.rstrip("\ufffd")
            assert stream.is_complete == (streamed == decoded)
        assert streamed + stream.finish() == text


def test_labels_tell_tokens_apart() -> None:
    tokenizer = tokenizer_of("byte-level", unused=2)
    size = tokenizer.vocabulary_size
    assert tokenizer.label(tokenizer.special_token_id("<|im_end|>")) == "<|im_end|>"
    assert [tokenizer.label(piece) for piece in (size - 2, size - 1)] == [
        f"<unused {size - 2}>",
        f"<unused {size - 1}>",
    ]
    # U+1F600 is F0 9F 98 80 in UTF-8, and no merge of the training text joins such bytes
    assert [tokenizer.label(piece) for piece in tokenizer.encode("😀")] == ["<0xF0>", "<0x9F>", "<0x98>", "<0x80>"]
    tokenizer = tokenizer_of("sentence-piece")
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


def test_names_of_control_tokens_are_cut_all_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Cut one after the other, a text of thousands would be read as many times."""
    tokenizer, text, read = unigram(), "a<s>b" * 1000, []
    encoded = tokenizer_module.encoded

    def counting(backend: Tokenizer, part: str) -> Encoding:
        read.append(len(part))
        return encoded(backend, part)

    monkeypatch.setattr(tokenizer_module, "encoded", counting)
    ids = tokenizer.encode(text, begins=True)
    assert tokenizer.decode(ids, begins=True) == text and not any(map(tokenizer.is_special, ids))
    assert sum(read) == 2 * len(text)


def test_what_the_vocabulary_cannot_write_is_unknown_to_the_model_and_a_note_says_so() -> None:
    tokenizer = unigram()
    ids = tokenizer.encode("aéb", begins=True)
    assert ids == tokenizer.hf_tokenizer("aéb").input_ids and tokenizer.label(ids[2]) == "<unk>"
    *_, note = tokenizer.notes
    assert note.startswith("This model can't read every character: those that its vocabulary lacks, such as ! \" #")
    assert note.endswith("reach it as <unk>.")


def test_half_a_character_and_a_tokenizer_of_another_vocabulary_are_refused() -> None:
    with pytest.raises(AttendError, match="half a character"):
        tokenizer_of("byte-level").encode("a\ud83d")
    for size in (-1, 1000):
        with pytest.raises(AttendError, match="belong to different checkpoints"):
            tokenizer_of("byte-level", size)


def whole_words() -> Tokenizer:
    built = Tokenizer(models.WordLevel({"[UNK]": 0, "the": 1, "cat": 2, "sat": 3}, unk_token="[UNK]"))
    built.pre_tokenizer = pre_tokenizers.Whitespace()  # pyright: ignore[reportAttributeAccessIssue]
    return built


def word_pieces() -> Tokenizer:
    built = Tokenizer(models.WordPiece({"[UNK]": 0, "the": 1, "cat": 2, "s": 3, "##at": 4}, unk_token="[UNK]"))
    built.normalizer = normalizers.BertNormalizer(lowercase=True)  # pyright: ignore[reportAttributeAccessIssue]
    built.pre_tokenizer = pre_tokenizers.BertPreTokenizer()  # pyright: ignore[reportAttributeAccessIssue]
    built.decoder = decoders.WordPiece()  # pyright: ignore[reportAttributeAccessIssue]
    return built


def marked_ends() -> Tokenizer:
    letters = {letter: index for index, letter in enumerate([*"thecas", "t</w>", "e</w>", "at</w>"])}
    built = Tokenizer(models.BPE(letters, [("a", "t</w>")], end_of_word_suffix="</w>"))
    built.pre_tokenizer = pre_tokenizers.Whitespace()  # pyright: ignore[reportAttributeAccessIssue]
    built.decoder = decoders.BPEDecoder()  # pyright: ignore[reportAttributeAccessIssue]
    return built


def unigram_without_a_sign_for_spaces() -> Tokenizer:
    pieces = [("<unk>", 0.0), *((piece, -1.0) for piece in ("the", " ", "c", "at", "s"))]
    return Tokenizer(models.Unigram(pieces, unk_id=0, byte_fallback=False))


@pytest.mark.parametrize(
    ("built", "decoded"),
    [
        (whole_words, "the cat sat"),
        (word_pieces, "the cat sat"),
        (marked_ends, "the cat sat "),
        (unigram_without_a_sign_for_spaces, "the cat sat"),
    ],
)
def test_one_that_drops_spaces_or_capitals_is_used_with_a_note(built: Callable[[], Tokenizer], decoded: str) -> None:
    backend = built()
    tokenizer = HuggingFaceTokenizer(PreTrainedTokenizerFast(tokenizer_object=backend), backend.get_vocab_size())
    ids = tokenizer.encode("the cat sat", begins=True)
    assert ids == backend.encode("the cat sat").ids
    assert tokenizer.decode(ids, begins=True) == decoded
    assert "may not come back exactly" in tokenizer.notes[0]
    assert tokenizer_of("byte-level").notes == tokenizer_of("sentence-piece").notes == ()


def test_a_word_that_the_vocabulary_lacks_is_its_unknown_token() -> None:
    for built in (whole_words(), word_pieces()):
        tokenizer = HuggingFaceTokenizer(PreTrainedTokenizerFast(tokenizer_object=built), built.get_vocab_size())
        assert tokenizer.encode("the dog") == built.encode("the dog").ids == [1, 0]
        assert "such as" in tokenizer.notes[1] and tokenizer.notes[1].endswith("reach it as [UNK].")


@pytest.mark.parametrize("decoder", [decoders.ByteLevel, None])
def test_three_letters_and_no_merges_are_a_vocabulary(decoder: Callable[[], object] | None) -> None:
    built = Tokenizer(models.BPE({"a": 0, "b": 1, "c": 2}, []))
    if decoder is not None:
        built.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)  # pyright: ignore[reportAttributeAccessIssue]
        built.decoder = decoder()  # pyright: ignore[reportAttributeAccessIssue]
    tokenizer = HuggingFaceTokenizer(PreTrainedTokenizerFast(tokenizer_object=built), 3)
    assert tokenizer.encode("cab") == [2, 0, 1]
    assert tokenizer.decode([2, 0, 1]) == "cab"
    assert tokenizer.encode("xcyab") == [2, 0, 1]  # as in transformers and llama.cpp, so a note says it
    assert tokenizer.notes[-1].endswith("such as ! \" # $ % & ' ( ) * + ,, are left out of what it reads.")


def test_a_folder_without_a_readable_tokenizer_is_refused(tmp_path: Path) -> None:
    byte_level().save_pretrained(tmp_path)
    (tmp_path / "tokenizer.json").write_text("{")
    with pytest.raises(AttendError, match=r"cannot be read.*tokenizer\.json"):
        load_tokenizer(tmp_path, 320)
    for path in tmp_path.iterdir():
        path.unlink()
    with pytest.raises(AttendError, match=r"has no tokenizer: put its tokenizer\.json"):
        load_tokenizer(tmp_path, 320)


def test_one_that_cannot_spell_bytes_and_one_that_drops_the_text_are_refused() -> None:
    outside, dropping = (json.loads(byte_level(None).backend_tokenizer.to_str()) for _ in range(2))
    outside["model"]["vocab"]["\u4e2d"] = len(outside["model"]["vocab"])  # no byte is written so
    dropping["normalizer"] = {"type": "Replace", "pattern": {"Regex": "."}, "content": ""}
    for described, words in (
        (outside, "holds '\u4e2d', which byte-level BPE cannot spell"),
        (dropping, "loses part of the text"),
    ):
        built = PreTrainedTokenizerFast(tokenizer_object=Tokenizer.from_str(json.dumps(described)))
        with pytest.raises(AttendError, match=words):
            HuggingFaceTokenizer(built, len(built))


def cut_by(rule: str) -> Tokenizer:
    backend = Tokenizer(models.WordLevel({"a": 0}, "a"))
    backend.pre_tokenizer = pre_tokenizers.Split(Regex(rule), "isolated")  # pyright: ignore[reportAttributeAccessIssue]
    return backend


def go_on_beside(backend: Tokenizer, text: str) -> None:
    """Encode a text in one thread, and end the process in another."""
    thread = threading.Thread(target=encoded, args=(backend, text), daemon=True)
    thread.start()
    own = psutil.Process()
    eventually(lambda: any(each.id == thread.native_id and each.user_time > 0.1 for each in own.threads()))
    os._exit(7)


@pytest.mark.skipif(sys.platform == "win32", reason="processes can't be forked there")
def test_a_text_that_takes_its_tokenizer_for_ever_holds_up_no_other_thread() -> None:
    """250 characters take 0.01 s and 1,500 take 2.2, so 20,000 would take an hour."""
    cubic = cut_by("☃+☃+[0-9]")
    process = multiprocessing.get_context("fork").Process(target=go_on_beside, args=(cubic, "☃" * 20_000))
    process.start()
    process.join(LONGEST)
    process.kill()
    process.join()
    assert process.exitcode == 7


def test_a_text_on_which_a_rule_gives_up_is_refused() -> None:
    """The Rust library's panic is no exception."""
    nested = cut_by("(☃+)+$")
    for framed in (False, True):
        with pytest.raises(AttendError, match="tokenizer fails on this text: change the text"):
            encoded(nested, "☃" * 30 + "!", framed=framed)
