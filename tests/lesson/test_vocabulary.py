"""Byte-pair vocabularies: the paper's example, and a slow implementation on one list of symbols."""

from __future__ import annotations

from collections import Counter

from hypothesis import given, settings
from hypothesis import strategies as st

from lesson import vocabulary
from lesson.vocabulary import END, Merge

PAPER = ["low"] * 5 + ["lower"] * 2 + ["newest"] * 6 + ["widest"] * 3
WORDS = st.lists(st.text("abcd", min_size=1, max_size=8), max_size=30)


def plainly(words: list[str], most: int) -> list[Merge]:
    """The same on all words behind each other, every one written out as often as it occurs."""
    text = [[*word, END] for word in sorted(words, key=words.index)]  # as they are first seen, as a counter keeps them
    merges: list[Merge] = []
    for _ in range(most):
        pairs = [(word[i], word[i + 1]) for word in text for i in range(len(word) - 1)]
        counts = {pair: pairs.count(pair) for pair in pairs}
        best = max(counts.values(), default=0)
        if best < 2:
            break
        pair = next(pair for pair in pairs if counts[pair] == best)
        merges.append(Merge(pair, best))
        for word in text:
            i = 0
            while i < len(word) - 1:
                if (word[i], word[i + 1]) == pair:
                    word[i : i + 2] = ["".join(pair)]
                i += 1
    return merges


def test_the_example_of_the_paper() -> None:
    """Sennrich et al., 2016, algorithm 1; the first pairs are 6 newest + 3 widest, then 5 low + 2 lower."""
    merges = vocabulary.learn(PAPER, 10)
    assert [(" ".join(merge.pair), merge.count) for merge in merges] == [
        ("e s", 9),
        ("es t", 9),
        (f"est {END}", 9),
        ("l o", 7),
        ("lo w", 7),
        ("n e", 6),
        ("ne w", 6),
        (f"new est{END}", 6),
        (f"low {END}", 5),
        ("w i", 3),
    ]
    first = vocabulary.pair_counts(Counter(map(vocabulary.spell, PAPER)))
    # w e: 2 in lower, 6 in newest; e r is in lower alone
    assert (first["e", "s"], first["w", "e"], first["l", "o"], first["e", "r"]) == (9, 8, 7, 2)


def test_a_new_word_is_cut_by_what_was_learned() -> None:
    merges = vocabulary.learn(PAPER, 5)
    assert vocabulary.segment("lowest", merges) == ("low", f"est{END}")  # in neither list of words
    assert vocabulary.segment("lowest", merges[:2]) == ("l", "o", "w", "est", END)
    assert vocabulary.segment("west", ()) == ("w", "e", "s", "t", END)
    assert vocabulary.symbols_of(PAPER, merges) == (
        *(END, *"lowernstid"),  # as first seen
        *("es", "est", f"est{END}", "lo", "low"),
    )


def test_it_ends_where_no_pair_occurs_twice_and_merges_letters_that_overlap_from_the_left() -> None:
    assert [merge.pair for merge in vocabulary.learn(["ab", "ab"], 200)] == [("a", "b"), ("ab", END)]
    assert vocabulary.learn(["ab", "cd"], 200) == vocabulary.learn([], 200) == ()
    assert vocabulary.apply_merge(("a", "a", "a", END), ("a", "a")) == ("aa", "a", END)


@given(WORDS, st.integers(0, 30))
@settings(max_examples=100, deadline=None)
def test_it_learns_what_the_plain_twin_learns(words: list[str], most: int) -> None:
    merges = vocabulary.learn(words, most)
    assert list(merges) == plainly(words, most)
    for word in words:
        assert "".join(vocabulary.segment(word, merges)) == word + END
        assert set(vocabulary.segment(word, merges)) <= set(vocabulary.symbols_of(words, merges))
    spellings = vocabulary.apply_merges(Counter(map(vocabulary.spell, words)), merges)
    assert spellings == Counter(vocabulary.segment(word, merges) for word in words)
