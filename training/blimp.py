"""BLiMP (Warstadt et al., 2020): whether a model prefers a grammatical sentence to an ungrammatical one.

https://github.com/alexwarstadt/blimp (CC BY 4.0) has 67 paradigms. We only measure with it and never train on it.
"""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path

from tqdm import tqdm

from model.errors import AttendError
from model.loaded import LoadedModel
from training.data import read_records

MinimalPair = tuple[str, str]  # the grammatical sentence first


def read_blimp(path: Path) -> dict[str, list[MinimalPair]]:
    """The pairs of each paradigm, from gzipped JSON lines in BLiMP's form; `AttendError` for any other form."""
    pairs: dict[str, list[MinimalPair]] = defaultdict(list)
    try:
        for record in read_records(path):
            pairs[record["UID"]].append((record["sentence_good"], record["sentence_bad"]))
    except (KeyError, TypeError) as error:
        raise AttendError(f"{path} does not contain BLiMP's pairs: give its JSON lines, gzipped.") from error
    if not pairs:
        raise AttendError(f"{path} contains no pair: give BLiMP's JSON lines, gzipped.")
    return pairs


def accuracy(loaded: LoadedModel, pairs: list[MinimalPair]) -> float:
    """The share of pairs whose grammatical sentence is more probable than the other one, each as a text of its own."""
    return sum(log_probability(loaded, good) > log_probability(loaded, bad) for good, bad in pairs) / len(pairs)


def log_probability(loaded: LoadedModel, sentence: str) -> float:
    """The summed log-probability of a sentence's tokens, in nats, after the tokens that begin every text."""
    tokens = loaded.tokenizer.encode(sentence, begins=True)
    log_probabilities = loaded.model.logits(loaded.prefix_tokens, tokens).log_softmax(dim=-1)  # (T, V)
    return float(log_probabilities[range(len(tokens)), tokens].sum())


def measure(loaded: LoadedModel, path: Path, limit: int | None, *, progress: bool = False) -> dict[str, float]:
    """The accuracy for each paradigm, on its first `limit` pairs or on all."""
    paradigms = tqdm(read_blimp(path).items(), disable=not progress, unit="paradigm", leave=False)
    return {name: accuracy(loaded, pairs[:limit]) for name, pairs in paradigms}
