"""The chapter of sentences to look at: what `lesson/sentences.py` finds in a model."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from lesson.sentences import WordAttention, attention_of_word, head_targets, token_share
from model.loaded import LoadedModel
from ui.kit.packing import packed_shares
from ui.learn.chapter import Chapter
from ui.learn.exercises.checks import needed
from ui.learn.exercises.exercise import ChangeExercise, ChoiceExercise, Compute, NumberExercise, Result
from ui.learn.inputs import Inputs, checked_by_chapter, choice, offered, text
from ui.learn.text.slots import cases, field, select
from ui.learn.wording import percent
from ui.runs.models import Models

MAX_CHARACTERS, MAX_TOKENS = 300, 96
SENTENCES = (  # model, sentence, word, the word that one of its heads looks at
    ("attend-chat", "The animal did not cross the street because it was too tired.", "it", "animal"),
    ("attend-translate", "Elle a perdu sa clé et elle la cherche.", "la", "clé"),
)


INPUTS = {
    "model": checked_by_chapter(slot=select("models")),
    "sentence": checked_by_chapter(),
    "word": checked_by_chapter(slot=field(size=10)),
}


def compute(models: Models, inputs: Inputs) -> dict[str, Any]:
    readers = offered(models, models.default)
    examples = [entry for entry in SENTENCES if entry[0] in readers] or [(models.default, *SENTENCES[0][1:])]
    name = choice(examples[0][0], readers).read(inputs, "model")
    example = next((entry for entry in examples if entry[0] == name), examples[0])
    sentence = text(example[1], MAX_CHARACTERS).read(inputs, "sentence")
    word = text(example[2], 40).read(inputs, "word").strip()
    loaded = models.get(name)
    attention = attention_of_word(loaded, sentence, word, MAX_TOKENS)
    return {
        "model": name,
        "sentence": sentence,
        "word": word,
        "models": readers,
        "at": example[3],
        "examples": [
            (f"{sentence} ({word})", {"model": name, "sentence": sentence, "word": word})
            for name, sentence, word, _ in examples
        ],
        **_attention(loaded, attention),
        **_picked(loaded, attention, example[3]),
    }


def _picked(loaded: LoadedModel, attention: WordAttention, looked_at: str) -> dict[str, Any]:
    """How the head that is opened first was picked, beside chance; nothing where its token isn't in the sentence."""
    labels = [loaded.tokenizer.label(token).strip() for token in attention.tokens]
    if looked_at not in labels:
        return {"picked": [], "share": None}
    share = token_share(attention, labels.index(looked_at))
    heads = attention.weights.shape[0] * attention.weights.shape[1]
    return {
        "picked": "measured",
        "share": {"favourites": share.favourites, "heads": heads, "even": share.even, "visible": share.visible},
        "looked_at": looked_at,
        "best_head": "layer {}, head {}".format(*share.best),
        "best_share": percent(share.best_share, 0),
        "favourites": f"{share.favourites} of {heads} heads",
        "mean_share": percent(share.mean, 1),
        "even_share": percent(share.even, 1),
        "visible": str(share.visible),
        "by_lot": f"{heads * share.even:.1f}",
    }


def _attention(loaded: LoadedModel, attention: WordAttention) -> dict[str, Any]:
    layers, heads, _ = attention.weights.shape
    targets = head_targets(attention)
    tokens = [loaded.tokenizer.label(token) for token in attention.tokens]
    before = attention.word[0] - 1

    def quoted(index: int) -> str:
        return f"“{tokens[index].strip() or tokens[index]}”"

    return {
        "attention": {
            "tokens": tokens,
            "word": list(attention.word),
            "layers": layers,
            "heads": heads,
            "targets": asdict(targets),
            "first_share": targets.first / (layers * heads),
            "weights": packed_shares(attention.weights),
        },
        "all_heads": str(layers * heads),
        "first_token": quoted(0),
        "previous": f", {targets.previous} to {quoted(before)} just before" if before > 0 else "",
        "reading": [] if loaded.model.decoder_start else ["left to right"],  # an encoder also sees what follows
    }


def _share(compute: Compute) -> Result:
    """The numbers of the first example."""
    return needed(compute({})["share"])


_FEW, _MANY = 5, 24  # limits of the prediction's options, in heads


def _size_of_group(compute: Compute) -> list[float]:
    favourites = _share(compute)["favourites"]
    return [float(favourites > _MANY), float(_FEW <= favourites <= _MANY), float(favourites < _FEW)]


_GROUPS = ("itself", "first", "previous", "elsewhere")


def _heads_by_group(compute: Compute) -> list[int]:
    targets = compute({})["attention"]["targets"]
    return [targets[group] for group in _GROUPS]


CHAPTER = Chapter(
    compute,
    INPUTS,
    values="looked_at best_head best_share favourites mean_share even_share visible by_lot all_heads first_token "
    "previous examples attention.targets.first attention.targets.itself attention.targets.elsewhere",
    slots={"reading": cases("left to right"), "picked": cases("measured")},
    exercises={
        "heads_for_animal": ChoiceExercise(_size_of_group, 3, predicted=True),
        "even_share": NumberExercise(
            lambda compute: 100 * _share(compute)["even"],
            digits=1,
            mistakes={
                "whole_sentence": lambda compute: 100 / len(compute({})["attention"]["tokens"]),
                "others": lambda compute: 100 / (_share(compute)["visible"] - 1),
            },
        ),
        "by_lot": NumberExercise(
            lambda compute: _share(compute)["heads"] * _share(compute)["even"],
            digits=1,
            mistakes={"measured": lambda compute: _share(compute)["favourites"]},
        ),
        "most_heads": ChoiceExercise(_heads_by_group, len(_GROUPS)),
        "rests_on_the_first_token": ChangeExercise(
            # where there is more to attend to than the word and the first token
            [("attention.word.0", ">", 1), ("attention.first_share", ">", 0.5)],
            {"model": "attend-chat", "sentence": "My name is Anna. What is my name?", "word": "name"},
            {"begins": [("attention.word.0", "<", 2)]},
        ),
    },
)
