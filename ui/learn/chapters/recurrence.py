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
from ui.learn.inputs import Given, matrix, text
from ui.learn.text.slots import drawing
from ui.learn.wording import counted, dot_terms, rounded, rounded_rows, short, vector
from ui.runs.models import Models

WIDTH = 4  # of the drawn network's state
MAX_WORDS = 8  # on each side of it
MAX_CHARACTERS, MAX_SOURCE, MAX_TOKENS = 200, 40, 60  # of a sentence, and of its translation
SENTENCES = (  # on which the GRUs differ
    "Où est la gare ?",
    "Nous avons besoin de plus de temps pour finir ce travail.",
    "Tom a dit à Marie qu’il ne pouvait pas venir à la fête parce qu’il devait travailler.",
)
TITLES = {WITHOUT_ATTENTION: "GRU", WITH_ATTENTION: "GRU with attention", VOCABULARY_OF: VOCABULARY_OF}
SUBJECTS = {"source": "The encoder's text", "target": "The decoder's text", "sentence": "The French sentence"}
TABLES = {
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
}
_FIRST = {"source": "je suis étudiant", "target": "I am a student", "sentence": SENTENCES[0]}
INPUTS = {
    **{name: text(first, MAX_CHARACTERS, SUBJECTS[name], wide=True) for name, first in _FIRST.items()},
    **{name: matrix(first) for name, first in TABLES.items()},
}
_kept: dict[tuple[str, str], Mapping[str, Any]] = {}  # translations of those, by a translator's name and the sentence


def compute(models: Models, given: Given) -> dict[str, Any]:
    source, target = _words(given, "source"), _words(given, "target")
    sentence = given["sentence"].strip()
    return {
        "source": " ".join(source),
        "target": " ".join(target),
        "sentence": sentence,
        "words": [*source, *target],
        "read": len(source),
        "steps": [_step(step) for step in read_and_write(source, target, WIDTH)],
        **_by_hand({name: given[name] for name in TABLES}),
        "translations": _translations(models, sentence),
        "sentences": [(one, {"sentence": one}) for one in SENTENCES],
        **_recorded(),
    }


def _words(given: Given, name: str) -> list[str]:
    words = given[name].split()
    if len(words) > MAX_WORDS:
        count = counted(len(words), "word")
        raise AttendError(f"{SUBJECTS[name]} has {count}, but may have at most {MAX_WORDS}: shorten it.")
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
    translation, label = translate(loaded, sentence, MAX_TOKENS), loaded.tokenizer.label
    translation = {
        "name": name,
        "title": TITLES[name],
        "text": translation.text,
        "complete": translation.complete,
        "source": [label(token) for token in translation.source],
        "tokens": [label(token) for token in translation.tokens],
        "alignment": None if translation.alignment is None else rounded_rows(translation.alignment),
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


def _passed_on(compute: Compute) -> list[bool]:
    result = compute({"source": "les deux petites filles ont mangé une pomme"})
    last_state = result["steps"][result["read"] - 1][-1]
    return [len(last_state) == option for option in (4, 8, 32)]


CHAPTER = Chapter(
    compute,
    INPUTS,
    values="score_sum weights context_sum dot.scores dot.weights dot.context additive.scores additive.weights "
    "additive.context sentences middle kept longest metric measured command",
    slots={"translations": drawing(*TITLES, "cut off")},
    exercises={
        "passed_on": ChoiceExercise(_passed_on, 3),
        "dot_product": NumberExercise(lambda compute: compute({"pair": [[0.5, 0.4], [0.6, 0.9]]})["score"], digits=2),
        "half_of_the_weight": ChangeExercise(
            lambda result: result["weights"][0][0] > 0.5,
            {"scores": [[3.0, 1.4950, 1.4754, 0.8434, 0.7070, 1.0865]]},
        ),
    },
)
