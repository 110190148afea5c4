"""The chat model's task: conversations and stories in packed batches; every token is predicted from those before it."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import Tensor, nn

from model.errors import AttendError
from model.text.conversation import ChatFormat
from model.text.sentencepiece_tokenizer import Tokenizer
from model.transformer.decoder import Transformer
from training.data import (
    IGNORED,
    Document,
    Row,
    batches,
    documents,
    encode,
    missing_note,
    mixed,
    pack,
    present,
    rows,
    schedule,
)
from training.evaluate import bits_per_byte
from training.mixture import CHAT_MIXTURE, scaled
from training.run.machine import fused_loss, summed_loss
from training.run.tokenizer import run_tokenizer
from training.settings import TrainingSettings
from training.skills.dialogues import skill_dialogues
from training.skills.small_talk import SmallTalk
from training.vocabulary import train_vocabulary

QUICK_VALIDATION = 24  # dialogues measured during a run


@dataclass(frozen=True, slots=True)
class ChatTask:
    """Texts to learn, and dialogues or stories to measure on; see `TrainingTask`."""

    tokenizer: Tokenizer
    rows: Sequence[Row]  # all that is learned
    batches: Sequence[Sequence[Row]]
    validation: Sequence[Document]
    metric: str
    notes: Sequence[str] = ()
    fused: bool = False  # whether a compiler fuses the passes of the loss

    def target_tokens(self, rows: Sequence[Row]) -> int:
        return sum(int((row.targets != IGNORED).sum()) for row in rows)

    def loss(self, model: nn.Module, rows: Sequence[Row], device: torch.device) -> Tensor:
        tokens, targets, positions, groups = pack(rows)
        learned = targets != IGNORED  # (1, N)
        logits = model(tokens.to(device), learned.to(device), positions.to(device), groups)  # (learned tokens, V)
        return (fused_loss if self.fused else summed_loss)(logits, targets[learned].to(device))

    def measure(self, model: Transformer, *, whole: bool) -> float:
        measured = self.validation if whole else self.validation[:QUICK_VALIDATION]
        return bits_per_byte(model, self.tokenizer, ChatFormat(self.tokenizer), measured)

    def fingerprint(self) -> str:
        digest = hashlib.blake2b(digest_size=16)
        for row in self.rows:
            digest.update(row.tokens.numpy().tobytes())
            digest.update(row.targets.numpy().tobytes())
        return digest.hexdigest()


def mixture_task(settings: TrainingSettings, folder: Path, output: Path) -> ChatTask:
    """The mixture's documents; `AttendError` if data is missing, or if there is too little."""
    sources, missing = present(CHAT_MIXTURE, folder)
    files = len({source.path for source in CHAT_MIXTURE})
    tokenizer = run_tokenizer(
        settings, lambda: train_vocabulary(_mixture_texts(folder), settings.vocabulary_size), output
    )
    learned = list(batches(make_rows(settings, folder, tokenizer, ChatFormat(tokenizer)), settings.batch_tokens))
    validation = documents(sources[0], folder, "valid")
    if not learned or not validation:
        raise AttendError(f"{folder} has too few dialogues for training and validation: add more.")
    return ChatTask(
        tokenizer,
        rows=[row for batch in learned for row in batch],
        batches=learned,
        validation=validation,
        metric="bits per byte on unseen dialogues",
        notes=[missing_note(missing, files, folder)] if missing else [],
        fused=settings.fuse == "yes",
    )


def _mixture_texts(folder: Path) -> Iterator[str]:
    """The training text, of which the best dialogues count three times."""
    for source in present(CHAT_MIXTURE, folder)[0]:
        turns = [turn for document in documents(source, folder, "train") for turn in document.turns]
        yield from turns * (3 if source == CHAT_MIXTURE[0] else 1)


def make_rows(settings: TrainingSettings, folder: Path, tokenizer: Tokenizer, chat: ChatFormat) -> Iterator[Row]:
    """All that a run reads, in order."""
    sources, _ = present(CHAT_MIXTURE, folder)
    order: Iterable[Document] = schedule(scaled(sources, settings.passes), folder, settings.seed)
    if settings.skills:
        order = mixed(order, skill_dialogues(SmallTalk.load(folder, "train"), settings.seed), settings.skills)
    longest = settings.context_length + 1
    return rows(text for document in order for text in encode(document, tokenizer, chat, longest))
