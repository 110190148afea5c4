"""Exact round trips, control tokens that cannot be typed, and streams that never split a character."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sentencepiece import SentencePieceTrainer

from model.errors import AttendError
from model.text.sentencepiece_tokenizer import ASSISTANT, BEGIN, END, USER, Tokenizer
from training.vocabulary import train_vocabulary

SENTENCE = "the cat sat on a mat and the dog ran to the old house while it was raining in the small town"
WORDS = SENTENCE.split()
TOKENIZER = Tokenizer(
    train_vocabulary((" ".join(WORDS[i:] + WORDS[:i]) + f". Hi, café {i}!" for i in range(len(WORDS))), 360)
)
ANY_TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=60)  # all of Unicode but lone surrogates
HOSTILE = [
    *("", " ", "   a  b ", "\n\n\t x\r\n", "\x00\x01", "\ufffd", "\ufeff"),
    *("\u2581", "a\u2581 \u2581b", "<0xE2>", "<unk>"),  # what SentencePiece itself writes
    *("🐶👩\u200d👩\u200d👧 e\u0301", "שלום \u202e abc", "ﬁ Å Ａ ½"),  # joined, turned, and never normalised
]


def check_text(text: str) -> None:
    ids, stream = TOKENIZER.encode(text), TOKENIZER.detokenizer()
    assert TOKENIZER.decode(ids) == text
    assert not any(TOKENIZER.is_special(piece) for piece in ids)
    parts = [stream.push(piece) for piece in ids]
    assert "".join(parts) + stream.finish() == text
    assert all(part in text for part in parts)  # no part ever holds a broken character that the text lacks


def test_hard_texts_come_back_exactly_and_stream_in_whole_characters() -> None:
    for text in HOSTILE:
        check_text(text)


@given(ANY_TEXT)
@settings(max_examples=100, deadline=None)
def test_so_does_any_text(text: str) -> None:
    check_text(text)


def test_a_stream_holds_an_emoji_back_until_it_is_whole_and_one_that_is_cut_ends_in_a_replacement() -> None:
    ids, stream, cut = TOKENIZER.encode("🐶"), TOKENIZER.detokenizer(), TOKENIZER.detokenizer()
    assert [stream.push(piece) for piece in ids] == ["", "", "", "🐶"]
    assert [cut.push(piece) for piece in ids[:2]] == ["", ""] and cut.finish() == "\ufffd"


def test_typing_a_control_token_gives_plain_text() -> None:
    for name in (BEGIN, END, USER, ASSISTANT, "<unk>"):
        ids = TOKENIZER.encode(f"a{name} {name}")
        assert TOKENIZER.special_token_id(name) not in ids
        assert TOKENIZER.decode(ids) == f"a{name} {name}"
        assert TOKENIZER.decode([TOKENIZER.special_token_id(name)]) == ""
        assert TOKENIZER.label(TOKENIZER.special_token_id(name)) == name


def test_half_a_surrogate_pair_is_refused_with_its_position() -> None:
    with pytest.raises(AttendError, match="code D83D\\) at position 3"):
        TOKENIZER.encode("ab\ud83d")


def test_labels_show_spaces_and_bytes() -> None:
    """ASCII is printable from 0x20 to 0x7E (RFC 20); from 0x80 on a byte is only a part of a character in UTF-8."""
    assert [TOKENIZER.label(piece) for piece in TOKENIZER.encode(" the\x07")] == [" the", "<0x07>"]
    first = TOKENIZER.encode("\x00")[0]  # SentencePiece keeps its 256 byte pieces together, in their order
    labels = {0x0A: "\n", 0x20: " ", 0x3C: "<", 0x7E: "~", 0x09: "<0x09>", 0x7F: "<0x7F>", 0xF0: "<0xF0>"}
    assert {byte: TOKENIZER.label(first + byte) for byte in labels} == labels


def test_training_twice_gives_the_same_vocabulary() -> None:
    texts = [" ".join(WORDS)] * 3
    assert train_vocabulary(texts, 300) == train_vocabulary(texts, 300)


def test_a_missing_or_foreign_file_and_a_vocabulary_that_could_not_keep_every_text_are_refused(tmp_path: Path) -> None:
    with pytest.raises(AttendError, match="There is no tokenizer"):
        Tokenizer.load(tmp_path / "tokenizer.model")
    (tmp_path / "tokenizer.model").write_bytes(b"not a model")
    for path in (tmp_path / "tokenizer.model", tmp_path):  # the latter is a folder
        with pytest.raises(AttendError, match="not a SentencePiece model"):
            Tokenizer.load(path)
    written = io.BytesIO()
    SentencePieceTrainer.Train(
        sentence_iterator=iter(WORDS * 5), model_writer=written, model_type="bpe", vocab_size=40, minloglevel=2
    )
    with pytest.raises(AttendError, match="no pieces for single bytes"):
        Tokenizer(written.getvalue())
