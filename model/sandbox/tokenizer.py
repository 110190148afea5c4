"""Tries out a checkpoint's tokenizer, since the libraries that read it may hang, or crash the whole process."""

from __future__ import annotations

import json
import os
import unicodedata
from collections.abc import Callable, Iterator
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import Any

from model.sandbox.child import MAX_BYTES, close_off, serve

_SAMPLES = ("", " ", "x", "Hi! How are you?", "a" * 2_000, " " * 2_000, "aB1." * 500, "日本語 e\u0301 🙂\r\n\t")
_RULES = ("normalizer", "pre_tokenizer", "post_processor")  # of a tokenizer.json, besides its vocabulary
_MAX_CHARACTERS = 500  # of the rules; real ones name a few dozen


def try_out(path: str) -> None:
    """Load a tokenizer and encode some texts; afterwards the process can't open another file.

    Exceptions while encoding are ignored: whoever loads the file next handles them.
    """
    content = Path(path).read_bytes()
    if path.endswith(".json"):
        from tokenizers import Tokenizer

        close_off()
        text = content.decode()
        tokenizer = Tokenizer.from_str(text)
        encode_samples(lambda sample: _encoded_twice(tokenizer, sample), json.loads(text))
    else:
        from sentencepiece import SentencePieceProcessor

        close_off()
        pieces = SentencePieceProcessor()
        pieces.LoadFromSerializedProto(content)
        encode_samples(lambda sample: pieces.DecodeIds(pieces.EncodeAsIds(sample)))


def _encoded_twice(tokenizer: Any, sample: str) -> None:
    """Encode a text with the special tokens of the tokenizer's rules, and without."""
    tokenizer.decode(tokenizer.encode(sample).ids)
    tokenizer.encode(sample, add_special_tokens=False)


def encode_samples(encode: Callable[[str], object], described: object = None) -> None:
    """Encode some texts.

    Args:
        described: the tokenizer.json, if there is one: the characters that it names are tried as well.
    """
    for sample in (*_SAMPLES, _all_scripts(), *_samples_of(described)):
        with suppress(Exception):
            encode(sample)


def _all_scripts() -> str:
    """A few characters of every script."""
    return "".join(chr(code) for code in range(0x20, 0x20000, 32) if unicodedata.category(chr(code))[0] != "C")


def _samples_of(described: object) -> Iterator[str]:
    """Texts of the characters that the rules of a tokenizer.json name, alone and in long repetition."""
    rules = described if isinstance(described, dict) else {}
    named = "".join(_texts([rules.get(name) for name in _RULES]))
    for character in islice(dict.fromkeys(named), _MAX_CHARACTERS):
        yield character
        yield character * 500 + "!"


def _texts(value: Any) -> Iterator[str]:
    """All texts in a JSON value."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for part in value.values() if isinstance(value, dict) else value:
            yield from _texts(part)


if __name__ == "__main__":
    os.environ["TOKENIZERS_PARALLELISM"] = "false"  # no threads can be started
    serve(try_out, MAX_BYTES, modules=("tokenizers", "sentencepiece"))
