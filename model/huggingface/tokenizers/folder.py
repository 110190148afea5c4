"""Reads the tokenizer of a checkpoint folder from its own files: `tokenizer.json`, or else a SentencePiece model.

A `tokenizer.json` says how texts are cut, and every program that reads it without transformers obeys it.
`AutoTokenizer` takes only the vocabulary from it and replaces the file's normalizer and pre-tokenizer by those of the
class that a config names, so the same file gives other ids under another class. Here the file is read as it is. A
SentencePiece model alone is read by SentencePiece; the class only gives the file's name, the order of the ids, and the
special tokens. Older files (`vocab.json` and `merges.txt`, `vocab.txt`) don't say how texts are cut, so the class
decides.
"""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Any

from google.protobuf.message import DecodeError
from sentencepiece.sentencepiece_model_pb2 import ModelProto  # pyright: ignore[reportAttributeAccessIssue]
from tokenizers import Tokenizer as Backend
from transformers import AutoTokenizer, PreTrainedTokenizerFast
from transformers.models.auto.tokenization_auto import TOKENIZER_MAPPING_NAMES, tokenizer_class_from_name
from transformers.tokenization_utils_base import PreTrainedTokenizerBase

from model.errors import AttendError
from model.huggingface.tokenizer import CheckpointTokenizer, HuggingFaceTokenizer, backend_of
from model.huggingface.tokenizers.spm import SpmTokenizer, arranged, lookup
from model.transformer.checkpoint import read_json

_RULES, _PIECES = "tokenizer.json", "tokenizer.model"
_SETTINGS = "tokenizer_config.json"
_BEGINNINGS = ("tokenizer.", "vocab", "spiece.", "spm.", "sentencepiece.", "source.", "bpe.")  # of vocabularies' files
_LOCAL: dict[str, Any] = {"local_files_only": True, "trust_remote_code": False}


def load_tokenizer(folder: Path, vocabulary_size: int) -> CheckpointTokenizer:
    """The tokenizer of a checkpoint folder, without running code from it; `AttendError` if it can't be read."""
    if not (folder / _RULES).is_file():
        if pieces := _pieces(folder / _PIECES):
            return _spm_tokenizer(folder, pieces, vocabulary_size)
        kind = _class_of(folder)
        written = getattr(kind, "vocab_files_names", {}).get("vocab_file", _PIECES)
        if kind and not _cleans(kind) and (pieces := _pieces(folder / written)):
            tokenizer = _read(folder)
            return SpmTokenizer(arranged(pieces, backend_of(tokenizer)), tokenizer, vocabulary_size)
    return HuggingFaceTokenizer(_read(folder), vocabulary_size)


def read_backend(folder: Path) -> Backend:
    """The object that splits texts for a checkpoint folder of any kind; `AttendError` if it can't be read."""
    return backend_of(_read(folder))


def _read(folder: Path) -> PreTrainedTokenizerBase:
    try:
        if (folder / _RULES).is_file():
            return _from_rules(folder)
        return AutoTokenizer.from_pretrained(str(folder), **_LOCAL)
    except Exception as error:  # the Rust library raises nothing narrower for a damaged file
        if not any(path.name.startswith(_BEGINNINGS) for path in folder.iterdir()):
            raise AttendError(
                f"{folder} has no tokenizer: put its tokenizer.json or tokenizer.model beside the weights."
            ) from error
        raise _unreadable(folder) from error


def _from_rules(folder: Path) -> PreTrainedTokenizerBase:
    """A tokenizer.json as it is. Its class adds what no such file has: names of special tokens, if no other file gives
    them, and where a translator wants the token of its source's language."""
    tokenizer: Any = PreTrainedTokenizerFast.from_pretrained(str(folder), tokenizer_file=str(folder / _RULES), **_LOCAL)
    kind = _class_of(folder)
    for role in PreTrainedTokenizerBase.SPECIAL_TOKENS_ATTRIBUTES:
        default = _default(kind, role)
        if getattr(tokenizer, role, None) is None and tokenizer.backend_tokenizer.token_to_id(default) is not None:
            setattr(tokenizer, role, default)
    language = tokenizer.init_kwargs.get("src_lang")
    if language and (framed_by := getattr(kind, "set_src_lang_special_tokens", None)):
        tokenizer.legacy_behaviour = tokenizer.init_kwargs.get("legacy_behaviour", False)
        framed_by(tokenizer, language)
    return tokenizer


def _pieces(path: Path) -> ModelProto | None:
    """The SentencePiece model; None if there is none, or if the file is of another kind."""
    pieces = ModelProto()
    try:
        pieces.ParseFromString(path.read_bytes())
    except (OSError, DecodeError):
        return None
    return pieces if pieces.pieces else None


def _spm_tokenizer(folder: Path, pieces: ModelProto, vocabulary_size: int) -> SpmTokenizer:
    """SentencePiece's own cuts, with the special tokens that the other files of the folder name."""
    words = lookup([piece.piece for piece in pieces.pieces])
    try:
        tokenizer: Any = PreTrainedTokenizerFast.from_pretrained(
            str(folder), vocab_file="", tokenizer_object=words, **_LOCAL
        )
    except Exception as error:  # whatever transformers raises for damaged files
        raise _unreadable(folder) from error
    each = tokenizer.init_kwargs.get("legacy") is not False  # as LlamaTokenizer has it
    return SpmTokenizer(pieces, tokenizer, vocabulary_size, every_part=each)


def _cleans(kind: type) -> bool:
    """Whether a class changes texts before SentencePiece reads them, by rules that no file has, as ALBERT's does."""
    return "keep_accents" in inspect.signature(kind).parameters


def _unreadable(folder: Path) -> AttendError:
    return AttendError(
        f"The tokenizer of {folder} cannot be read: copy the whole folder again, tokenizer.json included."
    )


def _class_of(folder: Path) -> type | None:
    """The tokenizer class of transformers that a checkpoint names, or that belongs to its family."""
    settings, config = (
        read_json(folder / name) if (folder / name).is_file() else {} for name in (_SETTINGS, "config.json")
    )
    name = (
        settings.get("tokenizer_class")
        or config.get("tokenizer_class")
        or TOKENIZER_MAPPING_NAMES.get(str(config.get("model_type")))
    )
    return tokenizer_class_from_name(name) if isinstance(name, str) else None


def _default(kind: type | None, role: str) -> str:
    """The default name of a special token in a class; "" if it has none."""
    parameter = inspect.signature(kind).parameters.get(role) if kind else None
    return parameter.default if parameter and isinstance(parameter.default, str) else ""
