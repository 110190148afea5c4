"""The tokenizer of a run: made the first time, and kept in the run's folder."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from model.errors import AttendError
from model.text.sentencepiece_tokenizer import Tokenizer
from model.transformer import checkpoint
from training.settings import TrainingSettings


def run_tokenizer(settings: TrainingSettings, train: Callable[[], bytes], output: Path) -> Tokenizer:
    """The run's tokenizer: that of the checkpoint to begin with, or one that is trained the first time.

    Raises `AttendError` if the model needs a vocabulary of another size.
    """
    path, padded = output / checkpoint.TOKENIZER, settings.encoder_layers > 0  # a translator's has padding
    if not path.exists():
        if settings.init_from:
            first = Path(settings.init_from) / checkpoint.TOKENIZER
            size = Tokenizer.load(first, padded=padded).vocabulary_size  # refuses what is missing or no tokenizer
            if size != settings.vocabulary_size:
                raise AttendError(
                    f"{settings.init_from} has a vocabulary of {size:,} tokens: leave out --vocabulary-size."
                )
            vocabulary = first.read_bytes()
        else:
            vocabulary = train()
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(vocabulary)
    tokenizer = Tokenizer.load(path, padded=padded)
    if tokenizer.vocabulary_size != settings.vocabulary_size:
        raise AttendError(
            f"{output} has a vocabulary of {tokenizer.vocabulary_size:,} tokens, but the model needs one of "
            f"{settings.vocabulary_size:,}: choose a new folder for the run."
        )
    return tokenizer
