"""The chapter on why attention was needed, which `lesson/recurrence/` computes."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

import torch

from lesson.attention import by_softmax
from lesson.recurrence.by_hand import GruStep, ScoredStates, by_dot_product, by_small_network, read_and_write
from lesson.recurrence.translation import (
    RECURRENT,
    VOCABULARY_OF,
    WITH_ATTENTION,
    WITHOUT_ATTENTION,
    recurrent_translator,
    translate,
)
from model.errors import AttendError
from model.loaded import LoadedModel
from model.transformer.checkpoint import read_json
from ui.learn.chapter import Chapter
from ui.learn.exercises.exercise import ChangeExercise, ChoiceExercise, Compute, NumberExercise
from ui.learn.text.slots import DRAWING, EXAMPLES, RESET, TEXT, drawing, line, numbers, table
from ui.learn.validation import Given, counted, dot_terms, matrix, rounded, rounded_rows, short, text, vector
from ui.runs.models import Models

WIDTH = 4  # of the drawn network's state
MAX_WORDS = 8  # on each side of it
MAX_CHARACTERS, MAX_SOURCE, MAX_TOKENS = 200, 40, 60  # of a sentence, and of its translation
FIRST: Mapping[str, Any] = {
    "source": "je suis étudiant",
    "target": "I am a student",
    # from lectures (../shared/REFERENCE.md, "Attention, by hand"): a score of .62, six scores, 0.7 × (0.8, 0.2)
    "pair": [[0.8, 0.2], [0.7, 0.3]],
    "scores": [[0.9544, 1.4950, 1.4754, 0.8434, 0.7070, 1.0865]],
    "weighted": [[0.7, 0.8, 0.2], [0.3, 0.1, 0.9]],
    # the lecture's two vectors, and others beside them
    "query": [[0.8, 0.2]],
    "states": [[0.7, 0.3], [0.1, 0.9], [0.9, 0.6]],
    "query_weights": [[1.0, 0.0], [0.0, 1.0]],
    "state_weights": [[1.0, 0.0], [0.0, 1.0]],
    "score_weights": [[1.0, 1.0]],
    "sentence": "Où est la gare ?",
}
SENTENCES = (  # on which the GRUs differ
    "Où est la gare ?",
    "Nous avons besoin de plus de temps pour finir ce travail.",
    "Tom a dit à Marie qu’il ne pouvait pas venir à la fête parce qu’il devait travailler.",
)
TITLES = {WITHOUT_ATTENTION: "GRU", WITH_ATTENTION: "GRU with attention", VOCABULARY_OF: VOCABULARY_OF}
NUMBERS = ("pair", "scores", "weighted", "query", "states", "query_weights", "state_weights", "score_weights")
_kept: dict[tuple[str, str], Mapping[str, Any]] = {}  # translations of those, by a translator's name and the sentence


def answer(models: Models, given: Given) -> dict[str, Any]:
    """
    Args:
        given: any of the keys of `FIRST`.
    """
    tables = {name: matrix(given, name, FIRST[name]) for name in NUMBERS}
    source, target = _words(given, "source"), _words(given, "target")
    sentence = text(given, "sentence", FIRST["sentence"], MAX_CHARACTERS, "The French sentence").strip()
    return {
        "given": {"source": " ".join(source), "target": " ".join(target), "sentence": sentence, **tables},
        "words": [*source, *target],
        "read": len(source),
        "steps": [_step(step) for step in read_and_write(source, target, WIDTH)],
        **_by_hand(tables),
        "translations": _translations(models, sentence),
        "sentences": [(one, {"sentence": one}) for one in SENTENCES],
        **_recorded(),
    }


def _words(given: Given, name: str) -> list[str]:
    subject = {"source": "The encoder's text", "target": "The decoder's text"}[name]
    words = text(given, name, FIRST[name], MAX_CHARACTERS, subject).split()
    if len(words) > MAX_WORDS:
        raise AttendError(f"{subject} has {counted(len(words), 'word')}, but may have at most {MAX_WORDS}: shorten it.")
    return words


def _step(step: GruStep) -> list[list[float | None]]:
    rows = (step.given, step.before, step.reset, step.update, step.candidate, step.after)
    return rounded_rows(torch.stack(rows))  # (6, W)


def _by_hand(tables: Mapping[str, list[list[float]]]) -> dict[str, Any]:
    values = {name: torch.tensor(rows, dtype=torch.float64) for name, rows in tables.items()}
    one, other = values["pair"]  # (2,) each
    scores, weighted = values["scores"][0], values["weighted"]  # (6,), (2, 3)
    products = weighted[:, :1] * weighted[:, 1:]  # (2, 2)
    context = products.sum(dim=0)  # (2,)
    query, states = values["query"][0], values["states"]  # (2,), (3, 2)
    learned = (values["query_weights"], values["state_weights"], values["score_weights"][0])
    score = float(one @ other)
    terms = " + ".join(f"{short(weight)} · {vector(state)}" for weight, *state in tables["weighted"])
    added = " + ".join(map(vector, products.tolist()))
    return {
        "score": rounded(score),
        "score_sum": f"{dot_terms(*tables['pair'])} = {short(score)}",
        "weights": rounded_rows(by_softmax(scores, scores[:, None]).weights[None]),
        "products": rounded_rows(products),
        "context": rounded_rows(context[None]),
        "context_sum": f"{terms} = {added} = {vector(context.tolist())}",
        "dot": _scored(by_dot_product(query, states)),
        "additive": _scored(by_small_network(query, states, *learned)),
    }


def _scored(scored: ScoredStates) -> dict[str, Any]:
    return {
        "scores": rounded_rows(scored.scores[None]),
        "weights": rounded_rows(scored.mixture.weights[None]),
        "context": rounded_rows(scored.mixture.vector[None]),
    }


def _translations(models: Models, sentence: str) -> list[Mapping[str, Any]]:
    """By both GRUs and, where the page offers it, by attend-translate."""
    translators = {name: recurrent_translator(name) for name in (WITHOUT_ATTENTION, WITH_ATTENTION)}
    if VOCABULARY_OF in models.names:
        translators[VOCABULARY_OF] = models.get(VOCABULARY_OF)
    tokens = len(translators[WITHOUT_ATTENTION].prompt(sentence))  # the vocabulary is the same for all
    if tokens > MAX_SOURCE:
        raise AttendError(f"The French sentence has {tokens} tokens, but the limit is {MAX_SOURCE}: shorten it.")
    return [_translation(name, loaded, sentence) for name, loaded in translators.items()]


def _translation(name: str, loaded: LoadedModel, sentence: str) -> Mapping[str, Any]:
    """The chapter's own sentences are translated once; what visitors type isn't kept."""
    if (name, sentence) in _kept:
        return _kept[name, sentence]
    found, label = translate(loaded, sentence, MAX_TOKENS), loaded.tokenizer.label
    translation = {
        "name": name,
        "title": TITLES[name],
        "text": found.text,
        "complete": found.complete,
        "source": [label(token) for token in found.source],
        "tokens": [label(token) for token in found.tokens],
        "alignment": None if found.alignment is None else rounded_rows(found.alignment),
    }
    if sentence in SENTENCES:
        _kept[name, sentence] = translation
    return translation


@cache
def _recorded() -> dict[str, Any]:
    """BLEU by sentence length, as `experiments.gru_translate` measured it."""
    recorded = read_json(RECURRENT / "bleu.json")
    sentences, bleu = recorded["sentences"], recorded["bleu"]
    lengths = [length for length in sentences if length != "all"]
    middle, longest = lengths[1], lengths[-1]
    kept = {name: round(100 * of[longest] / of[middle]) for name, of in bleu.items()}
    return {
        "recorded": recorded,
        "bars": [
            {
                "length": _length(length),
                "sentences": f"{sentences[length]:,}",
                "bleu": [(name, TITLES[name], of[length]) for name, of in bleu.items()],
            }
            for length in lengths
        ],
        "middle": _length(middle),
        "kept": ", ".join(f"{TITLES[name]} {share}\u00a0%" for name, share in kept.items()),
        "longest": f"{sentences[longest]}",
        "metric": recorded["metric"],
        "command": {"code": recorded["command"]},
        "measured": f"{sentences['all']:,}",
    }


def _length(length: str) -> str:
    """ "5-8" or "13+" in words."""
    return f"{length.replace('-', '–').replace('+', ' or more')} words"


def _passed_on(compute: Compute) -> int:
    result = compute({"source": "les deux petites filles ont mangé une pomme"})
    last_state = result["steps"][result["read"] - 1][-1]
    return ("4", "8", "32").index(str(len(last_state)))


_AXES, _STATES = ("1", "2"), ("h₁", "h₂", "h₃")
_SIX = tuple("123456")
CHAPTER = Chapter(
    answer,
    slots={
        "reset": RESET,
        "source": line(wide=True),
        "target": line(wide=True),
        "unrolled": DRAWING,
        "pair": numbers(("decoder", "encoder"), _AXES),
        "score_sum": TEXT,
        "scores": numbers(columns=_SIX),
        "weights": table(columns=_SIX, scale="share", digits=4),
        "weighted": numbers(("word 1", "word 2"), ("weight", *_AXES)),
        "context_sum": TEXT,
        "query": numbers(columns=_AXES),
        "states": numbers(_STATES, _AXES),
        "query_weights": numbers(_AXES, _AXES),
        "state_weights": numbers(_AXES, _AXES),
        "score_weights": numbers(columns=_AXES),
        **{f"{way}.scores": table(columns=_STATES, scale="plain", digits=3) for way in ("dot", "additive")},
        **{f"{way}.weights": table(columns=_STATES, scale="share", digits=3) for way in ("dot", "additive")},
        **{f"{way}.context": table(columns=_AXES, scale="plain", digits=3) for way in ("dot", "additive")},
        "sentence": line(wide=True),
        "sentences": EXAMPLES,
        "translations": drawing(*TITLES, "cut off"),
        "alignments": DRAWING,
        "bleu": DRAWING,
        **dict.fromkeys(("middle", "kept", "longest", "metric", "measured", "command"), TEXT),
    },
    exercises={
        "passed_on": ChoiceExercise(_passed_on, 3),
        "dot_product": NumberExercise(lambda compute: compute({"pair": [[0.5, 0.4], [0.6, 0.9]]})["score"], digits=2),
        "half_of_the_weight": ChangeExercise(
            lambda result: result["weights"][0][0] > 0.5,
            {"scores": [[3.0, 1.4950, 1.4754, 0.8434, 0.7070, 1.0865]]},
        ),
    },
    first=FIRST,
)
