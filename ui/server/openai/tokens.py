"""/tokenize, /detokenize and /tokenizer_info, as vLLM has them: lm-eval asks them for a model's own tokens. And
/v1/token/encode, by which mikupad counts those of its text."""

from __future__ import annotations

import re
from typing import Any

from model.loaded import LoadedModel
from ui.kit.validation import checked_text
from ui.server.openai.body import DetokenizeBody, TokenizeBody, check_ids


def tokenize(loaded: LoadedModel, body: TokenizeBody) -> dict[str, Any]:
    """The ids of a text. Special tokens are recognised by their names, such as `<end>`, which no prompt does: what
    `/tokenizer_info` calls the first token of a text must be its id."""
    text, ids, last = checked_text(body.prompt, "The prompt"), list[int](), 0
    if body.add_special_tokens is None or body.add_special_tokens:
        ids += loaded.prefix_tokens
    special = loaded.tokenizer.special_tokens
    names = "|".join(re.escape(name) for name in sorted(special, key=len, reverse=True))
    for match in re.finditer(names, text) if names else ():
        ids += _encoded(loaded, text[last : match.start()], begins=not last)
        ids.append(special[match[0]])
        last = match.end()
    ids += _encoded(loaded, text[last:], begins=not last)
    return {"tokens": ids, "count": len(ids), "max_model_len": loaded.model.context_length}


def encode(loaded: LoadedModel, body: TokenizeBody) -> dict[str, Any]:
    """`tokenize` in the form of TabbyAPI."""
    ids = tokenize(loaded, body)["tokens"]
    return {"tokens": ids, "length": len(ids)}


def _encoded(loaded: LoadedModel, text: str, *, begins: bool) -> list[int]:
    return loaded.tokenizer.encode(text, begins=begins) if text else []


def detokenize(loaded: LoadedModel, body: DetokenizeBody) -> dict[str, Any]:
    """The text of these ids."""
    check_ids(body.tokens, loaded, "tokens")
    return {"prompt": loaded.tokenizer.decode(body.tokens, begins=True)}


def tokenizer_info(loaded: LoadedModel) -> dict[str, Any]:
    """The names of the tokens that begin and end a text, and how long one may be."""
    label = loaded.tokenizer.label
    first, end = loaded.prefix_tokens[:1], sorted(loaded.end_tokens)[:1]
    return {
        "tokenizer_class": type(loaded.tokenizer).__name__,
        "bos_token": label(first[0]) if first else None,
        "eos_token": label(end[0]) if end else None,
        "pad_token": None,
        "model_max_length": loaded.model.context_length,
        "vocab_size": loaded.model.vocabulary_size,
    }
