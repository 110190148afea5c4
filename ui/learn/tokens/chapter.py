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
MOST = 2_000  # characters
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
    """A way to cut a text."""

    name: str  # as the page calls it
    cut: Callable[[str], Tokenization]
    rule: bool = False
    place: str = ""  # of a model the name that leads to it, such as a folder's path


def answer(models: Models, given: Given) -> dict[str, Any]:
    """
    Args:
        given: `text`.
    """
    said = text(given, "text", FIRST["text"], MOST)
    methods = _methods(models)
    return {
        "text": said,
        "characters": len(said),
        "cuts": [
            {
                "name": method.name,
                "place": method.place,
                "rule": method.rule,
                **_cut(method, said, PIECES // len(methods)),
            }
            for method in methods
        ],
    }


def _methods(models: Models) -> list[_Method]:
    """Rules, then the tokenizers that come without a model, then those of loaded models, whatever stands in a folder
    under their names, and of encoders that were looked into, which stay when those have gone."""
    alone = tokenizers.present()
    others = [name for name in models.in_memory() if name not in alone][:MODELS]
    return [
        *(_Method(name, cut, rule=True) for name, cut in _RULES.items()),
        *(_Method(name, _told_by(read)) for name, read in alone.items()),
        *(
            _Method(models.display_name(one), _told_by(lambda one=one: models.get(one).tokenizer), place=one)
            for one in others
        ),
        *(
            _Method(models.display_name(one), _told_by(read), place=one)
            for one in models.encoders()
            if (read := tokenizers.of_encoder(one)) is not None
        ),
    ]


def _told_by(read: Callable[[], TextTokenizer]) -> Callable[[str], Tokenization]:
    return lambda said: tokens.by_tokenizer(read(), said)


def _cut(method: _Method, said: str, most: int) -> dict[str, Any]:
    """What is shown of one cut, or in one sentence why there is none."""
    try:
        cut = method.cut(said)
    except AttendError as error:
        return {"said": str(error)}
    lost = tokens.lost(said, cut.joined)
    return {
        "said": "",
        "pieces": [(brief(piece), number) for piece, number in zip(cut.pieces[:most], cut.ids, strict=False)],
        "count": len(cut.ids),
        "each": rounded(len(said) / len(cut.ids)) if cut.ids else None,
        "vocabulary": cut.vocabulary_size,
        "lost": lost,
        "joined": cut.joined[:JOINED] if lost else None,
        "shortened": bool(lost) and len(cut.joined) > JOINED,
    }
