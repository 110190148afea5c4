"""The translator's task: sentence pairs, trained with teacher forcing (Williams and Zipser, 1989).

The decoder reads padding and then the target. At each position it predicts the next token, and at the last one `<end>`.
"""

from __future__ import annotations

import hashlib
import math
import random
from collections.abc import Mapping, Sequence
from pathlib import Path

import torch
from torch import Tensor, nn
from torch.nn import functional

from decoding.settings import DecodingSettings
from model.errors import AttendError
from model.loaded import LoadedModel
from model.text.sentencepiece_tokenizer import END
from model.transformer.decoder import Transformer
from training.data import IGNORED, missing_note
from training.run.tokenizer import run_tokenizer
from training.settings import TrainingSettings
from training.translation.pairs import (
    BACK_TRANSLATED_FILE,
    OTHER_FILES,
    SOURCE_FILE,
    Encoded,
    Pair,
    by_length,
    by_source,
    other_pairs,
    read_pairs,
    split_pairs,
    turned,
)
from training.translation.translate import LONGEST_ANSWER, score_translations, translate_all
from training.vocabulary import train_pairs_vocabulary

QUICK_VALIDATION = 200  # sentences translated during a run


class TranslationTask:
    """Pairs in batches of similar lengths, in a different order in every pass."""

    metric = "BLEU of greedy translations of unseen sentences"

    def __init__(
        self,
        settings: TrainingSettings,
        folder: Path,
        output: Path,
        other_files: Mapping[str, float] = OTHER_FILES,
    ) -> None:
        """Raises `AttendError` if data is missing, or if there is too little.

        Args:
            other_files: what is learned besides `SOURCE_FILE`, and how often in each pass over that. A model that
                translates into French does not learn its own translations.
        """
        if settings.into == "French":
            other_files = {name: share for name, share in other_files.items() if name != BACK_TRANSLATED_FILE}
        parts = split_pairs(read_pairs(folder / SOURCE_FILE))
        if not parts["train"] or not parts["valid"]:
            raise AttendError(f"{folder} has too few sentence pairs for training and validation: add more.")
        others, missing = other_pairs(folder, other_files, held_out=[*parts["valid"], *parts["test"]])
        if settings.into == "French":
            parts = {part: turned(pairs) for part, pairs in parts.items()}
            others = [(share, turned(pairs)) for share, pairs in others]
        self.notes = [missing_note(missing, 1 + len(other_files), folder)] if missing else []
        learned = [(1.0, parts["train"]), *others]

        def vocabulary() -> bytes:
            texts = (text for _, pairs in learned for pair in pairs for text in (pair.source, pair.target))
            return train_pairs_vocabulary(texts, settings.vocabulary_size - 1)

        self.tokenizer = run_tokenizer(settings, vocabulary, output)
        self._end, self._padding = self.tokenizer.special_token_id(END), settings.vocabulary_size - 1
        self._smoothing = settings.label_smoothing
        encoded = [(share, self._fitting(pairs, settings.context_length)) for share, pairs in learned]
        self.batches: list[list[Encoded]] = []
        for reading in range(math.ceil(settings.passes)):
            rng = random.Random(f"{settings.seed} {reading}")
            read = [pair for share, pairs in encoded for pair in rng.sample(pairs, round(share * len(pairs)))]
            batches = list(by_length(read, settings.batch_tokens, rng))
            self.batches += batches[: round(len(batches) * min(1.0, settings.passes - reading))]
        if not self.batches:
            raise AttendError(
                f"{folder} has no usable sentence pairs: raise --context-length ({settings.context_length}) or "
                f"--passes ({settings.passes})."
            )
        self._first = [self.tokenizer.vocabulary_size, *encoded]
        self._validation = by_source(parts["valid"])

    def _fitting(self, pairs: Sequence[Pair], context_length: int) -> list[Encoded]:
        """The pairs that fit into the context, as ids."""
        encode, end = self.tokenizer.encode, self._end
        every = [([*encode(pair.source), end], [*encode(pair.target), end]) for pair in pairs]
        return [pair for pair in every if max(map(len, pair)) < context_length]

    def target_tokens(self, rows: Sequence[Encoded]) -> int:
        return sum(len(target) for _, target in rows)

    def loss(self, model: nn.Module, rows: Sequence[Encoded], device: torch.device) -> Tensor:
        source = _padded([source for source, _ in rows], self._padding).to(device)  # (R, S)
        read = _padded([[self._padding, *target[:-1]] for _, target in rows], self._padding).to(device)  # (R, T)
        targets = _padded([target for _, target in rows], IGNORED).to(device)  # (R, T)
        logits = model(source, read)  # (R, T, V - 1)
        return functional.cross_entropy(
            logits.float().flatten(0, 1),
            targets.flatten(),
            ignore_index=IGNORED,
            label_smoothing=self._smoothing,
            reduction="sum",
        )

    def measure(self, model: Transformer, *, whole: bool) -> float:
        sentences = list(self._validation)[: None if whole else QUICK_VALIDATION]
        loaded = LoadedModel.from_transformer("the translator in training", model, self.tokenizer)
        settings = DecodingSettings(strategy="greedy", max_new_tokens=LONGEST_ANSWER)
        translations = translate_all(loaded, sentences, settings)
        return score_translations(translations, [self._validation[sentence] for sentence in sentences]).bleu

    def fingerprint(self) -> str:
        """A hash of the vocabulary's size, the encoded pairs and their shares, so that a run may be resumed with more
        passes."""
        return hashlib.blake2b(repr(self._first).encode(), digest_size=16).hexdigest()


def _padded(rows: Sequence[Sequence[int]], filler: int) -> Tensor:
    """Rows of ids, padded on the right; (R, longest)."""
    longest = max(map(len, rows))
    return torch.tensor([[*row, *[filler] * (longest - len(row))] for row in rows])
