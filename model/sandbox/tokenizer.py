"""Tries a checkpoint's tokenizer out: the libraries that read it may never return, or end the whole process."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from model.sandbox.child import serve

_MOST_BYTES = 4_000_000_000  # reserved, of which the largest vocabularies use a fraction
_SAMPLES = ("", " ", "x", "Hi! How are you?", "a" * 2_000, " " * 2_000, "aB1." * 500, "日本語 e\u0301 🙂\r\n\t")


def try_out(path: str) -> None:
    """Read a file, and cut some texts with what is in it. What a library raises in order is left to whoever reads the
    file after this."""
    if path.endswith(".json"):
        from tokenizers import Tokenizer

        tokenizer = Tokenizer.from_str(Path(path).read_text(encoding="utf-8"))
        for text in _SAMPLES:
            with suppress(Exception):
                tokenizer.decode(tokenizer.encode(text).ids)
                tokenizer.encode(text, add_special_tokens=False)
    else:
        from sentencepiece import SentencePieceProcessor

        pieces = SentencePieceProcessor()
        pieces.LoadFromSerializedProto(Path(path).read_bytes())
        for text in _SAMPLES:
            with suppress(Exception):
                pieces.DecodeIds(pieces.EncodeAsIds(text))


if __name__ == "__main__":
    serve(try_out, _MOST_BYTES)
