"""The tokenizers that can be had without a model: those that come with Attend, and those in a folder."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import lru_cache, partial
from pathlib import Path

from model import catalog, checkpoint
from model.config import TransformerConfig
from model.text import TextTokenizer
from model.tokenizer import Tokenizer

VARIABLE = "ATTEND_TOKENIZERS"  # names the folder, which holds one of its own for each
MOST = 6  # that are read from there
_FILE = "tokenizer.json"


def present() -> dict[str, Callable[[], TextTokenizer]]:
    """Name → what reads the tokenizer, or raises `AttendError` where its file is damaged."""
    ours = {name: partial(_embedded, catalog.EMBEDDED / name) for name in catalog.embedded()}
    folder = Path(os.environ.get(VARIABLE) or catalog.EMBEDDED / "tokenizers")
    files = sorted(folder.glob(f"*/{_FILE}"))[:MOST]
    return ours | {path.parent.name: partial(_of_file, path, path.stat().st_mtime_ns) for path in files}


@lru_cache(maxsize=len(catalog.ENTRIES))
def _embedded(folder: Path) -> TextTokenizer:
    config = TransformerConfig.from_dict(checkpoint.read_config(folder))
    return Tokenizer.load(folder / checkpoint.TOKENIZER, padded=config.padding is not None)


@lru_cache(maxsize=MOST)
def _of_file(path: Path, changed: int) -> TextTokenizer:
    from model import huggingface_vocabulary  # brings transformers, which takes seconds and which ours do without

    return huggingface_vocabulary.load(path)
