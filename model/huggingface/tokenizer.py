"""The tokenizer of a Hugging Face checkpoint, whose tokens are exact bytes for byte-level BPE and SentencePiece.

Other kinds (whole words, WordPiece, plain letters) drop spaces or capitals, so a decoded text may differ.

`model.huggingface.tokenizers` reads the files and the Rust library splits texts; decoding is ours, from the bytes of
each token, so that it streams. `encode` is for text that people type and never produces special tokens; `parse` is for
the output of a chat template and does.
"""

from __future__ import annotations

import json
import os
from abc import abstractmethod
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from itertools import islice, pairwise
from typing import Any

from tokenizers import Encoding
from tokenizers import Tokenizer as Backend
from transformers.tokenization_utils_base import PreTrainedTokenizerBase

from model.errors import AttendError
from model.huggingface.tokenizers.notes import tokenizer_notes
from model.text.sentencepiece_tokenizer import SPACE
from model.text.tokenizer import TextTokenizer, check_whole

os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")  # a batch is a single text, so no pool of threads is needed
_TRIES = 100  # tokens to try until one is split as it is written


class CheckpointTokenizer(TextTokenizer):
    """The tokenizer of a checkpoint, with the special tokens around texts and conversations."""

    hf_tokenizer: PreTrainedTokenizerBase  # names the special tokens, and has the chat template
    prefix_tokens: tuple[int, ...]  # before every text
    suffix_tokens: tuple[int, ...]  # after every source of an encoder
    notes: tuple[str, ...]  # sentences that a person should read
    unknown: int | None  # the token for text that the vocabulary lacks

    @abstractmethod
    def parse(self, text: str) -> list[int]:
        """Ids of a text in which a special token's name stands for the token."""


class HuggingFaceTokenizer(CheckpointTokenizer):
    """A tokenizer of transformers for a model whose vocabulary may have more ids than it knows."""

    def __init__(self, hf_tokenizer: PreTrainedTokenizerBase, vocabulary_size: int) -> None:
        """Raises `AttendError` for a tokenizer with another vocabulary, or one that can't split texts."""
        backend = backend_of(hf_tokenizer)
        described = json.loads(backend.to_str())
        added = backend.get_added_tokens_decoder()
        ids = backend.get_vocab(with_added_tokens=True)
        check_size(ids.values(), [piece for piece, token in added.items() if token.special], vocabulary_size)
        names = {piece: backend.id_to_token(piece) for piece in range(vocabulary_size)}
        special = {piece: f"<unused {piece}>" for piece, name in names.items() if name is None}
        special |= {piece: token.content for piece, token in added.items() if token.special and piece in names}
        self.unknown = _unknown(described["model"], ids)
        if self.unknown is not None:
            special[self.unknown] = names[self.unknown] or ""
        to_bytes, exact = _reader(described)
        bytes_of = [
            b"" if piece in special else added[piece].content.encode() if piece in added else to_bytes(name or "")
            for piece, name in names.items()
        ]
        written = (name for piece, name in names.items() if name and piece not in special)
        plain, self.prefix_tokens, self.suffix_tokens = framing(backend, ("x", *islice(written, _TRIES)), special)
        prefix = b"".join(bytes_of[piece] for piece in plain).startswith(b" ")
        super().__init__(bytes_of, special, prefix=b" " if prefix else b"")
        self.hf_tokenizer = hf_tokenizer
        self._check(backend, self.prefix_tokens + self.suffix_tokens)
        self._parsing = copied(described, special=False)
        self._beginning = copied(described, special=True)
        self._going_on = copied(_without_prefix(described), special=True) if prefix else self._beginning
        self.notes = tokenizer_notes(self, self.unknown, exact=exact)

    def encode(self, text: str, *, begins: bool = False) -> list[int]:
        check_whole(text)
        ids: list[int] = []
        backend, parts = self._beginning if begins else self._going_on, [text]  # the next part is the last
        while parts:
            part = parts.pop()
            encoding = encoded(backend, part)
            if cuts := self._cuts(part, encoding):
                parts += reversed([part[first:end] for first, end in pairwise((0, *cuts, len(part)))])
            else:
                ids += encoding.ids
                backend = self._going_on
        return self._check(backend, ids)

    def _cuts(self, text: str, encoding: Encoding) -> list[int]:
        """Where to cut a text that was read as special tokens: a unigram vocabulary holds their names as pieces, but
        not the two parts of a name."""
        cuts = []
        for piece, (first, end) in zip(encoding.ids, encoding.offsets, strict=True):
            if piece not in self._special:
                continue
            name, read = self._special[piece], text[first:end]
            if read.strip() == name:
                cuts += [first + read.index(name) + 1] * (len(name) > 1)  # one letter, such as "!", is text as well
            elif piece != self.unknown:
                raise AttendError(f"This model's tokenizer has no token for {read!r}: leave it out.")
        return cuts

    def parse(self, text: str) -> list[int]:
        return self._check(self._parsing, encoded(self._parsing, text).ids)

    def _check(self, backend: Backend, ids: Sequence[int]) -> list[int]:
        """The same ids; `AttendError` for one that was added to the tokenizer, but not to its model."""
        for piece in ids:
            if piece >= self.vocabulary_size:
                raise not_known(backend.id_to_token(piece))
        return [*ids]


