"""The chapter on why attention was needed: `lesson/why_attention.py` counts, `lesson/recurrence/` measures and shows."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any

import torch

from lesson.recurrence.by_hand import GruStep, read_and_write
from lesson.recurrence.reach import changes, gradient_by_distance, time_reading, untrained
from lesson.recurrence.translation import (
    RECURRENT,
    VOCABULARY_OF,
    WITH_ATTENTION,
    WITHOUT_ATTENTION,
    recurrent_translator,
    translate,
)
from lesson.why_attention import LayerCost, layer_costs, meetings
from model.errors import AttendError
from model.loaded import LoadedModel
from model.recurrent.network import RecurrentConfig
from model.transformer.checkpoint import read_json
from model.transformer.encoder_decoder import EncoderDecoder
from ui.learn.chapter import Chapter
from ui.learn.exercises.exercise import ChangeExercise, ChoiceExercise, Compute, NumberExercise
from ui.learn.inputs import Given, switch, text, whole
from ui.learn.text.slots import button, drawing
from ui.learn.wording import counted, decimals, rounded, rounded_rows
from ui.runs.models import Models

WIDTH = 4  # of the drawn network's state
MAX_WORDS = 8  # on each side of it
MAX_CHARACTERS, MAX_SOURCE, MAX_TOKENS = 200, 40, 60  # of a sentence, and of its translation
LENGTHS = (8, 32, 120)  # tokens of the texts that are timed
NEIGHBOURS = 16  # words that a word sees in restricted attention
UNTRAINED = "untrained"
SENTENCES = (  # on which the GRUs differ
    "Où est la gare ?",
    "Nous avons besoin de plus de temps pour finir ce travail.",
    "Mon père a vendu sa maison l’année dernière parce qu’elle était trop grande.",
    "J’ai mis mon livre sur la table de la cuisine ce matin, mais il n’est plus là.",
)
LONG = "Tom a dit à Marie qu’il ne pouvait pas venir à la fête parce qu’il devait travailler toute la journée."
NOUNS = ("chat", "chien")
BETWEEN = "que ma sœur a trouvé hier dans la rue derrière la maison de nos parents"
TITLES = {WITHOUT_ATTENTION: "GRU", WITH_ATTENTION: "GRU with attention", VOCABULARY_OF: VOCABULARY_OF}
ALL_TITLES = {UNTRAINED: "GRU before training", **TITLES}
SUBJECTS = {
    "source": "The encoder's text",
    "target": "The decoder's text",
    "sentence": "The French sentence",
    "long": "The long sentence",
    "one": "The first noun",
    "other": "The second noun",
    "between": "The text between",
}
_FIRST = {
    "source": "je suis étudiant",
    "target": "I am a student",
    "sentence": SENTENCES[0],
    "long": LONG,
    "between": BETWEEN,
}
INPUTS = {
    "meeting": whole(8, 2, 9),
    "kernel": whole(3, 2, 5),
    "length": whole(50, 2, 4096),
    "width": whole(512, 1, 4096),
    **{name: text(first, MAX_CHARACTERS, SUBJECTS[name], wide=True) for name, first in _FIRST.items()},
    "one": text(NOUNS[0], 30, SUBJECTS["one"]),
    "other": text(NOUNS[1], 30, SUBJECTS["other"]),
}
_kept: dict[tuple[str, ...], Any] = {}  # what was computed for the chapter's own texts


def compute(models: Models, given: Given) -> dict[str, Any]:
    source, target = _words(given, "source"), _words(given, "target")
    sentence = given["sentence"].strip()
    translators = _translators(models)
    return {
        "source": " ".join(source),
        "target": " ".join(target),
        "sentence": sentence,
        **_counted(given),
        **_timed(translators, measure=switch(subject="Measure").read(given, "measure")),
        "words": [*source, *target],
        "read": len(source),
        "steps": [_step(step) for step in read_and_write(source, target, WIDTH)],
        "gradients": _gradients(translators, given["long"].strip()),
        "noticed": _noticed(translators, given),
        "translations": _translations(translators, sentence),
        "sentences": [(one, {"sentence": one}) for one in SENTENCES],
        **_recorded(),
    }


def _translators(models: Models) -> dict[str, LoadedModel]:
    """Both GRUs and, where the page offers it, attend-translate."""
    translators = {name: recurrent_translator(name) for name in (WITHOUT_ATTENTION, WITH_ATTENTION)}
    if VOCABULARY_OF in models.names:
        translators[VOCABULARY_OF] = models.get(VOCABULARY_OF)
    return translators


_PAPER = {  # table 1 of Vaswani et al., 2017, in its order
    "attention": ("Self-attention", "$O(n² · d)$", "$O(1)$", "$O(1)$"),
    "recurrent": ("Recurrent", "$O(n · d²)$", "$O(n)$", "$O(n)$"),
    "convolution": ("Convolutional", "$O(k · n · d²)$", "$O(1)$", "$O(log_k n)$"),
    "restricted": ("Self-attention, restricted", "$O(r · n · d)$", "$O(1)$", "$O(n/r)$"),
}


def _counted(given: Given) -> dict[str, Any]:
    """The three ways, as pictures and in numbers."""
    costs = layer_costs(given["length"], given["width"], given["kernel"], NEIGHBOURS)
    return {
        "costs": [_cost(kind, cost) for kind, cost in costs.items()],
        "counts": {kind: (cost.operations, cost.sequential, cost.path) for kind, cost in costs.items()},
        "ratio": decimals(costs["recurrent"].operations / costs["attention"].operations),
        "meetings": {
            kind: {"layers": found.layers, "path": found.path}
            for kind, found in meetings(given["meeting"], given["kernel"]).items()
        },
    }


def _cost(kind: str, cost: LayerCost) -> list[str]:
    name, operations, sequential, path = _PAPER[kind]
    return [
        name,
        *(operations, f"{cost.operations:,}"),
        *(sequential, f"{cost.sequential:,}"),
        *(path, f"{cost.path:,}"),
    ]


def _timed(translators: Mapping[str, LoadedModel], *, measure: bool) -> dict[str, Any]:
    """How long each reads, if asked; else what was measured before stays."""
    if not measure:
        return {}
    rows = []
    for name, loaded in translators.items():
        times = time_reading(loaded, LENGTHS)
        for one in times:
            waits = len(loaded.model.encoder_blocks) if isinstance(loaded.model, EncoderDecoder) else one.tokens
            growth = f"{one.seconds / times[0].seconds:.1f} times"
            rows.append([TITLES[name], f"{one.tokens} tokens", waits, f"{1000 * one.seconds:.1f} ms", growth])
    return {"timings": rows}


def _gradients(translators: Mapping[str, LoadedModel], sentence: str) -> list[dict[str, Any]]:
    """How much each reader's last vector depends on each token, the last first, as a share of the most."""
    tokens = _tokens(translators, sentence, "long")
    readers = {UNTRAINED: _untrained(), **{name: loaded.model for name, loaded in translators.items()}}
    curves = []
    for name, model in readers.items():
        norms = _keep(("gradient", name, sentence), sentence == LONG, lambda model=model: gradient_by_distance(model, tokens))
        shares = (norms / norms.max()).tolist()
        curves.append({"name": name, "title": ALL_TITLES[name], "shares": [rounded(share) for share in shares]})
    return curves


