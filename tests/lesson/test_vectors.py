"""Words as vectors: neighbours and analogies by hand, the plane held to its covariance, and our own models."""

from __future__ import annotations

import itertools
import math
from functools import cache
from pathlib import Path

import numpy as np
import pytest
import torch
from torch.nn import functional
from transformers import GPT2Config, GPT2LMHeadModel

from lesson import vectors
from lesson.vectors import Vectors
from model import catalog, names
from model.errors import AttendError
from model.text.tokenizer import TextTokenizer
from tests.helpers.folders import gpt2
from ui.learn.chapters.vectors import ANALOGIES

CHAT, TRANSLATE = "attend-chat", "attend-translate"
EMBEDDED = pytest.mark.skipif(CHAT not in names.embedded(), reason="the embedded models are not there")
TEXTS = ["", "\ufffd", " ", " man", " woman", " boy", " girl", " step", "son", " go"]
MATRIX = torch.tensor(
    [
        *([1.0, 1.0, 0.0], [1.0, 0.9, 0.0], [0.9, 1.0, 0.0]),  # a control token, half a character and a space
        *([2.0, 0.0, 0.0], [2.0, 2.0, 0.0], [0.0, 0.0, 3.0], [0.0, 4.0, 4.0]),
        *([0.0, 0.0, -1.0], [-1.0, 0.0, 0.0], [0.0, -1.0, 0.0]),
    ]
)  # (10, 3)


class Words(TextTokenizer):
    """A vocabulary of a few words behind spaces, each cut off the front of a text."""

    def __init__(self) -> None:
        texts = [b"", b"\xf0\x9f", *(word.encode() for word in TEXTS[2:])]
        super().__init__(texts, {0: "<s>"})

    def encode(self, text: str, *, begins: bool = False) -> list[int]:
        ids = []
        while text:
            longest = max((word for word in TEXTS[2:] if text.startswith(word)), key=len, default=None)
            if longest is None:
                return []
            ids.append(TEXTS.index(longest))
            text = text.removeprefix(longest)
        return ids


@pytest.fixture
def by_hand() -> Vectors:
    return Vectors(MATRIX, Words())


@cache
def of_model(name: str, *, centred: bool = False) -> Vectors:
    return Vectors.of(catalog.load(name), centred=centred)


def test_a_word_is_its_token_or_the_mean_of_its_tokens(by_hand: Vectors) -> None:
    single, parts = by_hand.word("man"), by_hand.word("stepson")
    assert single.ids == (3,) and single.pieces == (" man",) and single.vector.tolist() == [2.0, 0.0, 0.0]
    assert parts.pieces == (" step", "son") and parts.vector.tolist() == [-0.5, 0.0, -0.5]
    assert by_hand.word("son").ids == (8,)  # one token, where " son" would be two
    assert by_hand.size == (10, 3)
    with pytest.raises(AttendError, match="no token for 'xyz'"):
        by_hand.word("xyz")


def test_neighbours_are_texts_by_their_cosine(by_hand: Vectors) -> None:
    """Of woman, (1, 1, 0) / √2: with man 1/√2 = .707, with girl, (0, 1, 1) / √2, 1/2, with boy 0."""
    nearest = by_hand.neighbours([by_hand.word("woman")], 3)[0]
    assert [neighbour.text for neighbour in nearest] == [" man", " girl", " boy"]
    assert [neighbour.cosine for neighbour in nearest] == pytest.approx([math.sqrt(0.5), 0.5, 0.0], abs=1e-6)
    assert len(by_hand.neighbours([by_hand.word("woman")], 99)[0]) == 6  # all words but itself


