"""Train the SentencePiece vocabulary on the text that the model will learn: BPE with byte fallback.

The vocabulary for conversations normalises nothing, so that every text can be restored exactly. Roles are control
symbols, which typed text cannot produce. The translator's vocabulary normalises the spaces, quotes and accents of
French.

    python -m training.vocabulary TEXT.txt --size 4096 --output tokenizer.model
"""

from __future__ import annotations

import io
import re
import string
import sys
import tempfile
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from sentencepiece import SentencePieceTrainer

from model.command_line import Parser, command, writing
from model.errors import AttendError
from model.text.sentencepiece_tokenizer import ASSISTANT, BEGIN, END, USER

_SPACES = "\t\n\r\u00a0\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u202f\u3000"
_NOTHING = "\u00ad\u200b\u200c\u200d\u2060\ufeff"  # soft hyphens and characters without width
_PLAIN = {"\u2018": "'", "\u2019": "'", "\u02bc": "'", "\u201c": '"', "\u201d": '"', "\u2026": "...", "\u2010": "-"}
_PLAIN |= {"\u2011": "-", "\u2581": "_"}  # SentencePiece writes a space as the last
_ACCENTS = "\u0300\u0301\u0302\u0303\u0308\u0327"


def train_vocabulary(texts: Iterable[str], size: int) -> bytes:
    """The serialised SentencePiece model with `size` pieces; deterministic for the same texts in the same order.

    Raises `AttendError` if the text has too few or too many different characters for that many pieces.
    """
    return _trained(
        texts,
        size,
        normalization_rule_name="identity",
        add_dummy_prefix=False,
        remove_extra_whitespaces=False,
        bos_piece=BEGIN,
        control_symbols=[USER, ASSISTANT],
    )


def train_pairs_vocabulary(texts: Iterable[str], size: int) -> bytes:
    """Like `train_vocabulary`, for sentences, which each begin with a space and are normalised as the module says."""
    with tempfile.TemporaryDirectory() as folder:
        rules = Path(folder) / "rules.tsv"
        rules.write_text("".join(f"{_codes(source)}\t{_codes(plain)}\n" for source, plain in _rules()))
        return _trained(
            texts,
            size,
            normalization_rule_tsv=str(rules),
            add_dummy_prefix=True,
            remove_extra_whitespaces=True,
            bos_id=-1,
            eos_id=1,
            unk_id=0,
        )


def _rules() -> Iterator[tuple[str, str]]:
    yield from ((space, " ") for space in _SPACES)
    yield from ((nothing, "") for nothing in _NOTHING)
    yield from _PLAIN.items()
    for letter in string.ascii_letters:
        for accent in _ACCENTS:
            if len(composed := unicodedata.normalize("NFC", letter + accent)) == 1:
                yield letter + accent, composed


def _codes(text: str) -> str:
    return " ".join(f"{ord(character):X}" for character in text)


def _trained(texts: Iterable[str], size: int, **options: Any) -> bytes:
    model = io.BytesIO()
    try:
        SentencePieceTrainer.Train(
            sentence_iterator=(line for text in texts for line in text.split("\n") if line),
            model_writer=model,
            model_type="bpe",
            vocab_size=size,
            character_coverage=0.9999,
            byte_fallback=True,
            split_digits=True,
            eos_piece=END,
            num_threads=1,
            minloglevel=2,
            **options,
        )
    except RuntimeError as error:
        raise AttendError(_why(size, str(error))) from error
    return model.getvalue()


def _why(size: int, error: str) -> str:
    """SentencePiece's own error as a sentence for people."""
    if most := re.search(r"<= (\d+)", error):
        return (
            f"This text has only enough variety for {int(most[1]):,} vocabulary pieces, not {size:,}: add text to it, "
            "or ask for fewer."
        )
    if least := re.search(r"required_chars\. \d+ vs (\d+)", error):
        return (
            f"This text has so many different characters that it needs {int(least[1]):,} vocabulary pieces, not "
            f"{size:,}: ask for more."
        )
    return f"No vocabulary of {size:,} pieces can be made of this text: add to it, or choose another size."


@command
def main(arguments: Sequence[str] | None = None) -> None:
    parser = Parser(prog="python -m training.vocabulary", description="Train a vocabulary on text files, and save it.")
    parser.add_argument("files", metavar="FILE", nargs="+", type=Path, help="text in UTF-8")
    parser.add_argument("--size", metavar="N", type=int, default=4096, help="pieces in the vocabulary (default 4,096)")
    parser.add_argument(
        "--sentences", action="store_true", help="for a translator: spaces, quotes and accents are written in one way"
    )
    parser.add_argument(
        "--output",
        metavar="FILE",
        type=Path,
        default=Path("tokenizer.model"),
        help="the SentencePiece model to write (default tokenizer.model)",
    )
    options = parser.parse_args(arguments)
    try:
        texts = [file.read_text(encoding="utf-8") for file in options.files]
    except (OSError, UnicodeDecodeError) as error:
        raise AttendError(f"The text can't be read ({error}): give files of UTF-8 text.") from error
    vocabulary = (train_pairs_vocabulary if options.sentences else train_vocabulary)(texts, options.size)
    with writing(options.output):
        options.output.write_bytes(vocabulary)
    print(f"Wrote {options.output} with {options.size:,} pieces.")


if __name__ == "__main__":
    sys.exit(main())
