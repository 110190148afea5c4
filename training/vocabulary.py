"""Train the SentencePiece vocabulary on the text that the model will learn.

BPE with byte fallback and no normalisation of any kind, so that every text comes back exactly; roles are control
symbols, which typed text cannot reach.
"""

from __future__ import annotations

import io
from collections.abc import Iterable

from sentencepiece import SentencePieceTrainer

from model.errors import AttendError
from model.tokenizer import ASSISTANT, BEGIN, END, USER


def train_vocabulary(texts: Iterable[str], size: int) -> bytes:
    """The serialised SentencePiece model with `size` pieces; deterministic for the same texts in the same order.

    Raises `AttendError` where the text has too few, or too many, different characters for that many pieces.
    """
    model = io.BytesIO()
    try:
        SentencePieceTrainer.Train(
            sentence_iterator=(line for text in texts for line in text.split("\n") if line),
            model_writer=model,
            model_type="bpe",
            vocab_size=size,
            character_coverage=0.9999,
            normalization_rule_name="identity",
            add_dummy_prefix=False,
            remove_extra_whitespaces=False,
            byte_fallback=True,
            split_digits=True,
            bos_piece=BEGIN,
            eos_piece=END,
            control_symbols=[USER, ASSISTANT],
            num_threads=1,
            minloglevel=2,
        )
    except RuntimeError as error:
        raise AttendError(f"No vocabulary of {size:,} pieces can be made of this text: {error}") from error
    return model.getvalue()
