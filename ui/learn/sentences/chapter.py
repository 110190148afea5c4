"""The chapter of sentences to look at: what `lesson/sentences.py` finds in a model, as the page shows it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from torch import Tensor

from lesson.sentences import attention_of_word, head_targets, word_in_context
from model import names
from model.encoder import cosines
from model.errors import AttendError
from model.loaded import LoadedModel
from ui.kit.packing import packed_bytes
from ui.learn.validation import Given, choice, counted, rounded, rounded_rows, text
from ui.runs.models import Models

MOST_CHARACTERS, MOST_TOKENS, MOST_SENTENCES, FOLLOWING = 300, 96, 6, 5
EXAMPLES = (  # model, sentence, word, the word that one of its heads looks at
    ("attend-chat", "The animal did not cross the street because it was too tired.", "it", "animal"),
    ("attend-translate", "Elle a perdu sa clé et elle la cherche.", "la", "clé"),
)
SENTENCES = (  # the verb, then the noun: what attend-chat, of 5.9 million parameters, tells apart well
    "I want to watch",
    "Tonight we will watch",
    "He bought a new watch",
    "She looked at her watch",
)
WORD = "watch"


def answer(models: Models, given: Given) -> dict[str, Any]:
    """
    Args:
        given: `model`, `sentence` and `word` of the first part, `sentences` and `meant` of the second.
    """
    offered = tuple(dict.fromkeys((*(name for name in names.embedded() if name in models.names), models.default)))
    examples = [entry for entry in EXAMPLES if entry[0] in offered] or [(models.default, *EXAMPLES[0][1:])]
    name = choice(given, "model", examples[0][0], offered)
    example = next((entry for entry in examples if entry[0] == name), examples[0])
    sentence = text(given, "sentence", example[1], MOST_CHARACTERS)
    word = text(given, "word", example[2], 40).strip()
    return {
        "models": offered,
        "model": name,
        "sentence": sentence,
        "word": word,
        "at": example[3],
        "examples": examples,
        "attention": _attention(models.get(name), sentence, word),
        **_meanings(models, offered, given),
    }


def _attention(loaded: LoadedModel, sentence: str, word: str) -> dict[str, Any]:
    found = attention_of_word(loaded, sentence, word, MOST_TOKENS)
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


def _meanings(models: Models, offered: Sequence[str], given: Given) -> dict[str, Any]:
    """One word in several texts, as the first model that continues texts has it when it has read them so far."""
    lines = text(
        given, "sentences", "\n".join(SENTENCES), MOST_SENTENCES * MOST_CHARACTERS, "The list of sentences"
    ).splitlines()
    sentences = [line.strip() for line in lines if line.strip()]
    if not 2 <= len(sentences) <= MOST_SENTENCES:
        raise AttendError(
            f"The list has {counted(len(sentences), 'sentence')}: enter 2 to {MOST_SENTENCES}, one per line."
        )
    meant = text(given, "meant", WORD, 40, "Word").strip()
    reader = next((loaded for loaded in map(models.get, offered) if not loaded.model.decoder_start), None)
    if reader is None:
        return {"sentences": sentences, "meant": meant, "reader": "", "cosines": [], "following": []}
    found = [word_in_context(reader, sentence, meant, FOLLOWING) for sentence in sentences]
    label = reader.tokenizer.label
    return {
        "sentences": sentences,
        "meant": meant,
        "reader": reader.name,
        "cosines": rounded_rows(cosines([word.vector for word in found])),
        "following": [[(label(token), rounded(share)) for token, share in word.following] for word in found],
    }


def _bytes(shares: Tensor) -> str:
    """Shares of 1 as bytes, the last dimension fastest."""
    return packed_bytes((shares * 255).round().byte())
