"""The tokenizer that a GGUF file describes: SentencePiece's or byte-level BPE, as llama.cpp reads it.

What a file says is followed: the space before a text, the tokens around it, the kinds of its tokens. For what it leaves
out, the defaults are those of llama.cpp (`src/llama-vocab.cpp`).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from sentencepiece.sentencepiece_model_pb2 import ModelProto  # pyright: ignore[reportAttributeAccessIssue]
from tokenizers import AddedToken, Regex, decoders, models, pre_tokenizers
from tokenizers import Tokenizer as Backend
from transformers import PreTrainedTokenizerFast

from model.huggingface.tokenizer import BYTE_ALPHABET, CheckpointTokenizer, HuggingFaceTokenizer
from model.huggingface.tokenizers.splits import BEGUN, DEFAULT, SPLITS, WHOLE_WORDS
from model.huggingface.tokenizers.spm import SpmTokenizer, lookup
from model.text.sentencepiece_tokenizer import SPACE

NO_TOKEN = 0xFFFFFFFF  # -1 in 32 bits: a file has no such special token
_ROLES = {"bos": "bos", "eos": "eos", "unk": "unknown", "pad": "padding"}  # names in transformers and in a file
_SPM_ROLES = {"bos": 1, "eos": 2, "unk": 0}  # defaults for a file with a SentencePiece vocabulary
_KINDS = range(1, 7)  # of tokens; the numbers are SentencePiece's, too
_NORMAL, _UNKNOWN, _CONTROL, _USER_DEFINED, _UNUSED, _BYTE = _KINDS
_HIDDEN = (_UNKNOWN, _CONTROL)
_UNIGRAM, _BPE = 1, 2  # kinds of SentencePiece models
_LETTERS = {ord(byte): letter for letter, byte in BYTE_ALPHABET.items()}


def special_id(metadata: Mapping[str, Any], role: str) -> int | None:
    """The id that a file gives a special token, such as "eos"; None if it has none."""
    token = metadata.get(f"tokenizer.ggml.{role}_token_id")
    return None if token in (None, NO_TOKEN, -1) else token


def gguf_tokenizer(metadata: Mapping[str, Any], vocabulary_size: int) -> CheckpointTokenizer:
    """Raises whatever the libraries raise for a damaged vocabulary."""
    values = {key.removeprefix("tokenizer.ggml."): value for key, value in metadata.items()}
    names = [name or f"[EMPTY_{token}]" for token, name in enumerate(values["tokens"])]  # the names in llama.cpp
    kinds = values.get("token_type") or [_NORMAL] * len(names)
    if len({*names}) < len(names) or len(kinds) < len(names):
        raise ValueError("two tokens have the same name, or some have no type")
    named = {special_id(metadata, role) for role in (*_ROLES.values(), "eot")}
    kinds = [_CONTROL if token in named else kind for token, kind in enumerate(kinds[: len(names)])]
    make = {"gpt2": _byte_level, "llama": _bpe_pieces, "t5": _unigram_pieces}[values["model"]]
    return make(metadata, values, names, kinds, vocabulary_size)


def split_name(metadata: Mapping[str, Any]) -> str:
    """llama.cpp's name for the way in which a byte-level tokenizer cuts texts before it merges them."""
    return str(metadata.get("tokenizer.ggml.pre") or DEFAULT)


def _byte_level(
    metadata: Mapping[str, Any],
    values: Mapping[str, Any],
    names: Sequence[str],
    kinds: Sequence[int],
    vocabulary_size: int,
) -> HuggingFaceTokenizer:
    split = split_name(metadata)
    added = {
        token: AddedToken(name, normalized=False, special=kind == _CONTROL)
        for token, (name, kind) in enumerate(zip(names, kinds, strict=True))
        if kind in (_CONTROL, _USER_DEFINED)
    }
    words = {name if token in added else _spelled(name): token for token, name in enumerate(names)}
    merges = [tuple(merge.split(" ")) for merge in values["merges"]]
    backend: Any = Backend(models.BPE(words, merges, ignore_merges=split in WHOLE_WORDS))
    cuts = [pre_tokenizers.Split(Regex(expression), "isolated") for expression in SPLITS[split]]
    backend.pre_tokenizer = pre_tokenizers.Sequence([*cuts, pre_tokenizers.ByteLevel(False, use_regex=False)])
    backend.decoder = decoders.ByteLevel()
    backend.add_tokens([*added.values()])
    settings = _settings(metadata, names, {}, add_bos_token=split in BEGUN, add_eos_token=False)
    return HuggingFaceTokenizer(PreTrainedTokenizerFast(tokenizer_object=backend, **settings), vocabulary_size)


