"""The task of learning one's own files: each document once a pass, in another order in every pass."""

from __future__ import annotations

import math
import random
from collections.abc import Iterator
from pathlib import Path

from tqdm import tqdm

from model.errors import AttendError
from model.text.conversation import ChatFormat
from training import own_files
from training.conversations import ChatTask
from training.data import batches, encode
from training.data import rows as rows_of
from training.run.tokenizer import run_tokenizer
from training.settings import TrainingSettings
from training.vocabulary import train_vocabulary

VOCABULARY_TEXT = 10_000_000  # about how many characters teach the vocabulary, which more would hardly change
LONGEST_LINE = 1_000  # characters; SentencePiece leaves out lines of more than 4,192 bytes


def own_task(settings: TrainingSettings, folder: Path, output: Path) -> ChatTask:
    """The task for a folder of files; `AttendError` if one can't be read, or if there is too little text.

    Only the rows of one pass are held in memory, and every pass shuffles references to them, so that a run can be
    resumed with more passes.
    """
    validation = list(own_files.documents(folder, "valid"))
    if not validation:
        raise AttendError(
            f"{folder} has one document only, and one more is needed to measure the model: add text (a file is cut "
            f"every {own_files.PASSAGE:,} characters)."
        )
    size = settings.vocabulary_size
    tokenizer = run_tokenizer(settings, lambda: train_vocabulary(_vocabulary_text(folder, settings.seed), size), output)
    chat, longest = ChatFormat(tokenizer), settings.context_length + 1
    read = tqdm(own_files.documents(folder, "train"), desc="Reading", unit=" documents", leave=False)
    texts = (text for document in read for text in encode(document, tokenizer, chat, longest))
    rows = list(rows_of(texts))
    rng = random.Random(settings.seed)
    order = [row for _ in range(math.ceil(settings.passes)) for row in rng.sample(rows, len(rows))]
    order = order[: round(settings.passes * len(rows))]
    learned = list(batches(order, settings.batch_tokens))
    if not learned:
        raise AttendError(
            f"{folder} has too little text: {settings.passes:g} passes have {sum(len(row.tokens) for row in order):,} "
            f"tokens, and one step takes {settings.batch_tokens:,}. Add text, or lower --batch-tokens."
        )
    prompted = sum(document.system for document in own_files.read(folder))
    note = f"{prompted:,} conversations have a system prompt, which isn't learned: the model can't be given one."
    return ChatTask(
        tokenizer,
        rows=rows,
        batches=learned,
        validation=validation,
        metric="bits per byte on unseen text",
        notes=[note] if prompted else [],
        fused=settings.fuse == "yes",
    )


def _vocabulary_text(folder: Path, seed: int) -> Iterator[str]:
    """The text of documents drawn at random or, where there is little, of all that are learned."""
    rng, share = random.Random(seed), VOCABULARY_TEXT / own_files.size(folder)
    for document in own_files.documents(folder, "train"):
        if rng.random() < share:
            for turn in document.turns:
                yield from own_files.passages(turn, LONGEST_LINE)
