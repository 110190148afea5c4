"""Parts of large models of today, as the chapter on today's models shows them."""

from __future__ import annotations

from typing import Any

from lesson.parts.continuations import judge
from lesson.parts.modern import DEEPSEEK, DEEPSEEK_LAYERS, MIXTRAL, cache_kinds, round_weights, route
from model.errors import AttendError
from model.loaded import LoadedModel
from ui.learn.inputs import Input, Inputs, matrix, text, whole
from ui.learn.wording import decimals, percent, rounded, sent, short

MAX_SCORE, MAX_CHARACTERS = 100, 80
MEBIBYTE = 2**20
TEXTS = {
    "next sentence": ("I am hungry.", "I am tired.", "I want to eat.", "I want to sleep."),
    "classification": ("I love this movie! It is", "I hate this movie! It is", "great.", "terrible."),
}
_FIELDS: tuple[str, ...] = ("before", "control", "one", "other")
_SUBJECTS = ("The text", "The other text", "The first continuation", "The second continuation")

MODERN_INPUTS: dict[str, Input] = {
    "experts": matrix([[2.0, 0.0, 1.0, -1.0], [10.0, 40.0, 20.0, -30.0]]),  # scores, and what each would say
    "used": whole(2, 1, 4),
    "float_weights": matrix([[0.5, -1.27, 0.013, 0.3, -0.004, 0.9, 0.0, 1.0]]),
    **{
        field: text(first, MAX_CHARACTERS, subject, wide=True, maxlength=MAX_CHARACTERS)
        for field, first, subject in zip(_FIELDS, TEXTS["next sentence"], _SUBJECTS, strict=True)
    },
}
PRESETS: dict[str, dict[str, str]] = {name: dict(zip(_FIELDS, texts, strict=True)) for name, texts in TEXTS.items()}


def modern_parts(inputs: Inputs, reader: LoadedModel | None) -> dict[str, Any]:
    return {
        **_experts(inputs),
        **_eight_bits(inputs["float_weights"][0]),
        **_caches(inputs["tokens"]),
        **_judged(inputs, reader),
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
    rows = []
    for kind in kinds:
        size = kind.numbers * DEEPSEEK_LAYERS * tokens * 2 / MEBIBYTE
        rows.append(
            (kind.name, f"{kind.numbers:,}", {"bar": kind.numbers / kinds[0].numbers, "text": f"{short(size, 3)} MiB"})
        )
    return {"cache_kinds": rows, "latent_share": percent(kinds[-1].numbers / kinds[0].numbers, 1)}


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
