"""The loop, the filters of one step and the search in a tree: lectures' numbers, and decoding's own results.

The numbers cited as REFERENCE are those of ../shared/REFERENCE.md, "Sampling, by hand".
"""

from __future__ import annotations

import math
import random
from collections.abc import Mapping, Sequence

import pytest
import torch

from decoding.generate import generate
from decoding.request import Request
from decoding.settings import DecodingSettings
from decoding.step import Choice
from lesson.generation.filters import chain_of, filter_step
from lesson.generation.loop import LoopStart, run_loop
from lesson.generation.search import greedy_path, search_tree
from lesson.generation.tree import DEPTH, END, ROOT, WORDS, TokenPath, TreeModel, WordTree, children
from model.errors import AttendError
from model.loaded import LoadedModel
from tests.helpers.tiny import make_request, random_model
from ui.learn.chapters.generation import LOGITS, USED
from ui.learn.chapters.views.filters import VOCABULARY

NONE_USED = [0] * len(VOCABULARY)


# ---- the settings of one step ----


def after(used: Sequence[int] = NONE_USED, **filters: float) -> Mapping[str, float]:
    """Each word's probability after all filters."""
    record = filter_step(torch.tensor(LOGITS), used, filters)
    return {VOCABULARY[one.id]: one.probabilities[-1] for one in record.candidates}


def test_temperature_is_that_of_the_book() -> None:
    for temperature, expected in (  # REFERENCE
        (1.0, {"forward": 0.572120, "toward": 0.357576, "closer": 0.060907}),
        (0.1, {"forward": 0.990987, "toward": 0.009013}),
        (5.0, {"forward": 0.242052}),
    ):
        probabilities = after(temperature=temperature)
        assert {word: probabilities[word] for word in expected} == pytest.approx(expected, abs=1e-6)
        assert sum(probabilities.values()) == pytest.approx(1)


def test_top_k_and_top_p_are_those_of_the_book() -> None:
    left = after(top_k=3)  # REFERENCE
    kept = {"closer": 0.061485, "forward": 0.577547, "toward": 0.360968}
    assert {word: p for word, p in left.items() if p} == pytest.approx(kept, abs=1e-6)
    nucleus = after(top_p=0.9)
    assert {word for word, p in nucleus.items() if p} == {"forward", "toward"}  # REFERENCE: p = .9 keeps 2


def test_penalties_subtract_once_or_for_every_use() -> None:
    """forward was used twice, toward once: 6.75 - 2 * 0.5 - 0.3 and 6.28 - 0.5 - 0.3, and closer stays at 4.51."""
    left = after(USED, frequency_penalty=0.5, presence_penalty=0.3)
    assert left["forward"] / left["closer"] == pytest.approx(math.exp(6.75 - 1.3 - 4.51), rel=1e-5)
    assert left["toward"] / left["closer"] == pytest.approx(math.exp(6.28 - 0.8 - 4.51), rel=1e-5)
    assert after(frequency_penalty=2, presence_penalty=2) == pytest.approx(after())  # nothing was used


def test_the_chain_is_the_one_that_decoding_builds() -> None:
    rng = random.Random(3)
    request = make_request(vocabulary_size=len(VOCABULARY))
    for _ in range(40):
        settings = {
            "temperature": rng.choice([1.0, 0.3, 2.0]),
            "top_k": rng.choice([0, 2, 9]),
            "top_p": rng.choice([1.0, 0.7]),
            "frequency_penalty": rng.choice([0.0, -0.5, 1.0]),
            "presence_penalty": rng.choice([0.0, 0.4]),
        }
        assert chain_of(settings) == DecodingSettings(seed=1, **settings).options(request).processors


# ---- the loop ----


@pytest.mark.parametrize("sample", [False, True])
def test_step_by_step_the_text_is_that_of_a_whole_run(sample: bool) -> None:
    start = LoopStart(random_model(20, seed=4), (3, 5), frozenset({7}))
    whole = run_loop(start, [], most=30, sample=sample, seed=11, to_end=True)
    tokens: list[int] = []
    while (state := run_loop(start, tokens, most=30, sample=sample, seed=11)).next is not None:
        tokens.append(state.next.token)
    assert state == whole
    request = Request.of_model(start.model, (3, 5), end_tokens={7})
    settings = DecodingSettings(strategy="sample" if sample else "greedy", seed=11, max_new_tokens=30)
    *_, last = generate(start.model, (3, 5), settings.strategy_for(request))
    assert last.best is not None and list(last.best.tokens) == tokens
    assert whole.ended == ("end token" if tokens[-1] == 7 else "length")


