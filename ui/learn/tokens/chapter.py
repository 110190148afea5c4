"""The chapter on tokens: one text cut by rules and by tokenizers, side by side, as the page shows it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from lesson import tokenizers, tokens
from lesson.tokens import Tokenization
from model.errors import AttendError
from model.text.tokenizer import TextTokenizer
from ui.learn.validation import Given, brief, rounded, text
from ui.runs.models import Models

FIRST = {"text": "The quick brown fox jumps over the lazy dog. Don't panic: a naïve café asks 3.50 € for tea! 🦊"}
MAX = 2_000  # characters
PIECES = 1_500  # that are sent, of all cuts together
JOINED = 200  # characters that are sent of a text that does not come back
MODELS = 4  # in memory besides ours, whose tokenizers are shown

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


def answer(models: Models, given: Given) -> dict[str, Any]:
    """
    Args:
        given: `text`.
    """
    content = text(given, "text", FIRST["text"], MAX)
    methods = _methods(models)
    return {
        "text": content,
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
    }


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
