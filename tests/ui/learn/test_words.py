"""What the page gets of the chapters on tokens, vocabularies and vectors: small, complete, hostile input refused."""

from __future__ import annotations

import gc
import json
import shutil
import weakref
from collections.abc import Callable
from pathlib import Path
from typing import Any

import gradio as gr
import pytest
from huggingface_hub import constants
from tokenizers import Tokenizer

from lesson import tokenizers
from model import catalog, names
from model.encoder import Encoder
from model.errors import AttendError
from model.loaded import LoadedModel
from model.progress import Progress
from tests.helpers.folders import bert
from ui.learn import course
from ui.learn.chapters import tokens, vectors, vocabulary
from ui.models import select as choosing
from ui.page.layout import build
from ui.runs.models import Models
from ui.runs.models.model_cache import AnyModel
from ui.runs.session import Session

CHAT, TRANSLATE = "attend-chat", "attend-translate"
EMBEDDED = pytest.mark.skipif(
    not {CHAT, TRANSLATE} <= set(names.embedded()), reason="the embedded models are not there"
)
LARGEST = 30_000  # bytes of an answer; of a text of 2,000 emoji, each of which takes 12, more than twice that
HARD = ["\x00" * 2_000, "👩\u200d👧" * 600, "</script><b>${7*7}{{x}}" * 80, "\u0301\u202e" * 900, "ａ" * 2_000]

Answer = Callable[[Models, dict[str, Any]], dict[str, Any]]
CHAPTERS: dict[str, Answer] = {
    "tokens": tokens.CHAPTER.answer,
    "vocabulary": vocabulary.CHAPTER.answer,
    "vectors": vectors.CHAPTER.answer,
}


