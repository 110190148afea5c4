"""The chat model's task: conversations and stories in packed rows; every token is predicted from those before it."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path

import torch
from torch import Tensor, nn
from torch.nn import functional

from model.errors import AttendError
from model.text.conversation import ChatFormat
from model.text.sentencepiece_tokenizer import Tokenizer
from model.transformer import checkpoint
from model.transformer.decoder import Transformer
from training.data import IGNORED, Document, Row, documents, encode, mixed, pack, present, schedule, visible
from training.evaluate import bits_per_byte
from training.mixture import CHAT_MIXTURE, scaled
from training.settings import TrainingSettings
from training.skills.dialogues import skill_dialogues
from training.skills.small_talk import SmallTalk
from training.vocabulary import train_vocabulary

QUICK_VALIDATION = 24  # dialogues measured during a run


class ChatTask:
    """The mixture's documents, first in rows of half the context, then in rows of the whole context."""

    metric = "bits per byte on unseen dialogues"
    notes: Sequence[str] = ()

    def __init__(self, settings: TrainingSettings, folder: Path, output: Path) -> None:
        """Raises `AttendError` if data is missing, or if there is too little."""
        sources, missing = present(CHAT_MIXTURE, folder)
        if missing:
            files = len({source.path for source in CHAT_MIXTURE})
            self.notes = (
                f"{len(missing)} of the mixture's {files} files are not in {folder}, and the model learns from the "
                f"others: {', '.join(missing)}.",
            )
        self._tokenizer = make_tokenizer(settings, folder, output)
        self._chat = ChatFormat(self._tokenizer)
        self.batches = make_batches(settings, folder, self._tokenizer, self._chat)
        self._validation = documents(sources[0], folder, "valid")
        if not self.batches or not self._validation:
            raise AttendError(f"{folder} has too few dialogues for training and validation: add more.")

    def target_tokens(self, rows: Sequence[Row]) -> int:
        return sum(int((row.targets != IGNORED).sum()) for row in rows)

    def loss(self, model: nn.Module, rows: Sequence[Row], device: torch.device) -> Tensor:
        tokens, targets, positions, mask = (part.to(device) for part in collate(rows))
        loss_mask = targets != IGNORED  # (R, T)
        logits = model(tokens, positions, mask, loss_mask)  # (target tokens, V)
        return functional.cross_entropy(logits.float(), targets[loss_mask], reduction="sum")

    def measure(self, model: Transformer, *, whole: bool) -> float:
        dialogues = self._validation if whole else self._validation[:QUICK_VALIDATION]
        return bits_per_byte(model, self._tokenizer, self._chat, dialogues)

    def fingerprint(self) -> str:
        digest = hashlib.blake2b(digest_size=16)
        for batch in self.batches:
            for row in batch:
                digest.update(row.tokens.numpy().tobytes())
                digest.update(row.targets.numpy().tobytes())
        return digest.hexdigest()


def make_tokenizer(settings: TrainingSettings, folder: Path, output: Path) -> Tokenizer:
    """The run's tokenizer, trained on the training text the first time; the best dialogues count three times."""
    path = output / checkpoint.TOKENIZER
    if not path.exists() and settings.init_from:
        first = Path(settings.init_from) / checkpoint.TOKENIZER
        Tokenizer.load(first)  # refuses a file that is missing or not a tokenizer
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(first.read_bytes())
    if not path.exists():
        texts: list[str] = []
        for source in present(CHAT_MIXTURE, folder)[0]:
            turns = [turn for document in documents(source, folder, "train") for turn in document.turns]
            texts += turns * (3 if source == CHAT_MIXTURE[0] else 1)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(train_vocabulary(texts, settings.vocabulary_size))
    return Tokenizer.load(path)


def make_batches(settings: TrainingSettings, folder: Path, tokenizer: Tokenizer, chat: ChatFormat) -> list[list[Row]]:
    """The rows of every step, in order: first rows of half the context, then rows of the whole context."""
    sources, _ = present(CHAT_MIXTURE, folder)
    order: Sequence[Document] = schedule(scaled(sources, settings.passes), folder, settings.seed)
    turn = round(settings.short_part * len(order))
    batches = []
    for part, length in ((order[:turn], settings.context_length // 2), (order[turn:], settings.context_length)):
        brief = length < settings.context_length
        if settings.skills:
            talk = SmallTalk([]) if brief else SmallTalk.load(folder, "train")
            part = mixed(part, skill_dialogues(talk, settings.seed + brief), settings.skills)
        texts = (text for document in part for text in encode(document, tokenizer, chat, length + 1))
        rows = list(pack(texts, length))
        size = settings.batch_tokens // length
        batches += [rows[start : start + size] for start in range(0, len(rows) - size + 1, size)]
    return batches


def collate(rows: Sequence[Row]) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """The rows as tensors: tokens, targets and positions, each (R, T), and the attention mask, (R, 1, T, T)."""
    tokens, targets, positions, segments = (
        torch.stack([getattr(row, name) for row in rows]).long()
        for name in ("tokens", "targets", "positions", "segments")
    )
    return tokens, targets, positions, visible(segments)