def not_known(name: str | None) -> AttendError:
    """The error for a token that was added to a tokenizer, but not to its model."""
    return AttendError(
        f"The tokenizer has a token {name!r} that its model doesn't know: leave it out of the text, or choose another "
        "model."
    )


def encoded(backend: Backend, text: str, *, framed: bool = False) -> Encoding:
    """The tokens that a backend makes of a text; `AttendError` if it fails.

    Other threads run meanwhile. `Backend.encode` would hold the interpreter's lock, and a tokenizer's rules may take
    minutes on a rare text.

    Args:
        framed: whether special tokens are put around the text.
    """
    try:
        return backend.encode_batch([text], add_special_tokens=framed)[0]
    except BaseException as error:  # a panic of the Rust library is no Exception
        if isinstance(error, KeyboardInterrupt | SystemExit):
            raise
        raise AttendError(
            "This model's tokenizer fails on this text: change the text, or choose another model."
        ) from error


def backend_of(hf_tokenizer: PreTrainedTokenizerBase) -> Backend:
    """The library object that splits texts for a tokenizer of transformers; `AttendError` if that is Python code."""
    backend = getattr(hf_tokenizer, "backend_tokenizer", None)
    if not isinstance(backend, Backend):
        raise AttendError("This tokenizer has no tokenizer.json and cannot be made into one: choose another model.")
    return backend


def check_size(ids: Collection[int], added: Collection[int], vocabulary_size: int) -> None:
    """Raise `AttendError` for a tokenizer of another model.

    Args:
        added: special tokens that were added to the vocabulary. They may lie above the model's, as padding often does:
            nobody can type them, and the model can't choose them.
    """
    size = max(ids, default=-1) + 1
    own = size if size <= vocabulary_size else max((piece for piece in ids if piece not in added), default=-1) + 1
    if not vocabulary_size / 2 < size or own > vocabulary_size:  # models round their vocabulary up, but never so far
        raise AttendError(
            f"The tokenizer has {size:,} tokens, but its model has {vocabulary_size:,}: they belong to different "
            "checkpoints."
        )


def _unknown(model: Mapping[str, Any], ids: Mapping[str, int]) -> int | None:
    """The token that a vocabulary has for text that it lacks."""
    return model["unk_id"] if "unk_id" in model else ids.get(model.get("unk_token") or "")


