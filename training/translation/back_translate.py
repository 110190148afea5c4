"""Make sentence pairs out of English sentences alone: a model translates them into French (Sennrich et al., 2016).

    python -m training.train DATA runs/into-french --task translate --into French
    python -m training.translation.back_translate DATA --model runs/into-french

The English side of such a pair, which the model learns to write, is a person's; only the French that it reads is not.
The sentences are those of the English-German pairs that the English-French ones don't have.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from decoding.settings import DecodingSettings
from model.catalog import load
from model.command_line import Parser, command
from model.errors import AttendError
from training.translation.pairs import BACK_TRANSLATED_FILE, SOURCE_FILE, Pair, bare, read_pairs, write_pairs
from training.translation.translate import LONGEST_ANSWER, translate_all

ENGLISH_FILE = "translation/tatoeba_eng_deu.tsv.gz"


def new_sentences(folder: Path) -> list[str]:
    """The English sentences of `ENGLISH_FILE` that `SOURCE_FILE` doesn't have in any form, in the file's order.

    Those of its validation and test parts are therefore left out, too. `AttendError` if a file is missing.
    """
    seen = {bare(pair.target) for pair in read_pairs(folder / SOURCE_FILE)}
    sentences: dict[str, str] = {}
    for pair in read_pairs(folder / ENGLISH_FILE):
        if bare(pair.target) not in seen:
            sentences.setdefault(bare(pair.target), pair.target)
    return list(sentences.values())


@command
def main(arguments: Sequence[str] | None = None) -> None:
    parser = Parser(
        prog="python -m training.translation.back_translate",
        description="Translate English sentences that have no French ones, as further pairs to learn from.",
    )
    parser.add_argument("data", metavar="DATA", type=Path, help="the folder with the training data")
    parser.add_argument("--model", metavar="FOLDER", required=True, help="a model that writes French")
    parser.add_argument(
        "--output", metavar="FILE", type=Path, help=f"the file to write (default DATA/{BACK_TRANSLATED_FILE})"
    )
    options = parser.parse_args(arguments)
    loaded, output = load(options.model), options.output or options.data / BACK_TRANSLATED_FILE
    if not loaded.model.decoder_start:
        raise AttendError(f"{loaded.name} is not a translator: choose another model.")
    sentences = new_sentences(options.data)
    settings = DecodingSettings(strategy="greedy", max_new_tokens=LONGEST_ANSWER)
    translations = translate_all(loaded, sentences, settings, progress=True)
    translated = (" ".join(french.split()) for french in translations)
    pairs = [Pair(french, english) for english, french in zip(sentences, translated, strict=True) if french]
    write_pairs(pairs, output)
    print(f"{len(pairs):,} pair{'' if len(pairs) == 1 else 's'} in {output}")


if __name__ == "__main__":
    sys.exit(main())
