"""The chapter on why attention was needed: `lesson/attention/three_ways.py` counts, `lesson/recurrence/` measures."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import astuple
from functools import cache, partial
from typing import Any

from lesson.attention.three_ways import LayerCost, layer_costs, meetings
from lesson.recurrence.by_hand import read_and_write
from lesson.recurrence.reach import Reader, changes, gradient_by_distance, is_differentiable, time_reading, untrained
from lesson.recurrence.translation import (
    RECURRENT,
    VOCABULARY_OF,
    WITH_ATTENTION,
    WITHOUT_ATTENTION,
    recurrent_translator,
    translate,
)
from lesson.sentences import at_most
from model.errors import AttendError
from model.loaded import LoadedModel
from model.recurrent.network import Recurrent
from model.transformer.checkpoint import read_json
from model.transformer.encoder_decoder import EncoderDecoder
from ui.learn.chapter import Chapter
from ui.learn.exercises.exercise import ChangeExercise, ChoiceExercise, Compute, NumberExercise, value_of
from ui.learn.inputs import Inputs, switch, text, whole
from ui.learn.text.slots import button, drawing
from ui.learn.wording import counted, decimals, sent
from ui.runs.models import Models

WIDTH = 4  # of the drawn network's state
MAX_WORDS = 8  # on each side of it
MAX_CHARACTERS, MAX_TOKENS = 200, 60  # of a sentence, and of its translation
LENGTHS = (8, 32, 120)  # tokens of the texts that are timed
MAX_READ = 48  # tokens of a text that is read
NEIGHBOURS = 16  # words that a word sees in restricted attention
TITLES = {WITHOUT_ATTENTION: "GRU", WITH_ATTENTION: "GRU with attention", VOCABULARY_OF: VOCABULARY_OF}
_kept: dict[tuple[str, ...], Any] = {}
SENTENCES = (  # on which the GRUs differ
    "Où est la gare ?",
    "Nous avons besoin de plus de temps pour finir ce travail.",
    "Mon père a vendu sa maison l’année dernière parce qu’elle était trop grande.",
    "J’ai mis mon livre sur la table de la cuisine ce matin, mais il n’est plus là.",
)
LONG = "Tom a dit à Marie qu’il ne pouvait pas venir à la fête parce qu’il devait travailler toute la journée."
NOUNS = ("chat", "chien")
BETWEEN = "que ma sœur a trouvé hier dans la rue derrière la maison de nos parents"
_TEXTS = {  # each with what a sentence calls it
    "source": ("je suis étudiant", "The encoder's text"),
    "target": ("I am a student", "The decoder's text"),
    "sentence": (SENTENCES[0], "The French sentence"),
    "long": (LONG, "The long sentence"),
    "between": (BETWEEN, "The text between"),
}
INPUTS = {
    "meeting": whole(8, 2, 9),
    "kernel": whole(3, 2, 5),
    "length": whole(50, 2, 4096),
    "width": whole(512, 1, 4096),
    **{name: text(first, MAX_CHARACTERS, subject, wide=True) for name, (first, subject) in _TEXTS.items()},
    "one": text(NOUNS[0], 30, "The first noun"),
    "other": text(NOUNS[1], 30, "The second noun"),
}


def compute(models: Models, inputs: Inputs) -> dict[str, Any]:
    source, target = _words(inputs, "source"), _words(inputs, "target")
    sentence = inputs["sentence"].strip()
    loaded = _translators(models)
    measure = switch(subject="Measure").read(inputs, "measure")
    nouns, between = (inputs["one"].strip(), inputs["other"].strip()), inputs["between"].split()
    own = (nouns, between) == (NOUNS, BETWEEN.split())
    return {
        "source": " ".join(source),
        "target": " ".join(target),
        "sentence": sentence,
        **_counts(inputs),
        **({"timings": _timings(loaded)} if measure else {}),  # else those that were measured before stay
        "words": [*source, *target],
        "read": len(source),
        "steps": [[*sent(step).values()] for step in read_and_write(source, target, WIDTH)],
        "gradients": _gradients(loaded, inputs["long"].strip()),
        "noticed": _noticed(loaded, nouns, between, own=own),
        "translations": _translations(loaded, sentence),
        "sentences": [(one, {"sentence": one}) for one in SENTENCES],
        **_recorded(),
    }


_PAPER = {  # table 1 of Vaswani et al., 2017, in its order
    "attention": ("Self-attention", "O(n² · d)", "O(1)", "O(1)"),
    "recurrent": ("Recurrent", "O(n · d²)", "O(n)", "O(n)"),
    "convolution": ("Convolutional", "O(k · n · d²)", "O(1)", "O(log_k n)"),
    "restricted": ("Self-attention, restricted", "O(r · n · d)", "O(1)", "O(n/r)"),
}


def _counts(inputs: Inputs) -> dict[str, Any]:
    """The three ways, as pictures and in numbers."""
    costs = layer_costs(inputs["length"], inputs["width"], inputs["kernel"], NEIGHBOURS)
    return {
        "costs": [_cost(kind, cost) for kind, cost in costs.items()],
        "counts": {kind: astuple(cost) for kind, cost in costs.items()},
        "ratio": decimals(costs["recurrent"].operations / costs["attention"].operations),
        "meetings": sent(meetings(inputs["meeting"], inputs["kernel"])),
    }


def _cost(kind: str, cost: LayerCost) -> list[Any]:
    """A row of the table: each formula, and its number beside it."""
    name, *formulas = _PAPER[kind]
    pairs = zip(formulas, astuple(cost), strict=True)
    return [name, *(cell for formula, number in pairs for cell in ({"formula": formula}, f"{number:,}"))]


def _words(inputs: Inputs, name: str) -> list[str]:
    words = inputs[name].split()
    if len(words) > MAX_WORDS:
        count = counted(len(words), "word")
        raise AttendError(f"{_TEXTS[name][1]} has {count}, but may have at most {MAX_WORDS}: shorten it.")
    return words


def _translators(models: Models) -> dict[str, LoadedModel]:
    """Both GRUs and, where the page offers it, attend-translate."""
    loaded = {name: recurrent_translator(name) for name in (WITHOUT_ATTENTION, WITH_ATTENTION)}
    return {**loaded, **({VOCABULARY_OF: models.get(VOCABULARY_OF)} if VOCABULARY_OF in models.names else {})}


def _keep(key: tuple[str, ...], keeps: bool, compute: Callable[[], Any]) -> Any:
    """What is computed for a chapter's own texts is kept; what visitors type isn't."""
    if key in _kept:
        return _kept[key]
    result = compute()
    if keeps:
        _kept[key] = result
    return result


def _timings(loaded: Mapping[str, LoadedModel]) -> list[list[Any]]:
    """A row for each translator and length, measured now."""
    rows = []
    for name, translator in loaded.items():
        times = time_reading(translator, LENGTHS)
        for tokens, seconds in zip(LENGTHS, times, strict=True):
            waits = len(_reader(translator).encoder_blocks) if name == VOCABULARY_OF else tokens  # type: ignore[union-attr]
            growth = f"{seconds / times[0]:.1f} times"
            rows.append([TITLES[name], f"{tokens} tokens", waits, f"{1000 * seconds:.1f} ms", growth])
    return rows


def _gradients(loaded: Mapping[str, LoadedModel], sentence: str) -> list[dict[str, Any]]:
    """How much each reader's last vector depends on each token, the last first, as a share of the most."""
    tokens = _read_tokens(loaded, sentence, "long sentence")
    readers = {"untrained": _untrained(), **{name: _reader(translator) for name, translator in loaded.items()}}
    curves = []
    for name, reader in readers.items():
        if not is_differentiable(reader):
            continue
        norms = _keep(("gradient", name, sentence), sentence == LONG, partial(gradient_by_distance, reader, tokens))
        title = TITLES.get(name, "GRU before training")
        curves.append({"name": name, "title": title, "shares": sent(norms / norms.max())})
    return curves