def sent(answered: dict[str, Any]) -> int:
    return len(json.dumps(answered, separators=(",", ":"), allow_nan=False))


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Only the tokenizers that come with Attend."""
    monkeypatch.setenv(tokenizers.VARIABLE, str(tmp_path))


@pytest.mark.parametrize("chapter", CHAPTERS)
@pytest.mark.usefixtures("here")
def test_what_nobody_changed_is_the_default_and_what_is_sent_back_stays(chapter: str, models: Models) -> None:
    answered = CHAPTERS[chapter](models, {})
    assert sent(answered) < LARGEST
    assert CHAPTERS[chapter](models, dict(course.CHAPTERS[chapter].first)) == answered, (
        "the page's fields hold something else"
    )
    inputs = {
        "tokens": ("text",),
        "vocabulary": ("text", "merges", "new"),
        "vectors": ("model", "around"),
    }[chapter]
    assert CHAPTERS[chapter](models, {key: answered[key] for key in inputs}) == answered


@pytest.mark.usefixtures("here")
def test_the_hardest_texts_and_a_long_one_of_many_words_stay_small(models: Models) -> None:
    for text in HARD:
        inputs = {"text": text[:2_000], "new": text[:200], "merges": 200}
        for chapter in ("tokens", "vocabulary"):
            assert sent(CHAPTERS[chapter](models, inputs)) < 2.5 * LARGEST
    text = " ".join(f"w{number}x" for number in range(400))[:2_000]
    for merges in (0, 200):
        assert sent(vocabulary.CHAPTER.answer(models, {"text": text, "merges": merges})) < LARGEST
    words = " ".join(f"word{number}" for number in range(24))
    assert sent(vectors.CHAPTER.answer(models, {"words": words, "around": 3})) < LARGEST


@pytest.mark.parametrize(
    ("chapter", "inputs", "sentence"),
    [
        ("tokens", {"text": ""}, "Text is empty"),
        ("tokens", {"text": ["a"]}, "Text is .*, but must be text"),
        ("tokens", {"text": "a" * 2_001}, "2,001 characters, but the limit is 2,000"),
        ("tokens", {"text": "a\ud83d"}, "half a character"),
        ("vocabulary", {"text": "  \n"}, "Text is empty"),
        ("vocabulary", {"new": "\udc00"}, "half a character"),
        ("vocabulary", {"new": " "}, "^The new text is empty: type something"),
        ("vocabulary", {"new": "a" * 201}, "201 characters, but the limit is 200"),
        ("vocabulary", {"merges": 201}, "must be a whole number from 0 to 200"),
        ("vocabulary", {"merges": 1.5}, "must be a whole number"),
        ("vectors", {"model": "owner/name"}, "Model is .*owner/name.*, but must be one of tiny-chat"),
        ("vectors", {"word": "  "}, "Word is empty"),
        ("vectors", {"word": "a" * 41}, "the limit is 40"),
        ("vectors", {"expected": 7}, "Expected is 7, but must be text"),
        ("vectors", {"a": " "}, "^The first word is empty"),
        ("vectors", {"b": ""}, "^The field “Minus” is empty"),
        ("vectors", {"words": "one"}, "has 1 different word: enter 3 to 24"),
        ("vectors", {"words": " ".join(map(str, range(25)))}, "25 different words: enter 3 to 24"),
        ("vectors", {"words": f"a b {'c' * 41}"}, "a word of 41 letters, but the limit is 40"),
        ("vectors", {"around": 4}, "must be a whole number from 0 to 3"),
        ("context", {"lines": "  "}, "^The list of texts is empty"),
        ("context", {"meant": " "}, "^The word is empty"),
        ("context", {"lines": "a bank\n" * 7}, "^The list of texts has 7 sentences: enter 2 to 6"),
    ],
)
@pytest.mark.usefixtures("here")
def test_what_cannot_be_shown_is_one_sentence(
    chapter: str, inputs: dict[str, Any], sentence: str, models: Models
) -> None:
    with pytest.raises(AttendError, match=sentence) as refused:
        course.CHAPTERS[chapter].answer(models, inputs)
    assert str(refused.value).endswith(".") and "\n" not in str(refused.value)


@pytest.mark.usefixtures("here")
def test_tokenizers_of_models_in_memory_stand_beside_ours(models: Models) -> None:
    text = "How are you?"
    cuts = [cut["name"] for cut in tokens.CHAPTER.answer(models, {"text": text})["cuts"]]
    assert cuts == ["words", "characters", "bytes", *names.embedded(), "tiny-chat"]  # the page's first, always
    held = models.get("tiny-writer")
    cuts = {cut["name"]: cut for cut in tokens.CHAPTER.answer(models, {"text": text})["cuts"]}
    ids = held.tokenizer.encode(text, begins=True)
    assert cuts["tiny-writer"]["pieces"] == [(held.tokenizer.label(piece), piece) for piece in ids]
    assert cuts["tiny-writer"]["count"] == len(ids) and cuts["tiny-writer"]["vocabulary"] == held.model.vocabulary_size
    assert cuts["words"]["lost"] == ("white space",) and cuts["words"]["joined"] == "How are you ?"
    assert cuts["tiny-writer"]["lost"] == () and cuts["tiny-writer"]["joined"] is None


@pytest.mark.usefixtures("here")
def test_a_folder_is_called_as_everywhere_and_its_path_only_pointed_at(tiny_checkpoint: Path, tmp_path: Path) -> None:
    folder = str(shutil.copytree(tiny_checkpoint, tmp_path / "fox" / "final"))
    private = Models((str(tiny_checkpoint),), lambda name, _: catalog.load(name), any_name=True)
    visitor = Session.using(private.default)
    list(choosing.choose(visitor, private, folder))
    cuts = tokens.CHAPTER.answer(private, {})["cuts"]
    assert (cuts[-1]["name"], cuts[-1]["location"]) == ("fox/final", folder)
    answered = vectors.CHAPTER.answer(private, {"model": folder})
    assert answered["model"] == folder and (folder, "fox/final") in answered["models"]


@pytest.mark.parametrize("location", ["folder", "hub"])
@pytest.mark.usefixtures("here")
def test_an_encoder_that_was_looked_into_leaves_its_tokenizer(
    location: str, tiny_checkpoint: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    commit = "5" * 40
    cached = tmp_path / "models--owner--reads"  # as the Hub's documentation describes its cache
    folder = bert(cached / "snapshots" / commit)
    (cached / "refs").mkdir()
    (cached / "refs" / "main").write_text(commit)
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path))
    name = str(folder) if location == "folder" else "owner/reads"

    def load(requested: str, _: Progress) -> LoadedModel | Encoder:
        return catalog.load_encoder(str(folder)) if requested == name else catalog.load(requested)

    private = Models((str(tiny_checkpoint),), load, any_name=True)
    visitor = Session.using(private.default)
    list(choosing.choose(visitor, private, name))
    assert visitor.model.encoder is not None
    text = "The quick fox jumps."
    pieces = [piece.label for piece in visitor.model.encoder.pieces(text) if not piece.special]
    list(choosing.choose(visitor, private, private.default))
    cut = tokens.CHAPTER.answer(private, {"text": text})["cuts"][-1]
    assert visitor.model.encoder is None and (cut["name"], cut["location"]) == (names.display_name(name), name)
    ids = Tokenizer.from_file(str(folder / "tokenizer.json")).encode(text, add_special_tokens=False).ids
    assert cut["pieces"] == list(zip(pieces, ids, strict=True))
    shutil.rmtree(folder)
    assert tokens.CHAPTER.answer(private, {"text": text})["cuts"][-1]["name"] != cut["name"]


@pytest.mark.usefixtures("here")
def test_a_damaged_tokenizer_leaves_the_others_and_replaces_no_rule_of_its_name(tmp_path: Path, models: Models) -> None:
    (tmp_path / "words").mkdir()
    (tmp_path / "words" / "tokenizer.json").write_text("{}")
    cuts = tokens.CHAPTER.answer(models, {"text": "How are you?"})["cuts"]
    rule, file = (cut for cut in cuts if cut["name"] == "words")
    assert (rule["rule"], rule["count"], file["rule"], file.get("count")) == (True, 4, False, None)
    assert file["error"].endswith("not a readable tokenizer: copy it again.") and rule["error"] == ""


def test_a_vocabulary_is_that_of_so_many_merges(models: Models) -> None:
    answered = vocabulary.CHAPTER.answer(models, {"merges": 5})
    learned = [
        (row["cells"][1]["pieces"], row["cells"][2]["pieces"], row["cells"][3], row["later"])
        for row in answered["learned"]
    ]
    assert learned[:6] == [
        (["e", "s"], ["es"], "9", False),
        (["es", "t"], ["est"], "9", False),
        (["est", "</w>"], ["est</w>"], "9", False),
        (["l", "o"], ["lo"], "7", False),
        (["lo", "w"], ["low"], "7", False),
        (["n", "e"], ["ne"], "6", True),
    ]
    assert answered["pairs"][0] == ({"pieces": ["n", "e"]}, "6", {"bar": 1.0}, "next")
    assert answered["words"][0] == (("low", "</w>"), 5)
    # 5 low of 2, 2 lower of 4 (low e r and the mark), 6 newest of 4 (n e w est</w>) and 3 widest of 4
    assert answered["words_and_tokens"] == f"16 words in {5 * 2 + 2 * 4 + 6 * 4 + 3 * 4} tokens."
    assert [size[1].partition(":")[0] for size in answered["sizes"]] == ["4", "10", f"{10 + 1 + 5}"]
    (cut,) = answered["cut"]
    assert not cut["known"] and cut["pieces"] == [("low", True), ("est</w>", True)]
    unknown = vocabulary.CHAPTER.answer(models, {"new": "lowly low"})["cut"]
    assert unknown[0]["characters"][-1] == ("y", False) and ("y", False) in unknown[0]["pieces"]
    assert unknown[1]["known"]
    assert vocabulary.CHAPTER.answer(models, {"merges": 200})["merges"] == len(answered["learned"])


def test_vectors_are_those_of_the_models_matrix(models: Models, tiny: LoadedModel) -> None:
    answered = vectors.CHAPTER.answer(models, {"model": "tiny-chat", "words": "you fox dog", "around": 2})
    assert answered["size"] == (tiny.model.vocabulary_size, 32)
    assert answered["listed"] == ["you", "fox", "dog"]
    own = [row[index] for index, row in enumerate(answered["cosines"])]
    assert own == pytest.approx([1.0] * 3, abs=2e-6)  # 0.999999 where rounding left a little less than 1
    assert answered["cosines"][0][1] == answered["cosines"][1][0]
    assert len(answered["points"]) == 3 and 0 < len(answered["neighbours"]) <= 6
    assert answered["share_unseen"] in ("0\u00a0%", "<1\u00a0%")  # three points lie in a plane
    assert vectors.CHAPTER.answer(models, {"expected": ""})["verdict"] == ["nearest"]


@EMBEDDED
def test_a_model_that_is_only_read_stays_for_its_visitor_alone(models: Models) -> None:
    """Through the page's own handlers, as its events call them."""
    networks = []

    def load(name: str, _: Progress) -> LoadedModel | Encoder:
        loaded = catalog.load(name)
        networks.append(weakref.ref(loaded.model))
        return loaded

    page = Models((CHAT, TRANSLATE), load)
    handlers = {one.name: one.fn for one in build(page).fns.values() if one.fn is not None}
    session, visit = Session.using(page.default), gr.Request(session_hash="visit")
    data = {"chapter": "vectors", "number": 1, "inputs": {"model": TRANSLATE}}
    for _ in range(3):
        answered = json.loads(handlers["on_answer_lesson"](session, visit, gr.EventData(None, data)))["result"]
        assert answered["models"] == [[CHAT, CHAT], [TRANSLATE, TRANSLATE]] and answered["model"] == TRANSLATE
    assert page.in_memory() == (CHAT, TRANSLATE) and len(networks) == 2
    handlers["leave"](visit)
    gc.collect()
    assert page.in_memory() == (CHAT,) and networks[0]() is not None and networks[1]() is None
    assert vectors.CHAPTER.answer(page, {})["analogy"]["rank"] == 1  # mother - father + brother is sister

    kept: dict[str, AnyModel] = {}
    models.with_embedded_cache(kept).get("tiny-writer")
    assert kept == {}  # it may be a large one