def framing(
    backend: Backend, texts: Iterable[str], special: Collection[int]
) -> tuple[list[int], tuple[int, ...], tuple[int, ...]]:
    """The ids of the first text that the vocabulary has, and what its tokenizer puts before and after each text."""
    for text in texts:
        plain, framed = (backend.encode(text, add_special_tokens=frame).ids for frame in (False, True))
        start = next((index for index in range(len(framed)) if framed[index : index + len(plain)] == plain), None)
        if plain and start is not None and not any(piece in special for piece in plain):
            return plain, tuple(framed[:start]), tuple(framed[start + len(plain) :])
    raise AttendError("This model's tokenizer loses part of the text: choose another model.")


def copied(described: Mapping[str, Any], *, special: bool) -> Backend:
    """A tokenizer of its own, which never cuts or pads; `special`: names of special tokens are text like any other."""
    backend = Backend.from_str(json.dumps(described))
    backend.encode_special_tokens = special
    backend.no_truncation()
    backend.no_padding()
    return backend


def _without_prefix(described: Mapping[str, Any]) -> dict[str, Any]:
    """The same tokenizer without the space that it writes before a text."""

    def changed(part: Any) -> Any:
        match part:
            case {"type": "Prepend"}:
                return None
            case {"type": "Metaspace"}:
                return {**part, "prepend_scheme": "never"}
            case {"type": "ByteLevel"}:
                return {**part, "add_prefix_space": False}
            case {"type": "Sequence", "normalizers": parts}:
                return {
                    **part,
                    "normalizers": [normalizer for normalizer in map(changed, parts) if normalizer is not None],
                }
            case {"type": "Sequence", "pretokenizers": parts}:
                return {**part, "pretokenizers": [*map(changed, parts)]}
        return part

    return {
        **described,
        "normalizer": changed(described["normalizer"]),
        "pre_tokenizer": changed(described["pre_tokenizer"]),
    }


def _reader(described: Mapping[str, Any]) -> tuple[Callable[[str], bytes], bool]:
    """How the bytes of a token follow from how the vocabulary writes it, and whether they are a text's very bytes."""
    decoder, model = described["decoder"] or {}, described["model"]
    parts = [part for part in decoder.get("decoders", [decoder]) if part]
    kinds = {part["type"] for part in parts}
    if "ByteLevel" in kinds:
        return _byte_level, True
    if "Metaspace" in kinds or any(
        part["type"] == "Replace" and part["pattern"] == {"String": SPACE} for part in parts
    ):
        pieces = {f"<0x{byte:02X}>": bytes([byte]) for byte in range(256)} if "ByteFallback" in kinds else {}
        return lambda name: pieces.get(name) or name.replace(SPACE, " ").encode(), True
    if ends_word := model.get("end_of_word_suffix"):  # as in the first GPT
        return lambda name: (f"{name[: -len(ends_word)]} " if name.endswith(ends_word) else name).encode(), False
    if goes_on := model.get("continuing_subword_prefix"):  # as in BERT
        return lambda name: (name[len(goes_on) :] if name.startswith(goes_on) else f" {name}").encode(), False
    space = " " if model["type"] == "WordLevel" else ""
    return lambda name: f"{space}{name}".encode(), False


def _byte_level(name: str) -> bytes:
    try:
        return b"".join(BYTE_ALPHABET[character] for character in name)
    except KeyError as error:
        raise AttendError(
            f"The tokenizer of this model holds {name[:40]!r}, which byte-level BPE cannot spell: choose another model."
        ) from error


def _byte_alphabet() -> dict[str, bytes]:
    """GPT-2's characters for bytes (Radford et al., 2019): printable ones are themselves, others begin at 256."""
    printable = [*range(ord("!"), ord("~") + 1), *range(ord("¡"), ord("¬") + 1), *range(ord("®"), ord("ÿ") + 1)]
    others = [byte for byte in range(256) if byte not in printable]
    return {chr(byte): bytes([byte]) for byte in printable} | {
        chr(256 + number): bytes([byte]) for number, byte in enumerate(others)
    }


BYTE_ALPHABET = _byte_alphabet()