@cache
def _untrained() -> Any:
    trained = recurrent_translator(WITHOUT_ATTENTION).model
    config: RecurrentConfig = trained.config  # type: ignore[attr-defined]
    return untrained(config, seed=0)


def _noticed(translators: Mapping[str, LoadedModel], given: Given) -> list[dict[str, Any]]:
    """How much the vector of “il” changes when the noun at the beginning does, by the number of words between."""
    between, nouns = given["between"].split(), (given["one"].strip(), given["other"].strip())
    own = (*nouns, *between) == (*NOUNS, *BETWEEN.split())
    curves = []
    for name, loaded in translators.items():

        def along(loaded: LoadedModel = loaded) -> list[float]:
            return [
                changes(loaded.model, *(_until_it(loaded, noun, between[:count]) for noun in nouns))  # type: ignore[arg-type]
                for count in range(0, len(between) + 1, 2)
            ]

        shares = _keep(("noticed", name, *nouns, *between), own, along)
        curves.append({"name": name, "title": TITLES[name], "shares": [rounded(share) for share in shares]})
    return curves


def _until_it(loaded: LoadedModel, noun: str, between: Sequence[str]) -> Sequence[int]:
    """The tokens of a sentence up to “il”, without the end that a prompt has."""
    tokens = loaded.prompt(" ".join(["Le", noun, *between, "dort parce qu’il"]))
    if len(tokens) > 2 * MAX_SOURCE:
        raise AttendError(f"{SUBJECTS['between']} has too many words: shorten it.")
    return tokens[:-1]


