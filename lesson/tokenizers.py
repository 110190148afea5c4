"""The tokenizers that are available without a model: those of Attend, those in a folder, and that of an encoder."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import lru_cache, partial
from pathlib import Path

from model import names
from model.text.sentencepiece_tokenizer import Tokenizer
from model.text.tokenizer import TextTokenizer
from model.transformer import checkpoint
from model.transformer.config import TransformerConfig

VARIABLE = "ATTEND_TOKENIZERS"  # names the folder, which contains a folder for each
MAX = 6  # that are read from there
_FILE = "tokenizer.json"


def present() -> dict[str, Callable[[], TextTokenizer]]:
    """Name → a function that reads the tokenizer, or raises `AttendError` if its file is damaged."""
    ours = {name: partial(_embedded, names.EMBEDDED / name) for name in names.embedded()}
    folder = Path(os.environ.get(VARIABLE) or names.EMBEDDED / "tokenizers")
    files = sorted(folder.glob(f"*/{_FILE}"))[:MAX]
    return ours | {path.parent.name: _reader(path) for path in files}


def of_encoder(address: str) -> Callable[[], TextTokenizer] | None:
    """What reads the tokenizer of an encoder that was loaded from here, and that needs no encoder for it; None where
    it has no `tokenizer.json`.

    Args:
        address: see `model.encoder.Encoder.address`: a folder, or "owner/name" on the Hub with "@" and a revision.
    """
    folder = Path(os.path.expanduser(address))
    if not folder.is_dir():
        from model.hub.download import HubCache  # imports the Hub's client, which a page may not need

        repository, _, revision = address.partition("@")
        cache = HubCache(repository)
        folder = cache.snapshot(cache.commit(revision or "main") or "")
    path = folder / _FILE
    return _reader(path) if path.is_file() else None


def _reader(path: Path) -> Callable[[], TextTokenizer]:
    return partial(_of_file, path, path.stat().st_mtime_ns)


@lru_cache(maxsize=len(names.ENTRIES))
def _embedded(folder: Path) -> TextTokenizer:
    config = TransformerConfig.from_dict(checkpoint.read_config(folder))
    return Tokenizer.load(folder / checkpoint.TOKENIZER, padded=config.padding is not None)


@lru_cache(maxsize=2 * MAX)
def _of_file(path: Path, changed: int) -> TextTokenizer:
    from model.huggingface.tokenizers import vocabulary  # imports transformers, which takes seconds

    return vocabulary.load(path)
