"""The chapter on tokens: one text cut by rules and by tokenizers, side by side."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from lesson import tokenizers, tokens
from lesson.tokens import Tokenization
from model import names
from model.errors import AttendError
from model.text.tokenizer import TextTokenizer
from ui.learn.chapter import Chapter
from ui.learn.exercises.exercise import ChangeExercise, ChoiceExercise, Compute, NumberExercise, Result
from ui.learn.inputs import Inputs, text
from ui.learn.text.slots import drawing, presets
from ui.learn.wording import brief, rounded
from ui.runs.models import Models

EXAMPLES = {
    "A fox": "The quick brown fox jumps over the lazy dog. Don't panic: a naïve café asks 3.50 € for tea! 🦊",
    "Rare words": "Antidisestablishmentarianism in Llanfairpwllgwyngyll: supercalifragilistic, isn’t it?",
    "French": "Les élèves naïfs ont mangé des œufs à Noël, n’est-ce pas ?",
    "Many scripts": "Hello, Привет, नमस्ते, こんにちは, مرحبا 👩‍👧",
    "Numbers and code": "for i in range(1000):\n    total += 3.14159 * i  # 2024-12-31",
}
LANGUAGES = {  # one sentence
    "English": "I would like a cup of tea, please.",
    "French": "Je voudrais une tasse de thé, s’il vous plaît.",
    "German": "Ich hätte gern eine Tasse Tee, bitte.",
    "Russian": "Я хотел бы чашку чая, пожалуйста.",
    "Hindi": "मुझे एक कप चाय चाहिए।",
    "Chinese": "请给我一杯茶。",
}
GUESSES = ("French", "Russian", "Hindi", "Chinese")  # of the prediction
MAX = 2_000  # characters
PIECES = 1_500  # that are sent, of all cuts together
JOINED = 200  # characters that are sent of a text that does not come back
MODELS = 4  # in memory besides ours, whose tokenizers are shown
INPUTS = {"text": text(EXAMPLES["A fox"], MAX, rows=3, live=True, bare=True)}

_RULES: dict[str, Callable[[str], Tokenization]] = {
    "words": tokens.by_words,
    "characters": tokens.by_characters,
    "bytes": tokens.by_bytes,
}


@dataclass(frozen=True, slots=True)
class _Method:
    """One way to split a text into tokens."""

    name: str  # as the page calls it
    cut: Callable[[str], Tokenization]
    rule: bool = False
    location: str = ""  # of a model, the name that loads it, such as a folder's path


def compute(models: Models, inputs: Inputs) -> dict[str, Any]:
    content = inputs["text"]
    methods = _methods(models)
    return {
        "characters": len(content),
        "cuts": [
            {
                "name": method.name,
                "location": method.location,
                "rule": method.rule,
                **_cut(method, content, PIECES // len(methods)),
            }
            for method in methods
        ],
        "languages": [[name, *map(str, _costs(sentence))] for name, sentence in LANGUAGES.items()],
    }


def _costs(sentence: str) -> list[int]:
    """The characters of a sentence, its bytes, and its tokens in the vocabularies of our models that are there."""
    ours = [read() for name, read in tokenizers.present().items() if name in names.embedded()]
    cuts = [tokens.by_tokenizer(tokenizer, sentence) for tokenizer in ours]
    return [len(cut.ids) for cut in (tokens.by_characters(sentence), tokens.by_bytes(sentence), *cuts)]


def _methods(models: Models) -> list[_Method]:
    """Rules, then the tokenizers that come without a model, then those of loaded models (not of the folders that have
    their names), and those of the last encoders, even when these are no longer in memory."""
    alone = tokenizers.present()
    others = [name for name in models.in_memory() if name not in alone][:MODELS]
    return [
        *(_Method(name, cut, rule=True) for name, cut in _RULES.items()),
        *(_Method(name, _cut_by(read)) for name, read in alone.items()),
        *(
            _Method(models.display_name(name), _cut_by(lambda name=name: models.get(name).tokenizer), location=name)
            for name in others
        ),
        *(
            _Method(models.display_name(name), _cut_by(read), location=name)
            for name in models.encoders()
            if (read := tokenizers.of_encoder(name)) is not None
        ),
    ]


def _cut_by(read: Callable[[], TextTokenizer]) -> Callable[[str], Tokenization]:
    return lambda content: tokens.by_tokenizer(read(), content)


def _cut(method: _Method, content: str, most: int) -> dict[str, Any]:
    """The tokens of one method as shown, or in one sentence why there are none."""
    try:
        cut = method.cut(content)
    except AttendError as error:
        return {"error": str(error)}
    lost = tokens.lost(content, cut.joined)
    return {
        "error": "",
        "pieces": [(brief(piece), number) for piece, number in zip(cut.pieces[:most], cut.ids, strict=False)],
        "count": len(cut.ids),
        "each": rounded(len(content) / len(cut.ids)) if cut.ids else None,
        "vocabulary": cut.vocabulary_size,
        "lost": lost,
        "joined": cut.joined[:JOINED] if lost else None,
        "shortened": bool(lost) and len(cut.joined) > JOINED,
    }


_SCRIPTS = ("hello", "été", "привет", "日本")  # the options of the exercise


def _cut_named(result: Result, name: str) -> dict[str, Any]:
    return next(cut for cut in result["cuts"] if cut["rule"] and cut["name"] == name)


def _bytes_of(compute: Compute, text: str) -> float:
    return _cut_named(compute({"text": text}), "bytes")["count"]


def _bytes_each(compute: Compute) -> list[float]:
    return [_bytes_of(compute, text) / len(text) for text in _SCRIPTS]


def _words_of(result: Result) -> dict[str, Any]:
    return _cut_named(result, "words")


def _id_of_dog(compute: Compute) -> int:
    return dict(_words_of(compute({"text": "the cat saw the dog"}))["pieces"])["dog"]


def _tokens_of_guesses(compute: Compute) -> list[float]:
    """How many tokens of attend-chat each guess takes."""
    costs = {name: numbers for name, *numbers in compute({})["languages"]}
    return [float(costs[name][2]) for name in GUESSES]


CHAPTER = Chapter(
    compute,
    INPUTS,
    values="languages",
    slots={
        "examples": presets({name: {"text": content} for name, content in EXAMPLES.items()}),
        "cuts": drawing("words", "characters", "bytes", "same", "same words"),
    },
    exercises={
        "costliest": ChoiceExercise(_tokens_of_guesses, len(GUESSES), predicted=True),
        "bytes_of_a_text": NumberExercise(
            lambda compute: _bytes_of(compute, "naïve café"),
            mistakes={
                "characters": lambda compute: compute({"text": "naïve café"})["characters"],
                "letters": lambda compute: compute({"text": "naïvecafé"})["characters"],
            },
        ),
        "id_of_dog": NumberExercise(
            _id_of_dog,
            mistakes={"places": lambda compute: _words_of(compute({"text": "the cat saw the dog"}))["count"] - 1},
        ),
        "most_bytes": ChoiceExercise(_bytes_each, len(_SCRIPTS)),
        "lost_spaces": ChangeExercise(
            [("cuts.0.count", "==", 3), ("cuts.0.lost", "!=", [])],  # of the words
            {"text": "one  two three"},
            {"other_count": [("cuts.0.count", "!=", 3)], "nothing_lost": [("cuts.0.lost", "==", [])]},
        ),
    },
)