def _keep(key: tuple[str, ...], keeps: bool, compute: Callable[[], Any]) -> Any:
    """The chapter's own texts are computed once; what visitors type isn't kept."""
    if key in _kept:
        return _kept[key]
    found = compute()
    if keeps:
        _kept[key] = found
    return found


def _tokens(translators: Mapping[str, LoadedModel], sentence: str, name: str) -> Sequence[int]:
    """A sentence in tokens, whose vocabulary is the same for all."""
    tokens = translators[WITHOUT_ATTENTION].prompt(sentence)
    if len(tokens) > MAX_SOURCE:
        raise AttendError(f"{SUBJECTS[name]} has {len(tokens)} tokens, but the limit is {MAX_SOURCE}: shorten it.")
    return tokens


def _words(given: Given, name: str) -> list[str]:
    words = given[name].split()
    if len(words) > MAX_WORDS:
        count = counted(len(words), "word")
        raise AttendError(f"{SUBJECTS[name]} has {count}, but may have at most {MAX_WORDS}: shorten it.")
    return words


def _step(step: GruStep) -> list[list[float | None]]:
    rows = (step.given, step.before, step.reset, step.update, step.candidate, step.after)
    return rounded_rows(torch.stack(rows))  # (6, W)


def _translations(translators: Mapping[str, LoadedModel], sentence: str) -> list[Mapping[str, Any]]:
    _tokens(translators, sentence, "sentence")
    return [
        _keep((name, sentence), sentence in SENTENCES, lambda name=name, loaded=loaded: _translation(name, loaded, sentence))
        for name, loaded in translators.items()
    ]


def _translation(name: str, loaded: LoadedModel, sentence: str) -> Mapping[str, Any]:
    translation, label = translate(loaded, sentence, MAX_TOKENS), loaded.tokenizer.label
    return {
        "name": name,
        "title": TITLES[name],
        "text": translation.text,
        "complete": translation.complete,
        "source": [label(token) for token in translation.source],
        "tokens": [label(token) for token in translation.tokens],
        "alignment": None if translation.alignment is None else rounded_rows(translation.alignment),
    }


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


def _operations(compute: Compute) -> float:
    counts = compute({"length": 100, "width": 512})["counts"]
    return counts["recurrent"][0] / counts["attention"][0]


def _layers(compute: Compute) -> float:
    return compute({"length": 81, "kernel": 3})["counts"]["convolution"][2]


CHAPTER = Chapter(
    compute,
    INPUTS,
    values="costs ratio timings sentences middle kept longest metric measured command",
    slots={"translations": drawing(*TITLES, "cut off"), "measure": button({"measure": True}, once=True)},
    exercises={
        "operations": NumberExercise(_operations, digits=2),
        "layers": NumberExercise(_layers),
        "passed_on": ChoiceExercise(_passed_on, 3),
        "longer_than_wide": ChangeExercise(
            lambda result: result["counts"]["attention"][0] > result["counts"]["recurrent"][0],
            {"length": 600, "width": 512},
        ),
    },
    facts={"neighbours": str(NEIGHBOURS)},
)
