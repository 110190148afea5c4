"""One text under many tokenizers: published ids, exact round trips, and what is lost without them."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers

from lesson import tokenizers, tokens
from model import names
from model.errors import AttendError
from model.huggingface.tokenizers import vocabulary as huggingface_vocabulary
from tests.helpers.folders import byte_level
from tests.helpers.paths import SHARED

TOKENIZERS = SHARED / "tokenizers"
ANY_TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=60)  # all of Unicode but lone surrogates
PUBLISHED = pytest.mark.skipif(not TOKENIZERS.is_dir(), reason="the published tokenizers are not on this machine")
NAMES = [*"abcdefghijklmnopqrstuvwxyz", "the", "fox", "play", "##ing", "##s", ",", "."]


@pytest.fixture
def word_piece(tmp_path: Path) -> Path:
    """A tokenizer.json as BERT's: capitals and accents go, and a word without pieces is unknown."""
    names = {name: index for index, name in enumerate(["[PAD]", "[UNK]", "[CLS]", *NAMES])}
    built = Tokenizer(models.WordPiece(names, unk_token="[UNK]"))  # pyright: ignore[reportCallIssue]
    built.add_special_tokens(["[PAD]", "[UNK]", "[CLS]"])
    built.normalizer = normalizers.BertNormalizer()  # pyright: ignore[reportAttributeAccessIssue]
    built.pre_tokenizer = pre_tokenizers.BertPreTokenizer()  # pyright: ignore[reportAttributeAccessIssue]
    built.decoder = decoders.WordPiece()  # pyright: ignore[reportAttributeAccessIssue]
    built.save(str(tmp_path / "tokenizer.json"))
    return tmp_path / "tokenizer.json"


def test_words_of_all_languages_are_numbered_as_they_first_appear() -> None:
    cut = tokens.by_words("The fox, the fox; don't!")
    assert cut.pieces == ("The", "fox", ",", "the", "fox", ";", "don", "'", "t", "!")
    assert cut.ids == (0, 1, 2, 3, 1, 4, 5, 6, 7, 8)
    assert cut.vocabulary_size == 9
    assert cut.joined == "The fox , the fox ; don ' t !"
    words = {
        "naïve Straße_2 e\u0301": ["naïve", "Straße_2", "e\u0301"],  # a mark belongs to its letter
        "हिन्दी": ["हिन्दी"],  # vowel signs too
        "猫が好き。": ["猫が好き", "。"],  # nothing parts the words of Japanese
        "a\u00a0b\u3000c\n\td": ["a", "b", "c", "d"],
        "👩\u200d👧 \x00": ["👩", "\u200d", "👧", "\x00"],
        " \n ": [],
    }
    assert {text: tokens.words_of(text) for text in words} == words


def test_characters_and_bytes_are_their_own_ids() -> None:
    characters, encoded = tokens.by_characters("é😀"), tokens.by_bytes("é😀")
    assert characters.pieces == ("é", "😀") and characters.ids == (0xE9, 0x1F600)
    # UTF-8: U+00E9 is C3 A9, U+1F600 is F0 9F 98 80 (The Unicode Standard, table 3-6)
    assert encoded.pieces == ("C3", "A9", "F0", "9F", "98", "80")
    assert encoded.ids == (0xC3, 0xA9, 0xF0, 0x9F, 0x98, 0x80)
    assert (characters.vocabulary_size, encoded.vocabulary_size) == (1_114_112, 256)


@given(ANY_TEXT)
@settings(max_examples=100, deadline=None)
def test_every_tokenization_joins_to_its_text_except_for_documented_losses(text: str) -> None:
    for cut in (tokens.by_characters(text), tokens.by_bytes(text)):
        assert cut.joined == text and len(cut.pieces) == len(cut.ids)
    words = tokens.by_words(text)
    assert "".join(words.pieces) == "".join(text.split())
    assert tokens.lost(text, words.joined) in ((), ("white space",))


def test_what_is_lost_is_named() -> None:
    lost = {
        "Ça va, Tom?": (),
        "Ça va , Tom ?": ("white space",),
        "ça va, tom?": ("capitals",),
        "Ca va, Tom?": ("accents",),
        "ca va , tom ?": ("white space", "capitals", "accents"),
        "Ça va, Tim?": ("some characters",),
        "ca va , ?": ("capitals", "accents", "some characters"),
        "": ("some characters",),
    }
    assert {joined: tokens.lost("Ça va, Tom?", joined) for joined in lost} == lost


def test_half_a_character_is_refused() -> None:
    for cut in (tokens.by_words, tokens.by_characters, tokens.by_bytes):
        with pytest.raises(AttendError, match="half a character"):
            cut("a\ud83d")


