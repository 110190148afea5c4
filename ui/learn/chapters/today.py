"""The chapter on today's models, which `lesson/today.py` counts, computes and measures."""

from __future__ import annotations

import math
from typing import Any

from lesson.parts.continuations import judge
from lesson.parts.modern import DEEPSEEK, DEEPSEEK_LAYERS, MIXTRAL, cache_kinds, round_weights, route
from lesson.today import Norms, activation_curves, cache_bytes, count_parameters, normalize, time_cache
from model.errors import AttendError
from model.loaded import LoadedModel
from model.text.conversation import Message
from model.transformer.config import TransformerConfig
from model.transformer.decoder import Transformer
from ui.learn.chapter import Chapter
from ui.learn.exercises.checks import needed
from ui.learn.exercises.exercise import (
    ChangeExercise,
    ChoiceExercise,
    Compute,
    NumberExercise,
    nearest,
    value_of,
)
from ui.learn.inputs import Inputs, checked_by_chapter, choice, matrix, offered, switch, text, whole
from ui.learn.text.slots import button, cases, presets, select
from ui.learn.wording import decimals, percent, rounded, sent, short
from ui.runs.models import Models

OURS = {"chat": "attend-chat", "translate": "attend-translate"}  # the models whose settings stand beside each other
COMPARED = ("norm_place", "norm", "activation", "positions", "biases", "key_value_heads")
CALLED = {"rms": "RMSNorm", "layer": "LayerNorm", "relu": "ReLU", "swiglu": "SwiGLU", "True": "true", "False": "false"}
LENGTHS = (16, 64, 256)  # tokens of the texts that are timed
POINTS = [x / 4 for x in range(-16, 17)]
MAX_CHARACTERS, MAX_TOKENS, MAX_SCORE = 80, 100_000, 100
MEBIBYTE = 2**20
TEXTS = {
    "next sentence": ("I am hungry.", "I am tired.", "I want to eat.", "I want to sleep."),
    "classification": ("I love this movie! It is", "I hate this movie! It is", "great.", "terrible."),
}
_FIELDS = {
    "before": "The text",
    "control": "The other text",
    "one": "The first continuation",
    "other": "The second continuation",
}
INPUTS = {
    "vector": matrix([[1.0, 2.0, 3.0, 6.0]]),
    "model": checked_by_chapter(slot=select("models")),  # whose parameters are counted
    "message": text("Hi! How are you?", MAX_CHARACTERS, maxlength=MAX_CHARACTERS, wide=True),
    "tokens": whole(512, 1, MAX_TOKENS),
    "experts": matrix([[2.0, 0.0, 1.0, -1.0], [10.0, 40.0, 20.0, -30.0]]),  # scores, and what each would say
    "used": whole(2, 1, 4),
    "float_weights": matrix([[0.5, -1.27, 0.013, 0.3, -0.004, 0.9, 0.0, 1.0]]),
    **{
        name: text(first, MAX_CHARACTERS, subject, wide=True, maxlength=MAX_CHARACTERS)
        for (name, subject), first in zip(_FIELDS.items(), TEXTS["next sentence"], strict=True)
    },
}
PRESETS: dict[str, dict[str, str]] = {name: dict(zip(_FIELDS, texts, strict=True)) for name, texts in TEXTS.items()}


def compute(models: Models, inputs: Inputs) -> dict[str, Any]:
    known = offered(models, *models.in_memory())
    norms = normalize(inputs["vector"][0])
    reader = next((loaded for loaded in map(models.get, known) if _is_decoder(loaded)), None)
    name = choice(known[0], known).read(inputs, "model") if known else ""
    measure = switch(subject="Measure").read(inputs, "measure")
    return {
        "norms": {"LayerNorm": sent(norms.layer[None]), "RMSNorm": sent(norms.rms[None])},
        "norms_compared": {
            "agree": _agree(norms),
            "is_small": max(map(abs, inputs["vector"][0])) < _LEAST,
            "distance_of_sum": abs(sum(inputs["vector"][0])),  # from 0
        },
        "points": POINTS,
        "curves": sent(activation_curves(POINTS)),
        "model": name,
        "models": [(one, models.display_name(one)) for one in known],
        **_counts(models.get(name) if name else None),
        **{f"{kind}.{one}": value for kind, of in OURS.items() for one, value in _described(models, of).items()},
        "chat_tokens": _chat_tokens(reader, inputs["message"]),
        **_cache(reader, inputs["tokens"], measure=measure),
        **_experts(inputs),
        **_eight_bits(inputs["float_weights"][0]),
        **_caches(inputs["tokens"]),
        **_judged(inputs, reader),
    }


def _agree(norms: Norms) -> bool:
    """Whether the two norms of a vector are the same, or look so with the two decimals shown."""
    pairs = zip(norms.layer.tolist(), norms.rms.tolist(), strict=True)
    return all(math.isclose(one, other, abs_tol=0.005) or decimals(one) == decimals(other) for one, other in pairs)


