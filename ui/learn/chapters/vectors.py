"""The chapter on word vectors: what `lesson/vectors.py` reads in a model."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import torch

from lesson import vectors
from lesson.linear import linear_layer, shares, similarity
from lesson.vectors import Baseline, Neighbour, Vectors, Word
from model import names
from model.encoder import cosines
from model.errors import AttendError
from ui.learn.chapter import Chapter
from ui.learn.exercises.exercise import ChangeExercise, ChoiceExercise, Compute, NumberExercise, Result
from ui.learn.inputs import Inputs, checked_by_chapter, choice, matrix, offered, switch, text, whole
from ui.learn.text.slots import cases, field, presets, select
from ui.learn.wording import counted, decimals, dot_terms, percent, rounded, sent, short, vector
from ui.runs.models import Models

ANALOGIES = (
    ("going", "go", "come", "coming"),
    ("these", "this", "that", "those"),
    ("his", "he", "they", "their"),
    ("two", "first", "third", "three"),
    ("mother", "father", "brother", "sister"),
    ("bad", "good", "hot", "cold"),
)
PAIRS = (("dog", "cat"), ("mother", "father"), ("Monday", "Tuesday"), ("king", "House"), ("dog", "table"))
GUESSES = ("dogs", "cat", "animal", "house")  # of the prediction: what is nearest to "dog"
LISTS = {
    "Four families": "Monday Tuesday Wednesday Sunday, mother father sister brother, red blue green yellow, "
    "football baseball hockey",
    "Present and past": "is was, are were, go went, have had, do did, say said, see saw, know knew, think thought",
    "Who": "he she his her him they them their, mother father sister brother, boy girl man woman",
    "How many": "one two three four five six ten, first second third, some many several few, once twice",
}
NEAREST, ANSWERS = 8, 5  # that are shown
MAX_LETTERS, MAX_LIST = 40, 500  # characters of a word and of the list
MIN, MAX = 3, 24  # words of the list
_FIELDS = ("a", "b", "c", "expected")
_FIRST = dict(zip(_FIELDS, ANALOGIES[0], strict=True))
_LOOK: Mapping[str, Any] = {"live": True, "size": 9, "bare": True}
_BY_HAND = {
    "two_vectors": matrix([[3, 1], [2, 4]]),
    "x": matrix([[1, 2]]),
    "weights": matrix([[1, 0], [2, -1]]),
    "bias": matrix([[0, 1]]),
    "three_scores": matrix([[2, 1, -1]]),
}
INPUTS = {
    "model": checked_by_chapter(slot=select("models")),
    "centred": switch(subject="Subtract the mean vector", first=True),
    "word": text("dog", MAX_LETTERS, live=True, size=14),  # whose neighbours are listed
    "a": text(_FIRST["a"], MAX_LETTERS, "The first word", **_LOOK),  # the analogy a - b + c
    "b": text(_FIRST["b"], MAX_LETTERS, "The field “Minus”", **_LOOK),
    "c": text(_FIRST["c"], MAX_LETTERS, "The field “Plus”", **_LOOK),
    "expected": checked_by_chapter(_FIRST["expected"], field(**_LOOK)),  # may be empty
    "words": text(LISTS["Four families"], MAX_LIST, "The list", rows=2, live=True, bare=True),
    "around": whole(1, 0, 3),  # neighbours of each on the map
    **_BY_HAND,
}


def compute(models: Models, inputs: Inputs) -> dict[str, Any]:
    readable = offered(models, *models.in_memory())  # whose vectors can be read without a download
    name = choice(readable[0], readable).read(inputs, "model")
    both = {centred: Vectors.of(models.get(name), centred=centred) for centred in (False, True)}
    baselines = {centred: vectors.baseline() for centred, vectors in both.items()}
    learned, baseline = both[inputs["centred"]], baselines[inputs["centred"]]
    word = learned.word(inputs["word"].strip())
    result = {
        "model": name,
        "models": [(name, models.display_name(name)) for name in readable],
        "size": learned.size,
        "tokens": f"{learned.size[0]:,}",
        "numbers": f"{learned.size[1]}",
        "learned_from": [] if name != "attend-translate" else name,
        "chance": [] if baseline is None else "measured",
        "nearest": _bars(learned.neighbours([word], NEAREST)[0], baseline),
        "word_cut": _cut([word]),
        "word_pieces": _pieces([word]),
        "yardsticks": _yardsticks(both, baselines),
        "rare": [],
        "controls": [_control(learned, analogy) for analogy in ANALOGIES],
        **_analogy(learned, inputs),
        **_list(learned, inputs),
        **_by_hand(inputs),
    }
    if name in names.embedded():  # their ids run from frequent tokens to rare ones
        first, *_, last = both[False].quarters()
        result |= {"rare": "measured", "frequent_cosine": decimals(first), "rare_cosine": decimals(last)}
    if baseline is not None:
        shares = {f"chance.{key}": decimals(getattr(baseline, key)) for key in ("mean", "low", "high")}
        result |= {"chance.words": f"{baseline.words:,}", **shares}
    return result


def _by_hand(inputs: Inputs) -> dict[str, Any]:
    """A cosine, a linear layer, softmax and sigmoid."""
    tensors = {name: torch.tensor(inputs[name], dtype=torch.double) for name in _BY_HAND}
    one, other = inputs["two_vectors"]
    compared = similarity(*tensors["two_vectors"])
    y = linear_layer(tensors["x"], tensors["weights"], tensors["bias"][0])
    scored = shares(tensors["three_scores"][0])
    (x,), (bias,), columns = inputs["x"], inputs["bias"], list(zip(*inputs["weights"], strict=True))
    sums = [f"{dot_terms(x, column)} + {short(b)}" for column, b in zip(columns, bias, strict=True)]
    lead = inputs["three_scores"][0][0] - inputs["three_scores"][0][1]
    return {
        "cosine_by_hand": None if compared.cosine is None else rounded(compared.cosine),
        "product_sum": f"{vector(one)} · {vector(other)} = {dot_terms(one, other)} = {short(compared.product)}",
        "cosine_sum": f"{short(compared.product)} / ({short(compared.lengths[0])} · {short(compared.lengths[1])}) = "
        f"{decimals(compared.cosine)}"
        if compared.cosine is not None
        else "undefined: a vector of zeros has no direction",
        "product": rounded(compared.product),
        "lengths": sent(compared.lengths),
        "y": sent(y),
        "layer_sum": "; ".join(f"{total} = {short(number)}" for total, number in zip(sums, y[0].tolist(), strict=True)),
        "scored": {"powers": sent(scored.powers[None]), "shares": sent(scored.shares[None])},
        "lead": short(lead),
        "sigmoid": decimals(scored.sigmoid),
    }


def _yardsticks(both: Mapping[bool, Vectors], baselines: Mapping[bool, Baseline | None]) -> list[list[str]]:
    """Some pairs of words with both yardsticks: their cosine, and the share of random pairs that are as similar."""
    rows = []
    for pair in PAIRS:
        row = [" – ".join(pair)]
        for centred, learned in both.items():
            baseline, (one, other) = baselines[centred], (learned.word(word) for word in pair)
            if baseline is None or len(one.ids) + len(other.ids) > 2:
                break
            cosine = float(cosines([one.vector, other.vector])[0, 1])
            row += [decimals(cosine), percent(baseline.share_from(cosine), 1)]
        else:
            rows.append(row)
    return rows


def _control(learned: Vectors, analogy: Sequence[str]) -> list[str]:
    """An analogy of the buttons, with its control: the rank of the expected word with the step, and without it."""
    a, b, c, expected = map(learned.word, analogy)
    result = learned.analogy(a, b, c, 1, expected)
    rank, alone = result.rank, result.rank_without
    verdict = ""
    if rank and alone:
        verdict = "the step helps" if rank < alone else "the step makes it worse" if rank > alone else "shows nothing"
    places = [f"{place:,}" if place else "–" for place in (rank, alone)]
    return ["{} − {} + {}".format(*analogy), analogy[3], *places, verdict]


def _analogy(learned: Vectors, inputs: Inputs) -> dict[str, Any]:
    words = a, b, c = [learned.word(inputs[name].strip()) for name in "abc"]
    typed = INPUTS["expected"].read(inputs, "expected")
    expected = None if typed == "" else learned.word(text(typed, MAX_LETTERS).read({}, "expected").strip())
    analogy = learned.analogy(a, b, c, ANSWERS, expected)
    return {
        "expected": typed,
        "analogy": {"words": [word.text for word in words], "rank": analogy.rank, "rank_without": analogy.rank_without},
        "sum": "{} − {} + {}".format(*(word.text for word in words)),
        "verdict": _verdict(expected, analogy.nearest, analogy.rank, analogy.rank_without),
        "analogy_first": {"token": analogy.nearest[0].text} if analogy.nearest else None,
        "third": words[2].text,
        "expected_word": expected.text if expected else None,
        "rank": f"{analogy.rank or 0:,}",
        "rank_alone": f"{analogy.rank_without or 0:,}",
        "analogy_cut": _cut(words),
        "analogy_pieces": _pieces(words),
        "analogy_nearest": _bars(analogy.nearest, None),
    }


def _verdict(expected: Word | None, nearest: Sequence[Neighbour], rank: int | None, alone: int | None) -> list[str]:
    """Whether the analogy works, and whether it is the step that makes it work."""
    if not nearest:
        return ["nothing"]
    if expected is None:
        return ["nearest"]
    if rank == 1:
        return ["expected", "by itself" if alone == 1 else "by the step"]
    if rank:
        return ["elsewhere", "made worse" if alone and alone < rank else "seldom"]
    return ["not a token" if len(expected.pieces) > 1 else "one of three", "seldom"]


def _list(learned: Vectors, inputs: Inputs) -> dict[str, Any]:
    """The words of the list: how alike they are, and where they lie on their plane, each with its neighbours."""
    words = [learned.word(word) for word in _words(inputs["words"])]
    plane = vectors.plane([word.vector for word in words])
    near = [(number, token) for number, few in enumerate(learned.neighbours(words, inputs["around"])) for token in few]
    word_tokens = {token for word in words if len(word.ids) == 1 for token in word.ids}
    near.reverse()  # so that a token which several words have near stays with the first of them
    beside = {token.id: (number, token) for number, token in near if token.id not in word_tokens}
    points = sent(plane.points([*(word.vector for word in words), *map(learned.of_token, beside)]))
    neighbours = zip(beside.values(), points[len(words) :], strict=True)
    return {
        "listed": [word.text for word in words],
        "words_cut": _cut(words),
        "words_pieces": _pieces(words),
        "cosines": sent(cosines([word.vector for word in words])),
        "points": points[: len(words)],
        "neighbours": [{"text": token.text, "of": number, "point": point} for (number, token), point in neighbours],
        "share_across": percent(plane.shares[0], 0),
        "share_up": percent(plane.shares[1], 0),
        "share_unseen": percent(max(0, 1 - sum(plane.shares)), 0),
    }


def _words(listed: str) -> list[str]:
    words = list(dict.fromkeys(word for word in re.split(r"[\s,;]+", listed) if word))
    if not MIN <= len(words) <= MAX:
        raise AttendError(f"The list has {counted(len(words), 'different word')}: enter {MIN} to {MAX}.")
    if long := next((word for word in words if len(word) > MAX_LETTERS), None):
        raise AttendError(f"The list has a word of {len(long)} letters, but the limit is {MAX_LETTERS}: shorten it.")
    return words


def _cut(words: Sequence[Word]) -> list[str]:
    return ["averaged"] if any(len(word.pieces) > 1 for word in words) else []


def _pieces(words: Sequence[Word]) -> str:
    """The words that are more than one token."""
    cut = [word for word in words if len(word.pieces) > 1]
    return "; ".join(f"{word.text} = {' + '.join(piece.strip() or piece for piece in word.pieces)}" for word in cut)


def _bars(neighbours: Sequence[Neighbour], baseline: Baseline | None) -> list[tuple[Any, ...]]:
    """Each token with its cosine and the share of random pairs that are as similar."""
    return [
        (
            {"token": token.text},
            {"bar": rounded(max(0, token.cosine)), "text": decimals(token.cosine)},
            percent(baseline.share_from(token.cosine), 1) if baseline else "",
        )
        for token in neighbours
    ]


_ON_BUTTONS = [words[0] for words in ANALOGIES]


def _similarities_to_dog(compute: Compute) -> list[float]:
    return compute({"words": " ".join(("dog", *GUESSES))})["cosines"][0][1:]


def _cosine_of(compute: Compute) -> Result:
    return compute({"two_vectors": [[3, 4], [4, 3]]})


def _layer(compute: Compute, **inputs: Any) -> float:
    """The second number that comes out of the linear layer of the exercise."""
    return compute({"x": [[2, 1]], "weights": [[1, 3], [-1, 2]], "bias": [[0, -4]], **inputs})["y"][0][1]


CHAPTER = Chapter(
    compute,
    INPUTS,
    values="product_sum cosine_sum layer_sum y "
    "scored.powers scored.shares lead sigmoid yardsticks controls frequent_cosine rare_cosine "
    "tokens numbers chance.words chance.mean chance.low chance.high nearest listed cosines "
    "share_across share_up share_unseen "
    "sum analogy_first third rank_alone expected_word rank analogy_nearest word_pieces analogy_pieces words_pieces",
    slots={
        "learned_from": cases("attend-translate"),
        "chance": cases("measured"),
        "rare": cases("measured"),
        "analogies": presets(
            {"{} − {} + {}".format(*words): dict(zip(_FIELDS, words, strict=True)) for words in ANALOGIES}
        ),
        "verdict": cases(
            *("nothing", "nearest", "expected", "by itself", "by the step"),
            *("elsewhere", "made worse", "not a token", "one of three", "seldom"),
        ),
        "lists": presets({name: {"words": words} for name, words in LISTS.items()}),
        **{f"{name}_cut": cases("averaged") for name in ("word", "analogy", "words")},
    },
    exercises={
        "cosine": NumberExercise(
            lambda compute: _cosine_of(compute)["cosine_by_hand"],
            digits=2,
            mistakes={
                "product": lambda compute: _cosine_of(compute)["product"],
                "one_length": lambda compute: _cosine_of(compute)["product"] / _cosine_of(compute)["lengths"][0],
            },
        ),
        "layer": NumberExercise(
            _layer,
            mistakes={
                "no_bias": lambda compute: _layer(compute, bias=[[0, 0]]),
                "rows": lambda compute: _layer(compute, weights=[[1, -1], [3, 2]]),
                "other_column": lambda compute: _layer(compute, weights=[[3, 1], [2, -1]], bias=[[-4, 0]]),
            },
        ),
        "nearest_of_dog": ChoiceExercise(_similarities_to_dog, len(GUESSES), predicted=True),
        "needs_its_step": ChangeExercise(
            [
                ("analogy.words.0", "not in", _ON_BUTTONS),
                ("analogy.rank", "==", 1),
                ("analogy.rank_without", ">", 1),
            ],
            {"a": "playing", "b": "play", "c": "eat", "expected": "eating"},
            {
                "a_button": [("analogy.words.0", "in", _ON_BUTTONS)],
                "by_itself": [("analogy.rank", "==", 1), ("analogy.rank_without", "==", 1)],
                "not_first": [("analogy.rank", ">", 1)],
            },
        ),
    },
)
