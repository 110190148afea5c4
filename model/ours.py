"""Our own networks with their tokenizer, ready to use: how their texts and conversations begin and end."""

from __future__ import annotations

from model.chat import ChatFormat
from model.errors import AttendError
from model.loaded import LoadedModel
from model.tokenizer import ASSISTANT, BEGIN, END, USER, Tokenizer
from model.transformer import Transformer


def assembled(name: str, model: Transformer, tokenizer: Tokenizer) -> LoadedModel:
    """A decoder continues texts, and answers where its vocabulary knows roles; an encoder with a decoder answers one
    text with another. `AttendError` where network and tokenizer do not belong together."""
    if tokenizer.vocabulary_size != model.vocabulary_size:
        raise AttendError(
            f"The tokenizer of {name} has {tokenizer.vocabulary_size:,} tokens, its model "
            f"{model.vocabulary_size:,}: they belong to different checkpoints."
        )
    end = tokenizer.control(END)
    if model.config.padding is not None:
        never = frozenset({model.config.padding})
        loaded = LoadedModel(name, model, tokenizer, (), frozenset({end}), None, ending=(end,), never=never)
        return loaded.answering_each()
    chat = ChatFormat(tokenizer) if all(map(tokenizer.has_control, (USER, ASSISTANT))) else None
    return LoadedModel(name, model, tokenizer, (tokenizer.control(BEGIN),), frozenset({end}), chat)