def test_the_end_token_has_a_probability_at_every_step(tiny: LoadedModel) -> None:
    prompt = tiny.prompt("Once upon a time")
    (end,) = tiny.end_tokens
    state = run_loop(LoopStart(tiny.model, prompt, tiny.end_tokens), [5, 6], most=10, sample=False, seed=0)
    expected = tiny.model.inspect((*prompt, 5, 6)).logits[len(prompt) - 1 :].double().softmax(dim=-1)  # (3, V)
    assert [written.probability for written in state.written] == pytest.approx(expected[[0, 1], [5, 6]].tolist())
    ends = [*(written.end_probability for written in state.written), sum(state.next_ends.values())]
    assert ends == pytest.approx(expected[:, end].tolist())
    assert state.next is not None and state.next.token == int(expected[2].argmax())


def test_a_text_ends_by_its_end_token_or_its_length() -> None:
    start = LoopStart(TreeModel(WordTree()), (ROOT,), frozenset({END}))
    finished = run_loop(start, [], most=10, sample=False, seed=0, to_end=True)
    assert ([WORDS[one.token] for one in finished.written[:-1]], finished.ended) == (["nice", "woman"], "end token")
    assert [one.probability for one in finished.written] == pytest.approx([0.5, 0.4, 1])
    assert [one.end_probability for one in finished.written] == [0, 0, 1]
    cut = run_loop(start, [], most=1, sample=False, seed=0, to_end=True)
    assert (len(cut.written), cut.ended, cut.next, cut.next_ends) == (1, "length", None, {})
    assert run_loop(start, [1], most=1, sample=False, seed=0) == cut
    with pytest.raises(AttendError, match="after its end token"):
        run_loop(start, [END, 1], most=10, sample=False, seed=0)


# ---- the tree ----


def spelled(path: TokenPath) -> str:
    return " ".join(WORDS[token] for token in path)


def test_greedy_loses_to_two_beams() -> None:
    """REFERENCE: greedy "nice woman" .20, two beams "dog has" .36."""
    tree = WordTree()
    greedy, search = greedy_path(tree), search_tree(tree, 2)
    assert (spelled(greedy), spelled(search.result)) == ("nice woman", "dog has")
    assert (tree.probability(greedy), tree.probability(search.result)) == pytest.approx((0.20, 0.36))
    assert [[spelled(path) for path in kept] for kept in search.kept] == [["nice", "dog"], ["dog has", "nice woman"]]
    outcomes = {spelled(path): outcome for path, outcome in search.outcomes.items()}
    assert [outcomes[text] for text in ("dog", "dog has", "nice", "nice woman")] == ["found", "found", "kept", "kept"]
    assert [outcomes[text] for text in ("car", "nice guy", "dog runs", "car drives")] == [
        *("dropped", "dropped", "dropped"),
        "unseen",
    ]


def random_tree(rng: random.Random) -> WordTree:
    return WordTree(tuple(tuple(rng.random() for _ in range(3)) for _ in range(4)))


def test_one_beam_is_greedy_and_three_look_at_everything() -> None:
    rng = random.Random(5)
    worse = 0
    for _ in range(50):
        tree = random_tree(rng)
        assert search_tree(tree, 1).result == greedy_path(tree)
        assert search_tree(tree, 3).result == tree.most_probable()
        best = [tree.probability(search_tree(tree, beams).result) for beams in (1, 2, 3)]
        assert best == sorted(best)
        worse += best[0] < best[2]
    assert 5 < worse < 45  # neither always nor never


def test_the_tree_is_a_language_model() -> None:
    tree = WordTree(((0.2, 0.2, 0.0), (1, 1, 1), (0.9, 0.05, 0.05), (0.5, 0.3, 0.2)))
    model = TreeModel(tree)
    forward = model.prefill((ROOT,))
    assert forward.logits.exp()[0, 1:4].tolist() == pytest.approx([0.5, 0.5, 0])
    both = model.step((1, 5), forward.cache.select([0, 0]).join(forward.cache).select([2, 0]))
    assert both.cache.rows == 2
    assert both.logits.exp()[0, list(children(1))].tolist() == pytest.approx([1 / 3] * 3)
    assert both.logits.exp()[1, END] == 1
    scored = model.logits((ROOT,), (1, 4, END)).exp()
    assert [scored[row, token].item() for row, token in enumerate((1, 4, END))] == pytest.approx([0.5, 1 / 3, 1])
    assert [len(path) for path in tree.paths()].count(DEPTH) == 9
    with pytest.raises(AttendError, match="no attention"):
        model.inspect((ROOT,))


@pytest.mark.parametrize(
    ("row", "message"), [((0.5, -0.1, 0), "after “nice” is -0.1"), ((0, 2, 0), "is 2, but"), ((0, 0, 0), "are 0")]
)
def test_what_no_probabilities_can_be_is_refused(row: tuple[float, ...], message: str) -> None:
    with pytest.raises(AttendError, match=message):
        WordTree((WordTree().weights[0], row, *WordTree().weights[2:]))


def test_a_step_records_every_word_and_stage() -> None:
    record: Choice = filter_step(torch.tensor(LOGITS), USED, {"temperature": 2, "top_k": 2, "frequency_penalty": 1})
    assert record.stages == ("model", "frequency_penalty", "temperature", "top_k")
    assert (len(record.candidates), record.kept) == (9, (9, 9, 9, 2))
