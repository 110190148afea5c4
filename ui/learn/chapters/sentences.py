"""The chapter of sentences to look at: what `lesson/sentences.py` finds in a model."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from torch import Tensor

from lesson.sentences import WordAttention, attention_of_word, head_targets
from model.loaded import LoadedModel
from ui.kit.packing import packed_bytes
from ui.learn.chapter import Chapter
from ui.learn.exercises.exercise import ChangeExercise, ChoiceExercise, Compute, Result
from ui.learn.inputs import Given, choice, offered, own, text
from ui.learn.text.slots import cases, field, select
from ui.runs.models import Models

MAX_CHARACTERS, MAX_TOKENS = 300, 96
SENTENCES = (  # model, sentence, word, the word that one of its heads looks at
    ("attend-chat", "The animal did not cross the street because it was too tired.", "it", "animal"),
    ("attend-translate", "Elle a perdu sa clé et elle la cherche.", "la", "clé"),
)


INPUTS = {"model": own(slot=select("models")), "sentence": own(), "word": own(slot=field(size=10))}


def compute(models: Models, given: Given) -> dict[str, Any]:
    readers = offered(models, models.default)
    examples = [entry for entry in SENTENCES if entry[0] in readers] or [(models.default, *SENTENCES[0][1:])]
    name = choice(examples[0][0], readers).read(given, "model")
    example = next((entry for entry in examples if entry[0] == name), examples[0])
    sentence = text(example[1], MAX_CHARACTERS).read(given, "sentence")
    word = text(example[2], 40).read(given, "word").strip()
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
    }


def _attention(loaded: LoadedModel, attention: WordAttention) -> dict[str, Any]:
    layers, heads, _ = attention.weights.shape
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
            "targets": asdict(head_targets(attention)),
            "weights": _bytes(attention.weights),
        },
        "all_heads": str(layers * heads),
        "first_token": quoted(0),
        "previous": f", {head_targets(attention).previous} to {quoted(before)} just before" if before > 0 else "",
        "reading": [] if loaded.model.decoder_start else ["left to right"],  # an encoder sees what is behind, too
    }


def _bytes(shares: Tensor) -> str:
    """Shares of 1 as bytes, the last dimension fastest."""
    return packed_bytes((shares * 255).round().byte())


_GROUPS = ("itself", "first", "previous", "elsewhere")


def _heads_by_group(compute: Compute) -> list[int]:
    targets = compute({})["attention"]["targets"]
    return [targets[group] for group in _GROUPS]


def _rests_on_the_first_token(result: Result) -> bool:
    attention = result["attention"]
    behind = attention["word"][0] > 1  # where there is more to attend to than the word and the first token
    return behind and attention["targets"]["first"] > attention["layers"] * attention["heads"] / 2


CHAPTER = Chapter(
    compute,
    INPUTS,
    values="all_heads first_token previous examples "
    "attention.targets.first attention.targets.itself attention.targets.elsewhere",
    slots={"reading": cases("left to right")},
    exercises={
        "most_heads": ChoiceExercise(_heads_by_group, len(_GROUPS)),
        "rests_on_the_first_token": ChangeExercise(
            _rests_on_the_first_token,
            {"model": "attend-chat", "sentence": "My name is Anna. What is my name?", "word": "name"},
        ),
    },
)
