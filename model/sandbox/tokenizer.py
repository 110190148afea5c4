"""Tries out a checkpoint's tokenizer, since the libraries that read it may hang, or crash the whole process."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from model.sandbox.child import serve

_MOST_BYTES = 4_000_000_000  # reserved; the largest vocabularies use a fraction of it
_SAMPLES = ("", " ", "x", "Hi! How are you?", "a" * 2_000, " " * 2_000, "aB1." * 500, "日本語 e\u0301 🙂\r\n\t")


def try_out(path: str) -> None:
    """Load a tokenizer and encode some texts. Exceptions while encoding are ignored: whoever loads the file next
    handles them."""
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