def _is_decoder(loaded: LoadedModel) -> bool:
    return isinstance(loaded.model, Transformer) and not loaded.model.decoder_start


def _counts(loaded: LoadedModel | None) -> dict[str, Any]:
    """A model's parameters by part."""
    if loaded is None:
        return {"shares": None}
    counts = sorted(count_parameters(loaded).items(), key=lambda entry: -entry[1])
    total = sum(count for _, count in counts)
    return {
        "shares": [(part, count / total, percent(count / total)) for part, count in counts],
        "all_parameters": f"{total:,}",
        "parameters_by_part": ", ".join(f"{part} {count:,}" for part, count in counts),
    }


def _described(models: Models, name: str) -> dict[str, str]:
    """What one of our own models is built of, as far as this page has it."""
    if name not in models.names:
        return {}
    config = _config(models.get(name))
    described = {one: CALLED.get(str(value := getattr(config, one, "")), str(value)) for one in COMPARED}
    return {**described, "key_value_heads": f"{described['key_value_heads']}, for {config.heads} query heads"}


def _config(loaded: LoadedModel) -> TransformerConfig:
    assert isinstance(loaded.model, Transformer)
    return loaded.model.config


def _chat_tokens(reader: LoadedModel | None, message: str) -> list[str] | None:
    """The tokens of a message as the model is given them in a chat; none without a model that chats."""
    if reader is None or reader.chat is None:
        return None
    prompt = reader.chat.prompt([Message("user", message)], context_length=reader.model.context_length, reserve=0)
    return [reader.tokenizer.label(token) for token in prompt.ids]


def _cache(reader: LoadedModel | None, tokens: int, *, measure: bool) -> dict[str, Any]:
    """What the cache takes and, if asked, what it saves; nothing without a decoder of our own."""
    if reader is None:
        return {"cache": None, "timings": None, "size": []}
    config = _config(reader)
    lengths = [length for length in LENGTHS if length < config.context_length]
    size = cache_bytes(config, tokens)
    timings = [
        (
            f"{one.tokens} tokens",
            f"{1000 * one.with_cache:.1f} ms",
            f"{1000 * one.without:.1f} ms",
            f"{one.without / one.with_cache:.1f} times as long",
        )
        for one in (time_cache(reader, lengths) if measure else [])
    ]
    return {
        "cache": {
            "name": reader.name,
            "layers": config.layers,
            "heads": config.key_value_heads,
            "width": config.head_width,
            "bytes": size,
        },
        "size": ["size", *(["too long"] if tokens > config.context_length else [])],
        "token_count": f"{tokens:,}",
        "cache_size": decimals(size / MEBIBYTE, 2 if size < 2**24 else 0),
        "longest": f"{config.context_length:,}",
        **({"timings": timings} if measure else {}),  # else those that were measured before stay
    }


def _experts(inputs: Inputs) -> dict[str, Any]:
    scores, outputs = inputs["experts"]
    if wrong := next((one for one in (*scores, *outputs) if abs(one) > MAX_SCORE), None):
        raise AttendError(f"{short(wrong)} is too large: each number must be from −{MAX_SCORE} to {MAX_SCORE}.")
    routing = route(scores, outputs, inputs["used"])
    weights = routing.weights.tolist()
    terms = [f"{decimals(weight, 3)} · {short(one)}" for weight, one in zip(weights, outputs, strict=True) if weight]
    return {
        "expert_weights": sent(routing.weights[None]),
        "expert_sum": f"{' + '.join(terms)} = {decimals(routing.output)}",
        "expert_output": rounded(routing.output),
        "mixtral": [MIXTRAL.parameters(MIXTRAL.experts), MIXTRAL.parameters(MIXTRAL.used)],
        "mixtral_all": f"{MIXTRAL.parameters(MIXTRAL.experts) / 1e9:.1f}",
        "mixtral_used": f"{MIXTRAL.parameters(MIXTRAL.used) / 1e9:.1f}",
    }


def _eight_bits(weights: list[float]) -> dict[str, Any]:
    rounding = round_weights(weights)
    errors = [abs(one - other) for one, other in zip(weights, rounding.restored.tolist(), strict=True)]
    return {
        "codes": {"rows": [rounding.codes.tolist()], "digits": 0},
        "scale": short(rounding.scale, 3),
        "restored": {"rows": sent(rounding.restored[None]), "digits": 3},
        "largest_error": short(max(errors), 2),
    }


