"""The chapter on today's models: what `lesson/today.py` counts, computes and measures, as the page shows it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from lesson.today import activation_curves, cache_bytes, count_parameters, normalize, time_cache
from model import names
from model.loaded import LoadedModel
from model.text.conversation import Message
from model.transformer.config import TransformerConfig
from model.transformer.decoder import Transformer
from ui.kit.validation import checked_switch
from ui.learn.validation import Given, choice, integer, matrix, rounded, rounded_rows, text
from ui.runs.models import Models

COMPARED = ("norm", "norm_place", "activation", "positions", "biases", "key_value_heads", "heads")  # of two models
LENGTHS = (16, 64, 256)  # tokens of the texts that are timed
POINTS = [x / 4 for x in range(-16, 17)]
MAX_CHARACTERS, MAX_TOKENS = 80, 100_000
FIRST: Mapping[str, Any] = {
    "vector": [[1.0, 2.0, 3.0, 6.0]],
    "message": "Hi! How are you?",
    "tokens": 512,
    "measure": False,
}


def answer(models: Models, given: Given) -> dict[str, Any]:
    """
    Args:
        given: any of the keys of `FIRST`, and `model`, whose parameters are counted.
    """
    offered = tuple(dict.fromkeys((*(name for name in names.embedded() if name in models.names), *models.in_memory())))
    vector = matrix(given, "vector", FIRST["vector"])
    norms = normalize(vector[0])
    tokens = integer(given, "tokens", FIRST["tokens"], 1, MAX_TOKENS)
    message = text(given, "message", FIRST["message"], MAX_CHARACTERS)
    reader = next((loaded for loaded in map(models.get, offered) if _is_decoder(loaded)), None)
    name = choice(given, "model", offered[0], offered) if offered else ""
    return {
        "vector": vector,
        "norms": {"LayerNorm": rounded_rows(norms.layer[None]), "RMSNorm": rounded_rows(norms.rms[None])},
        "points": POINTS,
        "curves": {kind: [rounded(y) for y in values.tolist()] for kind, values in activation_curves(POINTS).items()},
        "model": name,
        "models": [(one, models.display_name(one)) for one in offered],
        "counts": dict(count_parameters(models.get(name))) if name else {},
        "ours": [_described(models, one) for one in names.embedded() if one in models.names],
        "message": message,
        "chat": _chat_tokens(reader, message),
        "tokens": tokens,
        "cache": _cache(reader, tokens, measure=checked_switch(given.get("measure", FIRST["measure"]), "Measure")),
    }


def _is_decoder(loaded: LoadedModel) -> bool:
    return isinstance(loaded.model, Transformer) and not loaded.model.decoder_start


def _described(models: Models, name: str) -> dict[str, Any]:
    """What one of our own models is built of."""
    config = _config(models.get(name))
    known = {field.name for field in fields(config)}
    return {"name": name, **{one: getattr(config, one) for one in COMPARED if one in known}}


def _config(loaded: LoadedModel) -> TransformerConfig:
    assert isinstance(loaded.model, Transformer)
    return loaded.model.config


def _chat_tokens(reader: LoadedModel | None, message: str) -> list[str]:
    """The tokens of a message as the model is given them in a chat; none without a model that chats."""
    if reader is None or reader.chat is None:
        return []
    prompt = reader.chat.prompt([Message("user", message)], context_length=reader.model.context_length, reserve=0)
    return [reader.tokenizer.label(token) for token in prompt.ids]


def _cache(reader: LoadedModel | None, tokens: int, *, measure: bool) -> dict[str, Any] | None:
    """What the cache takes and, if asked, what it saves; none without a decoder of our own."""
    if reader is None:
        return None
    config = _config(reader)
    lengths = [length for length in LENGTHS if length < config.context_length]
    timings = time_cache(reader, lengths) if measure else []
    return {
        "name": reader.name,
        "layers": config.layers,
        "heads": config.key_value_heads,
        "width": config.head_width,
        "context": config.context_length,
        "bytes": cache_bytes(config, tokens),
        "timings": [
            {"tokens": one.tokens, "with": rounded(1000 * one.with_cache, 3), "without": rounded(1000 * one.without, 3)}
            for one in timings
        ],
    }
