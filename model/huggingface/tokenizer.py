"""The tokenizer of a Hugging Face checkpoint, whose tokens are exact bytes for byte-level BPE and SentencePiece.

Other kinds (whole words, WordPiece, plain letters) drop spaces or capitals, so a text may come back differently.

`AutoTokenizer` reads the files and the Rust library splits texts; decoding is ours, from the bytes of each token, so
that it streams. `encode` is for text that people type and never produces special tokens; `parse` is for the output of
a chat template and does.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Mapping
from itertools import islice
from pathlib import Path
from typing import Any, Self

from tokenizers import Encoding
from tokenizers import Tokenizer as Backend
from transformers import AutoTokenizer
from transformers.tokenization_utils_base import PreTrainedTokenizerBase

from model.errors import AttendError
from model.text.sentencepiece_tokenizer import SPACE
from model.text.tokenizer import TextTokenizer, check_whole

_INEXACT = (
    "This model's tokenizer doesn't keep every space and capital letter, so a text may not come back exactly as it was "
    "written."
)
_TRIES = 100  # tokens looked at for one that is split as it is written
_BEGINNINGS = ("tokenizer.", "vocab", "spiece.", "spm.", "sentencepiece.", "source.", "bpe.")  # of vocabularies' files


class HuggingFaceTokenizer(TextTokenizer):
    """A tokenizer of transformers for a model whose vocabulary may have more ids than it knows."""

    def __init__(self, hf_tokenizer: PreTrainedTokenizerBase, vocabulary_size: int) -> None:
        """Raises `AttendError` for a tokenizer of another vocabulary, or one that splits no text."""
        backend = _backend_of(hf_tokenizer)
        size = backend.get_vocab_size(with_added_tokens=True)
        if not vocabulary_size / 2 < size <= vocabulary_size:  # models round their vocabulary up, but never so far
            raise AttendError(
                f"The tokenizer has {size:,} tokens, its model {vocabulary_size:,}: they belong to different "
                "checkpoints."
            )
        described = json.loads(backend.to_str())
        added = backend.get_added_tokens_decoder()
        names = {piece: backend.id_to_token(piece) for piece in range(vocabulary_size)}
        special = {piece: f"<unused {piece}>" for piece, name in names.items() if name is None}
        special |= {piece: token.content for piece, token in added.items() if token.special}
        special |= {
            piece: name for piece, name in names.items() if name and name == described["model"].get("unk_token")
        }
        to_bytes, exact = _reader(described)
        self.notes = () if exact else (_INEXACT,)  # sentences that a person should read
        bytes_of = [
            b"" if piece in special else added[piece].content.encode() if piece in added else to_bytes(name or "")
            for piece, name in names.items()
        ]
        plain, framed = _framing(backend, names, special)
        prefix = b"".join(bytes_of[piece] for piece in plain).startswith(b" ")
        super().__init__(bytes_of, special, prefix=b" " if prefix else b"")
        self.hf_tokenizer = hf_tokenizer
        start = next(index for index in range(len(framed)) if framed[index : index + len(plain)] == plain)
        self.prefix_tokens, self.suffix_tokens = tuple(framed[:start]), tuple(framed[start + len(plain) :])
        self._parsing = copied(described, special=False)
        self._beginning = copied(described, special=True)
        self._going_on = copied(_without_prefix(described), special=True) if prefix else self._beginning

    @classmethod
    def load(cls, folder: Path, vocabulary_size: int) -> Self:
        """Read the tokenizer of a checkpoint folder, without running code from it."""
        return cls(_read(folder), vocabulary_size)

    def encode(self, text: str, *, begins: bool = False) -> list[int]:
        check_whole(text)
        ids: list[int] = []
        backend = self._beginning if begins else self._going_on
        while True:
            encoding = _encoded(backend, text)
            index = next((index for index, piece in enumerate(encoding.ids) if piece in self._special), None)
            if index is None:
                return ids + encoding.ids
            first, end = encoding.offsets[index]
            if text[first:end].strip() != self._special[encoding.ids[index]]:
                raise AttendError(f"This model's tokenizer has no token for {text[first:end]!r}: leave it out.")
            # A unigram vocabulary holds its special tokens as pieces: cut in two, the text is none.
            cut = first + 1 + text[first:end].index(self._special[encoding.ids[index]])
            ids += _encoded(backend, text[:cut]).ids
            text, backend = text[cut:], self._going_on

    def parse(self, text: str) -> list[int]:
        """Ids of a text in which a special token's name stands for the token, as transformers reads it."""
        return _encoded(self._parsing, text).ids