def test_a_word_piece_vocabulary_shows_its_pieces_and_what_it_loses(word_piece: Path) -> None:
    tokenizer = huggingface_vocabulary.load(word_piece)
    cut = tokens.by_tokenizer(tokenizer, "The Fóx, playing")
    assert cut.pieces == ("the", "fox", ",", "play", "##ing")
    assert [NAMES.index(piece) + 3 for piece in cut.pieces] == list(cut.ids)  # behind the three control tokens
    assert cut.vocabulary_size == len(NAMES) + 3
    assert cut.joined == "the fox , playing"
    assert tokens.lost("The Fóx, playing", cut.joined) == ("white space", "capitals", "accents")
    unknown = tokens.by_tokenizer(tokenizer, "the 😀")
    assert unknown.pieces == ("the", "[UNK]") and unknown.joined == "the"
    assert "[CLS]" not in tokens.by_tokenizer(tokenizer, "[CLS]").pieces


def test_a_byte_level_vocabulary_is_read_from_its_file_alone(tmp_path: Path) -> None:
    reference = byte_level()
    reference.backend_tokenizer.save(str(tmp_path / "tokenizer.json"))
    text = "the cat <|im_end|> häuser 😀"
    cut = tokens.by_tokenizer(huggingface_vocabulary.load(tmp_path / "tokenizer.json"), text)
    assert list(cut.ids) == reference(text, split_special_tokens=True).input_ids
    assert cut.joined == text and cut.vocabulary_size == len(reference)


def test_a_damaged_file_and_one_of_more_than_a_tokenizer_are_one_sentence(tmp_path: Path) -> None:
    path = tmp_path / "tokenizer.json"
    for content in ("", "{}", "[1, 2]", '{"model": {"type": "BPE"}}', "\x00" * 40):
        path.write_text(content)
        with pytest.raises(AttendError, match=r"not a readable tokenizer: copy it again\.$"):
            huggingface_vocabulary.load(path)
    with path.open("wb") as file:
        file.truncate(huggingface_vocabulary.MAX_MEGABYTES << 20)  # a hole, which takes no room
    with pytest.raises(AttendError, match="is 64 MB, but a tokenizer must be smaller than 64"):
        huggingface_vocabulary.load(path)


def test_tokenizers_are_ours_and_those_of_the_folder_whose_files_are_read_again_when_they_change(
    tmp_path: Path, word_piece: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "many"
    for number in range(tokenizers.MAX + 2):
        (folder / f"piece-{number}").mkdir(parents=True)
        (folder / f"piece-{number}" / "tokenizer.json").write_bytes(word_piece.read_bytes())
    (folder / "empty").mkdir()
    monkeypatch.setenv(tokenizers.VARIABLE, str(folder))
    present = tokenizers.present()
    assert list(present) == [*names.embedded(), *(f"piece-{number}" for number in range(tokenizers.MAX))]
    assert present["piece-0"]() is present["piece-0"]()  # read once
    for name in names.embedded():
        assert tokens.by_tokenizer(present[name](), "How are you?").joined == "How are you?"
    (folder / "piece-1" / "tokenizer.json").write_text("{}")
    with pytest.raises(AttendError):
        tokenizers.present()["piece-1"]()
    (folder / "piece-1" / "tokenizer.json").write_bytes(word_piece.read_bytes())
    assert tokenizers.present()["piece-1"]().vocabulary_size == len(NAMES) + 3
    monkeypatch.setenv(tokenizers.VARIABLE, str(tmp_path / "nowhere"))
    assert list(tokenizers.present()) == list(names.embedded())


@PUBLISHED
def test_published_ids(monkeypatch: pytest.MonkeyPatch) -> None:
    """GPT-2's as in its model card and the lectures that use it; BERT's as in Hugging Face's documentation."""
    monkeypatch.setenv(tokenizers.VARIABLE, str(TOKENIZERS))
    present = tokenizers.present()
    gpt2, bert = present["gpt2"](), present["bert-base-uncased"]()
    assert tokens.by_tokenizer(gpt2, "The quick brown fox").ids == (464, 2068, 7586, 21831)
    assert tokens.by_tokenizer(gpt2, "I have a dream").ids == (40, 423, 257, 4320)
    assert tokens.by_tokenizer(gpt2, " of being a doctor.").ids == (286, 852, 257, 6253, 13)  # how GPT-2 continues it
    assert (gpt2.vocabulary_size, bert.vocabulary_size) == (50_257, 30_522)
    # "Using a Transformer network is simple" of the Hugging Face course, chapter 2
    cut = tokens.by_tokenizer(bert, "Using a Transformer network is simple")
    assert cut.ids == (2478, 1037, 10938, 2121, 2897, 2003, 3722)
    assert cut.pieces == ("using", "a", "transform", "##er", "network", "is", "simple")
    assert tokens.lost("Using a Transformer network is simple", cut.joined) == ("capitals",)
