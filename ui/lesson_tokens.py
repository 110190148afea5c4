"""The chapter on tokens: one text cut by rules and by tokenizers, side by side, as the page shows it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from lesson import tokenizers, tokens
from lesson.tokens import Cut
from model.errors import AttendError
from ui.lesson_checks import Given, brief, rounded, text
from ui.models import Models

TEXT = "The quick brown fox jumps over the lazy dog. Don't panic: a naïve café asks 3.50 € for tea! 🦊"
MOST = 2_000  # characters
PIECES = 1_500  # that are sent, of all cuts together
JOINED = 200  # characters that are sent of a text that does not come back
MODELS = 4  # in memory besides ours, whose tokenizers are shown

_RULES: dict[str, Callable[[str], Cut]] = {
    "words": tokens.by_words,
    "characters": tokens.by_characters,
    "bytes": tokens.by_bytes,
}


def answer(models: Models, given: Given) -> dict[str, Any]:
    """
    Args:
        given: `text`.
    """
    said = text(given, "text", TEXT, MOST)
    ways = [(name, True, way) for name, way in _RULES.items()]
    ways += [(name, False, _told_by(read)) for name, read in _tokenizers(models).items()]
    most = PIECES // len(ways)
    return {
        "text": said,
        "characters": len(said),
        "cuts": [{"name": name, "rule": rule, **_cut(way, said, most)} for name, rule, way in ways],
    }


def _tokenizers(models: Models) -> dict[str, Callable[[], Any]]:
    """Name → what has the tokenizer: those of loaded models are theirs, whatever stands in a folder under the name."""
    alone = tokenizers.present()
    others = [name for name in models.in_memory() if name not in alone][:MODELS]
    return alone | {name: lambda name=name: models.get(name).tokenizer for name in others}


def _told_by(read: Callable[[], Any]) -> Callable[[str], Cut]:
    def way(said: str) -> Cut:
        return tokens.by_tokenizer(read(), said)

    return way


def _cut(way: Callable[[str], Cut], said: str, most: int) -> dict[str, Any]:
    """What is shown of one cut, or in one sentence why there is none."""
    try:
        cut = way(said)
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