def _caches(tokens: int) -> dict[str, Any]:
    """Four caches of DeepSeek-V2's size, for a text, two bytes a number."""
    kinds = cache_kinds(**DEEPSEEK)
    most, *_, latent = kinds.values()
    return {
        "cache_kinds": [
            (
                name,
                f"{numbers:,}",
                {
                    "bar": numbers / most,
                    "text": f"{short(numbers * DEEPSEEK_LAYERS * tokens * 2 / MEBIBYTE, 3)} MiB",
                },
            )
            for name, numbers in kinds.items()
        ],
        "latent_share": percent(latent / most, 1),
    }


def _judged(inputs: Inputs, reader: LoadedModel | None) -> dict[str, Any]:
    """Both continuations after both texts, in log-probabilities."""
    if reader is None:
        return {"judged": None}
    continuations = (inputs["one"], inputs["other"])
    after, without = (judge(reader, inputs[name], continuations) for name in ("before", "control"))
    return {
        "judged": [
            (one.strip(), decimals(here.log, 1), decimals(there.log, 1), decimals(here.log - there.log, 1))
            for one, here, there in zip(continuations, after, without, strict=True)
        ],
        "reader": reader.name,
    }


# ---- the exercises ----

_KINDS = ("ReLU", "GELU", "SiLU")  # the options of the choice
_READER = "attend-chat"
_LEAST = 0.1  # of a vector's largest number, so that the norms' epsilon doesn't count


_RMS_OF_A_CONSTANT = value_of({"vector": [[5.0] * 4]}, "norms", "RMSNorm", 0, 0)


def _cache_of_a_text(compute: Compute) -> float:
    """The size of a text's cache in MiB; `AttendError` on a page that doesn't offer the model."""
    cache = compute({"tokens": 512})["cache"]
    return needed(cache if cache and cache["name"] == _READER else None)["bytes"] / MEBIBYTE


def _depths(compute: Compute) -> list[float]:
    """How far below zero the curve of each activation falls."""
    curves = compute({})["curves"]
    return [-min(curves[kind]) for kind in _KINDS]


_SCORES, _OUTPUTS = [1.0, 3.0, 0.0, 2.0], [5.0, 10.0, 7.0, 30.0]  # of four experts


def _two_of_four(compute: Compute, used: int = 2) -> float:
    return compute({"experts": [_SCORES, _OUTPUTS], "used": used})["expert_output"]


def _of_shown_weights(compute: Compute) -> list[float]:
    """What comes out with the weights as their table shows them, and as the sum below it does."""
    (weights,) = compute({"experts": [_SCORES, _OUTPUTS], "used": 2})["expert_weights"]
    return [
        math.fsum(round(weight, digits) * one for weight, one in zip(weights, _OUTPUTS, strict=True))
        for digits in (2, 3)
    ]


CHAPTER = Chapter(
    compute,
    INPUTS,
    values=" ".join(f"{kind}.{one}" for kind in OURS for one in COMPARED) + " norms.LayerNorm norms.RMSNorm shares "
    "all_parameters parameters_by_part chat_tokens cache.name cache.width cache.heads cache.layers token_count "
    "cache_size longest timings expert_weights expert_sum mixtral_all mixtral_used codes scale restored largest_error "
    "cache_kinds latent_share judged reader",
    slots={
        "size": cases("size", "too long"),
        "measure": button({"measure": True}, once=True),
        "questions": presets(PRESETS),
    },
    exercises={
        "size_of_mixtral": nearest((7e9, 13e9, 47e9, 56e9), value_of({}, "mixtral", 0), predicted=True),
        "rms_of_a_constant": NumberExercise(
            _RMS_OF_A_CONSTANT,
            digits=2,
            mistakes={
                "layer": value_of({"vector": [[5.0] * 4]}, "norms", "LayerNorm", 0, 0),
                "undivided": lambda compute: 5 * _RMS_OF_A_CONSTANT(compute),  # the root mean square itself
            },
        ),
        "two_of_four": NumberExercise(
            _two_of_four,
            digits=2,
            mistakes={
                "all": lambda compute: _two_of_four(compute, used=4),
                "one": lambda compute: _two_of_four(compute, used=1),
            },
            from_shown=_of_shown_weights,
        ),
        "cache_of_a_text": NumberExercise(
            _cache_of_a_text,
            digits=1,
            mistakes={
                "keys_alone": lambda compute: _cache_of_a_text(compute) / 2,
                "one_layer": lambda compute: _cache_of_a_text(compute) / compute({})["cache"]["layers"],
            },
        ),
        "lowest": ChoiceExercise(_depths, len(_KINDS)),
        "norms_agree": ChangeExercise(
            [("norms_compared.agree", "==", True), ("norms_compared.is_small", "==", False)],
            {"vector": [[-3.0, -1.0, 1.0, 3.0]]},
            {
                "mean": [("norms_compared.distance_of_sum", ">", _LEAST)],
                "small": [("norms_compared.is_small", "==", True)],
            },
        ),
    },
    facts={"least": str(_LEAST)},
)