def _spelled(name: str) -> str:
    """A token written in the alphabet of bytes, as in most files."""
    if all(character in BYTE_ALPHABET for character in name):
        return name
    return "".join(_LETTERS[byte] for byte in name.encode())


def _bpe_pieces(metadata: Mapping[str, Any], *rest: Any) -> SpmTokenizer:
    return _sentencepiece(metadata, *rest, model_type=_BPE, add_bos_token=True, add_eos_token=False)


def _unigram_pieces(metadata: Mapping[str, Any], *rest: Any) -> SpmTokenizer:
    return _sentencepiece(metadata, *rest, model_type=_UNIGRAM, add_bos_token=False, add_eos_token=True)


def _sentencepiece(
    metadata: Mapping[str, Any],
    values: Mapping[str, Any],
    names: Sequence[str],
    kinds: Sequence[int],
    vocabulary_size: int,
    *,
    model_type: int,
    **begun: bool,
) -> SpmTokenizer:
    scores = values.get("scores") or [0.0] * len(names)
    if not all(map(math.isfinite, scores)):
        raise ValueError("a score is not a finite number")
    defaults = {role: token for role, token in _SPM_ROLES.items() if names[token:] and kinds[token] in _HIDDEN}
    settings = _settings(metadata, names, defaults, **begun)
    unknown = names.index(settings.get("unk_token", names[0]))
    all_bytes = {f"<0x{byte:02X}>" for byte in range(256)} == {
        name for name, kind in zip(names, kinds, strict=True) if kind == _BYTE
    }
    pieces = ModelProto()
    pieces.trainer_spec.model_type, pieces.trainer_spec.byte_fallback = model_type, all_bytes
    rules = pieces.normalizer_spec
    rules.add_dummy_prefix = bool(values.get("add_space_prefix", True))
    rules.remove_extra_whitespaces = bool(values.get("remove_extra_whitespaces", False))
    rules.precompiled_charsmap = bytes(byte & 0xFF for byte in values.get("precompiled_charsmap", ()))
    for token, (name, kind) in enumerate(zip(names, kinds, strict=True)):
        if token == unknown:
            kind = _UNKNOWN
        elif kind == _UNKNOWN:  # SentencePiece has one
            kind = _CONTROL
        elif (kind == _BYTE and not all_bytes) or kind not in _KINDS:
            kind = _UNUSED
        pieces.pieces.add(piece=name.replace(" ", SPACE), score=scores[token], type=kind)
    return SpmTokenizer(pieces, PreTrainedTokenizerFast(tokenizer_object=lookup(names), **settings), vocabulary_size)


def _settings(
    metadata: Mapping[str, Any], names: Sequence[str], defaults: Mapping[str, int], **begun: bool
) -> dict[str, Any]:
    """The settings of a file besides its vocabulary, as arguments for transformers.

    Args:
        defaults: ids of the special tokens that it doesn't name.
        begun: whether there is a token before and after each text, unless the file says so itself.
    """
    ids = {name: special_id(metadata, role) for name, role in _ROLES.items()}
    ids = {name: defaults.get(name) if token is None else token for name, token in ids.items()}
    tokens = {f"{name}_token": names[token] for name, token in ids.items() if token is not None}
    flags = {name: bool(metadata.get(f"tokenizer.ggml.{name}", value)) for name, value in begun.items()}
    template = {"chat_template": written} if (written := metadata.get("tokenizer.chat_template")) else {}
    return {**tokens, **flags, **template}