def test_an_analogy_by_hand(by_hand: Vectors) -> None:
    """woman - man + boy: (.707, .707, 0) - (1, 0, 0) + (0, 0, 1) = (-.293, .707, 1), of length 1.259; its cosine with
    girl, (0, .707, .707), is 1.207 / 1.259 = .959, with son, (-1, 0, 0), .293 / 1.259 = .233."""
    a, b, c = map(by_hand.word, ("woman", "man", "boy"))
    analogy = by_hand.analogy(a, b, c, 2, by_hand.word("son"))
    assert [neighbour.text for neighbour in analogy.nearest] == [" girl", "son"]
    assert [neighbour.cosine for neighbour in analogy.nearest] == pytest.approx([0.9586, 0.2326], abs=1e-4)
    assert (analogy.rank, analogy.rank_without) == (2, 2)
    assert by_hand.analogy(a, b, c, 1, by_hand.word("step")).rank == 4  # behind go, looked for beyond what is listed
    assert by_hand.analogy(a, b, c, 1, by_hand.word("stepson")).rank is None  # no single token
    assert by_hand.analogy(a, b, c, 1, a).rank is None and by_hand.analogy(a, b, c, 1).rank is None  # left out
    # its control is the third word alone: of boy, (0, 0, 1), without the three words, girl .707, son and go 0, step -1
    ranks = {word: by_hand.analogy(a, b, c, 1, by_hand.word(word)).rank_without for word in ("girl", "son", "step")}
    assert ranks == {"girl": 1, "son": 2, "step": 4}
    assert by_hand.analogy(a, b, c, 1).rank_without is None


def test_the_baseline_is_that_of_all_pairs_of_words(by_hand: Vectors) -> None:
    """Six of the tokens are whole words: " " and "son" are not."""
    words = [by_hand.word(text).vector for text in ("man", "woman", "boy", "girl", "step", "go")]
    cosines = [float(functional.cosine_similarity(a, b, dim=0)) for a, b in itertools.combinations(words, 2)]
    baseline = by_hand.baseline()
    assert baseline is not None and baseline.words == 6 and baseline.mean == pytest.approx(sum(cosines) / 15, abs=1e-6)
    assert (baseline.low, baseline.high) == pytest.approx(np.quantile(cosines, (0.05, 0.95)), abs=1e-6)
    assert Vectors(MATRIX[:4], Words()).baseline() is None  # one word has no pair
    ordered = sorted(baseline.cosines.tolist())
    assert ordered == pytest.approx(sorted(cosines), abs=1e-6)
    for place in (0, 7, 14):  # of 15 pairs: the share of those at least as similar
        assert baseline.share_from(ordered[place]) == pytest.approx(sum(one >= ordered[place] for one in ordered) / 15)
    assert (baseline.share_from(1.1), baseline.share_from(-1.1)) == (0, 1)


def test_half_precision_is_read_in_chunks_like_the_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    torch.manual_seed(3)
    matrix = torch.randn(10, 64, dtype=torch.bfloat16)
    full = Vectors(matrix.float(), Words())
    monkeypatch.setattr(vectors, "_ROWS", 3)
    chunked = Vectors(matrix, Words())
    words = [chunked.word(word) for word in ("girl", "boy", "stepson")]
    assert {word.vector.dtype for word in words} == {torch.float32}
    for word, neighbours in zip(words, chunked.neighbours(words, 5), strict=True):
        (alone,) = full.neighbours([full.word(word.text)], 5)
        assert [neighbour.id for neighbour in neighbours] == [neighbour.id for neighbour in alone]
        for neighbour in neighbours:
            slow = sum(a * b for a, b in zip(word.vector.tolist(), matrix[neighbour.id].tolist(), strict=True))
            slow /= float(word.vector.norm()) * float(matrix[neighbour.id].float().norm())
            assert neighbour.cosine == pytest.approx(slow, abs=1e-6)


def test_the_plane_is_that_of_the_covariance_in_any_order_and_survives_equal_words() -> None:
    torch.manual_seed(5)
    rows = torch.randn(12, 7, dtype=torch.float64)
    plane = vectors.plane(list(rows))
    unit = rows / rows.norm(dim=1, keepdim=True)
    variances, components = torch.linalg.eigh(torch.cov(unit.T))  # lowest first
    assert plane.shares == pytest.approx([float(variances[-1 - i] / variances.sum()) for i in range(2)])
    for number, axis in enumerate(plane.axes):
        assert abs(float(axis @ components[:, -1 - number])) == pytest.approx(1.0)
        assert axis[axis.abs().argmax()] > 0
    expected = (unit - unit.mean(0)) @ plane.axes.T
    assert torch.allclose(plane.points(list(rows)), expected)
    back = vectors.plane([*rows][::-1])
    assert torch.allclose(plane.axes, back.axes) and plane.shares == pytest.approx(back.shares)
    same = vectors.plane([rows[0]] * 3)
    assert same.shares == pytest.approx((0.0, 0.0), abs=1.0)  # a share, whatever rounding left to share out
    assert same.points([rows[0]]).abs().max() < 1e-9