def _noticed(
    loaded: Mapping[str, LoadedModel], nouns: tuple[str, str], between: Sequence[str], *, own: bool
) -> list[dict[str, Any]]:
    """How much the vector of “il” changes when the noun at the beginning does, by the number of words between."""
    curves = []
    for name, translator in loaded.items():
        shares = _keep(("noticed", name, *nouns, *between), own, partial(_changes, translator, nouns, between))
        curves.append({"name": name, "title": TITLES[name], "shares": sent(shares)})
    return curves


def _changes(translator: LoadedModel, nouns: tuple[str, str], between: Sequence[str]) -> list[float]:
    """The changes after 0, 2, … words between."""
    counts = range(0, len(between) + 1, 2)
    texts = ([_until_it(translator, noun, between[:count]) for noun in nouns] for count in counts)
    return [changes(_reader(translator), one, other) for one, other in texts]


def _until_it(translator: LoadedModel, noun: str, between: Sequence[str]) -> Sequence[int]:
    """The tokens of a sentence up to “il”, without the end that a prompt has."""
    sentence = " ".join(["Le", noun, *between, "dort parce qu’il"])
    return _read_tokens({WITHOUT_ATTENTION: translator}, sentence, "sentence")[:-1]


def _read_tokens(loaded: Mapping[str, LoadedModel], sentence: str, what: str) -> Sequence[int]:
    """A sentence in tokens, which are the same for all; `AttendError` for too many."""
    return at_most(MAX_READ, loaded[WITHOUT_ATTENTION].prompt(sentence), what)


