"""A name → a loaded model with its tokenizer; the embedded checkpoints, or any folder, ours or in Hugging Face form.

Knows where the embedded ones lie, not how a checkpoint is read, and not who may load what: a public page lists names.
"""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

from model import checkpoint
from model.chat import ChatFormat
from model.errors import AttendError
from model.loaded import LoadedModel
from model.tokenizer import ASSISTANT, BEGIN, END, USER, Tokenizer

DEFAULT = "attend-chat"
ENGINES = ("auto", "native", "adapter")
EMBEDDED = Path(__file__).resolve().parent.parent / "checkpoints"


def names() -> tuple[str, ...]:
    """The embedded checkpoints, in the order in which a page lists them."""
    if not EMBEDDED.is_dir():
        return ()
    return tuple(sorted(folder.name for folder in EMBEDDED.iterdir() if (folder / checkpoint.CONFIG).is_file()))


def load(name: str, engine: str = "auto") -> LoadedModel:
    """Load an embedded checkpoint by its name, or by its folder any of ours or one in Hugging Face form.

    Args:
        engine: of `ENGINES` what runs a model of others, see `model.huggingface_folder.load`.

    Raises `AttendError` when there is none, when it is damaged, or when its parts do not belong together.
    """
    if engine not in ENGINES:
        raise AttendError(f"There is no engine {engine!r}: choose one of {', '.join(ENGINES)}.")
    folder = EMBEDDED / name if name in names() else Path(name)
    if not os.path.isdir(folder):  # which, unlike Path.is_dir, says False to a name that no system could hold
        known = ", ".join(names()) or "none"
        raise AttendError(f"There is no model {name!r}: choose one of {known}, or give the folder of a checkpoint.")
    called = os.path.basename(os.path.abspath(folder))
    if "model_type" in checkpoint.read_config(folder):
        from model import huggingface_folder  # brings transformers, which takes seconds and which ours do without

        return replace(huggingface_folder.load(folder, called, engine), address=name)
    model = checkpoint.load(folder)
    tokenizer = Tokenizer.load(folder / checkpoint.TOKENIZER)
    if tokenizer.vocabulary_size != model.vocabulary_size:
        raise AttendError(
            f"The tokenizer of {name} has {tokenizer.vocabulary_size:,} tokens, its model {model.vocabulary_size:,}: "
            "they belong to different checkpoints."
        )
    roles = {USER, ASSISTANT}
    chat = ChatFormat(tokenizer) if all(tokenizer.has_control(role) for role in roles) else None
    end_tokens = frozenset({tokenizer.control(END)})
    return LoadedModel(called, model, tokenizer, (tokenizer.control(BEGIN),), end_tokens, chat, address=name)
