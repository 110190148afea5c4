"""The chapter of sentences to look at: what `lesson/sentences.py` finds in a model, as the page shows it."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from torch import Tensor

from lesson.sentences import attention_of_word, head_targets
from model import names
from model.loaded import LoadedModel
from ui.kit.packing import packed_bytes
from ui.learn.validation import Given, choice, text
from ui.runs.models import Models

MAX_CHARACTERS, MAX_TOKENS = 300, 96
EXAMPLES = (  # model, sentence, word, the word that one of its heads looks at
    ("attend-chat", "The animal did not cross the street because it was too tired.", "it", "animal"),
    ("attend-translate", "Elle a perdu sa clé et elle la cherche.", "la", "clé"),
)


def answer(models: Models, given: Given) -> dict[str, Any]:
    """
    Args:
        given: `model`, `sentence` and `word`.
    """
    offered = tuple(dict.fromkeys((*(name for name in names.embedded() if name in models.names), models.default)))
    examples = [entry for entry in EXAMPLES if entry[0] in offered] or [(models.default, *EXAMPLES[0][1:])]
    name = choice(given, "model", examples[0][0], offered)
    example = next((entry for entry in examples if entry[0] == name), examples[0])
    sentence = text(given, "sentence", example[1], MAX_CHARACTERS)
    word = text(given, "word", example[2], 40).strip()
    return {
        "models": offered,
        "model": name,
        "sentence": sentence,
        "word": word,
        "at": example[3],
        "examples": examples,
        "attention": _attention(models.get(name), sentence, word),
    }


def _attention(loaded: LoadedModel, sentence: str, word: str) -> dict[str, Any]:
    found = attention_of_word(loaded, sentence, word, MAX_TOKENS)
    layers, heads, _ = found.weights.shape
    return {
        "tokens": [loaded.tokenizer.label(token) for token in found.tokens],
        "word": list(found.word),
        "layers": layers,
        "heads": heads,
        "both": bool(loaded.model.decoder_start),  # whether it sees what is behind the word, too
        "targets": asdict(head_targets(found)),
        "weights": _bytes(found.weights),
    }


def _bytes(shares: Tensor) -> str:
    """Shares of 1 as bytes, the last dimension fastest."""
    return packed_bytes((shares * 255).round().byte())