def _reader(translator: LoadedModel) -> Reader:
    assert isinstance(translator.model, Recurrent | EncoderDecoder)
    return translator.model


@cache
def _untrained() -> Recurrent:
    trained = recurrent_translator(WITHOUT_ATTENTION).model
    assert isinstance(trained, Recurrent)
    return untrained(trained.config, seed=0)


def _translations(loaded: Mapping[str, LoadedModel], sentence: str) -> list[Mapping[str, Any]]:
    _read_tokens(loaded, sentence, "French sentence")
    return [
        _keep(("translation", name, sentence), sentence in SENTENCES, partial(_translation, name, translator, sentence))
        for name, translator in loaded.items()
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
        "alignment": None if translation.alignment is None else sent(translation.alignment),
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
                "bleu": [{"name": name, "title": TITLES[name], "score": of[length]} for name, of in bleu.items()],
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


def _fades(compute: Compute) -> list[float]:
    """How little the first word counts for each trained reader; -inf for one that this page doesn't have."""
    shares = {curve["name"]: curve["shares"][-1] for curve in compute({})["gradients"]}
    return [-shares.get(name, math.inf) for name in TITLES]


CHAPTER = Chapter(
    compute,
    INPUTS,
    values="costs ratio timings sentences middle kept longest metric measured command",
    slots={"translations": drawing(*TITLES, "cut off"), "measure": button({"measure": True}, once=True)},
    exercises={
        "fades_most": ChoiceExercise(_fades, len(TITLES), predicted=True),
        "operations": NumberExercise(
            _operations, digits=2, mistakes={"upside_down": lambda compute: 1 / _operations(compute)}
        ),
        "layers": NumberExercise(
            value_of({"length": 81, "kernel": 3}, "counts", "convolution", 2),
            mistakes={"side_by_side": lambda _: (81 - 1) / (3 - 1)},
        ),
        "passed_on": ChoiceExercise(_passed_on, 3),
        "longer_than_wide": ChangeExercise(
            [("counts.attention.0", ">", "counts.recurrent.0")],
            {"length": 600, "width": 512},
        ),
    },
    facts={"neighbours": str(NEIGHBOURS)},
)