def test_a_checkpoint_of_others_is_read_where_it_runs_as_our_own(tmp_path: Path) -> None:
    folder = str(gpt2(tmp_path))
    native, adapted = catalog.load(folder), catalog.load(folder, "adapter")
    learned = Vectors.of(native)
    assert learned.size == (native.model.vocabulary_size, GPT2Config.from_pretrained(folder).n_embd)
    reference = GPT2LMHeadModel.from_pretrained(folder).transformer.wte.weight
    assert torch.equal(learned.of_token(7), reference[7].detach())
    with pytest.raises(AttendError, match=rf"^{tmp_path.name} runs through transformers, so .* choose a model"):
        Vectors.of(adapted)


@EMBEDDED
def test_what_our_models_have_learned() -> None:
    learned = {
        CHAT: ("mother father brother sister", "made make take took", "dogs dog cat cats", "first one three third"),
        TRANSLATE: ("made make take took", "their they we our"),
    }
    for name, analogies in learned.items():
        vectors_of = of_model(name)
        for analogy in analogies:
            a, b, c, expected = map(vectors_of.word, analogy.split())
            assert vectors_of.analogy(a, b, c, 1, expected).rank == 1, (name, analogy)


@EMBEDDED
def test_an_analogy_that_shows_something_needs_its_step() -> None:
    """What the chapter's buttons show: four of six need their step, and fewer of them before the mean is subtracted."""
    needed = {}
    for centred in (True, False):
        learned = of_model(CHAT, centred=centred)
        word = learned.word
        results = [learned.analogy(word(a), word(b), word(c), 1, word(d)) for a, b, c, d in ANALOGIES]
        assert {result.rank for result in results} == {1}
        needed[centred] = [result.rank_without != 1 for result in results]
    assert needed == {True: [True] * 4 + [False] * 2, False: [False] + [True] * 3 + [False] * 2}


@EMBEDDED
def test_our_chat_model_knows_no_queens() -> None:
    """The famous analogy needs a model that has read of kings; this one has read small talk."""
    learned = of_model(CHAT)
    queen = learned.word("queen")
    assert len(queen.ids) > 1
    a, b, c = map(learned.word, ("woman", "man", "king"))
    analogy = learned.analogy(a, b, c, 10, queen)
    assert analogy.rank is None and " queen" not in [neighbour.text for neighbour in analogy.nearest]


def test_centred_vectors_are_compared_minus_the_mean_of_all() -> None:
    torch.manual_seed(4)
    matrix = torch.randn(10, 16) + 3  # a direction that all share
    centred, plain = Vectors(matrix, Words(), centred=True), Vectors(matrix, Words())
    rows = matrix - matrix.mean(0)
    word = centred.word("woman")
    assert torch.allclose(word.vector, rows[word.ids[0]], atol=1e-5)
    for neighbour in centred.neighbours([word], 5)[0]:
        expected = functional.cosine_similarity(rows[word.ids[0]], rows[neighbour.id], dim=0)
        assert neighbour.cosine == pytest.approx(float(expected), abs=1e-5)
    means = [baseline.mean for vectors in (plain, centred) if (baseline := vectors.baseline())]
    assert means[0] > 0.8 and abs(means[1]) < 0.3


@EMBEDDED
def test_a_rare_word_looks_like_any_other_until_the_mean_is_subtracted() -> None:
    """The pairs that a reader of the course found: raw, king–House is as alike as dog–cat; centred, it isn't."""
    plain, centred = (of_model(CHAT, centred=centred) for centred in (False, True))

    def cosine(vectors_of: Vectors, one: str, other: str) -> float:
        return float(functional.cosine_similarity(vectors_of.word(one).vector, vectors_of.word(other).vector, dim=0))

    assert cosine(plain, "king", "House") == pytest.approx(cosine(plain, "dog", "cat"), abs=0.05)
    assert cosine(centred, "king", "House") < cosine(centred, "dog", "cat") / 2
    quarters = plain.quarters()
    assert quarters == sorted(quarters) and quarters[-1] > 2 * quarters[0]