def _encoded(backend: Backend, text: str) -> Encoding:
    try:
        return backend.encode(text, add_special_tokens=False)
    except BaseException as error:  # a panic of the Rust library is no Exception
        if isinstance(error, KeyboardInterrupt | SystemExit):
            raise
        raise AttendError(
            "This model's tokenizer fails on this text: change the text, or choose another model."
        ) from error


def read_backend(folder: Path) -> Backend:
    """What cuts texts for a checkpoint folder, of any kind; `AttendError` where it cannot be read."""
    return _backend_of(_read(folder))


def _read(folder: Path) -> PreTrainedTokenizerBase:
    try:
        return AutoTokenizer.from_pretrained(str(folder), local_files_only=True, trust_remote_code=False)
    except Exception as error:  # the Rust library raises nothing narrower for a damaged file
        if not any(path.name.startswith(_BEGINNINGS) for path in folder.iterdir()):
            raise AttendError(
                f"{folder} has no tokenizer: put its tokenizer.json or tokenizer.model beside the weights."
            ) from error
        raise AttendError(
            f"The tokenizer of {folder} cannot be read: copy the whole folder again, tokenizer.json included."
        ) from error


def _backend_of(hf_tokenizer: PreTrainedTokenizerBase) -> Backend:
    backend = getattr(hf_tokenizer, "backend_tokenizer", None)
    if not isinstance(backend, Backend):
        raise AttendError("This tokenizer has no tokenizer.json and cannot be made into one: choose another model.")
    return backend


def _framing(
    backend: Backend, names: Mapping[int, str | None], special: Collection[int]
) -> tuple[list[int], list[int]]:
    """The ids of a short text that the vocabulary has, alone and as its tokenizer frames texts."""
    written = (name for piece, name in names.items() if name and piece not in special)
    for text in ("x", *islice(written, _TRIES)):
        plain, framed = (backend.encode(text, add_special_tokens=frame).ids for frame in (False, True))
        found = any(framed[index : index + len(plain)] == plain for index in range(len(framed)))
        if plain and found and not any(piece in special for piece in plain):
            return plain, framed
    raise AttendError("This model's tokenizer loses part of the text: choose another model.")


def copied(described: Mapping[str, Any], *, special: bool) -> Backend:
    """A tokenizer of its own, which never cuts or pads; `special`: names of special tokens are text like any other."""
    backend = Backend.from_str(json.dumps(described))
    backend.encode_special_tokens = special
    backend.no_truncation()
    backend.no_padding()
    return backend


def _without_prefix(described: Mapping[str, Any]) -> dict[str, Any]:
    """The same tokenizer, but for the space that it writes before a text."""

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
    if ends_word := model.get("end_of_word_suffix"):  # as GPT writes its words
        return lambda name: (f"{name[: -len(ends_word)]} " if name.endswith(ends_word) else name).encode(), False
    if goes_on := model.get("continuing_subword_prefix"):  # as BERT writes its words
        return lambda name: (name[len(goes_on) :] if name.startswith(goes_on) else f" {name}").encode(), False
    space = " " if model["type"] == "WordLevel" else ""
    return lambda name: f"{space}{name}".encode(), False


def _byte_level(name: str) -> bytes:
    try:
        return b"".join(_BYTE_OF[character] for character in name)
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


_BYTE_OF = _byte_alphabet()
