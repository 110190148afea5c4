"""Compares a model of transformers, run through our interface, with transformers itself before anyone uses it.

Families differ in the arguments of attention, in how they count positions and in what they cache, and some would run
without an error although a part is missing. So each model reads a few tokens when it is loaded: in a single pass of
transformers, and token by token as Attend does. That is up to ten passes over at most six tokens. A model whose
rotations depend on the length of a text reads them twice, the second time at positions around the length at which the
rotations change.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeVar

import torch
from torch import Tensor
from transformers import PreTrainedModel

from model.errors import AttendError
from model.huggingface.attention import without_us
from model.huggingface.causal import HuggingFaceModel, input_device
from model.huggingface.positions import first_position, last_short_length, reads_again, rotating_as_transformers
from model.huggingface.seq2seq import Seq2SeqModel
from model.interface import Want

ModelT = TypeVar("ModelT", HuggingFaceModel, Seq2SeqModel)

_TOKENS = 6  # the last two are read one by one

# Measured for all families (`benchmarks.families`) and SmolLM2-135M, the largest differences were 0.00001 in float32,
# 0.02 in float16, 0.2 in bfloat16, and 0.3 if rounding made a mixture of experts choose another. Wrong models were off
# by 0.5 and more.
_TOLERANCE, _TOLERANCE_IN_HALF_PRECISION = 0.01, 0.45


def verified(build: Callable[[PreTrainedModel], ModelT], hf_model: PreTrainedModel, name: str) -> ModelT:
    """The model, run through our interface; `AttendError` if it does not run that way, or computes something else.

    Args:
        name: what messages call the model.
    """
    kind = type(hf_model).__name__
    try:
        model = build(hf_model)
        difference = _largest_difference(model, hf_model)
        short = last_short_length(hf_model)
        if short is not None and isinstance(model, HuggingFaceModel) and short > _TOKENS:
            beyond = model.skipping(short - (_TOKENS - 2))  # the prompt is as long as a short text can be
            difference = _largest((difference, _largest_difference(beyond, hf_model, beyond=short - (_TOKENS - 2))))
            model.joinable = beyond.joinable
        model.layer_count = _readable_layers(model, tolerance(hf_model.dtype))
    except AttendError:
        raise
    except Exception as error:  # whatever a family's own code raises when it is fed token by token
        reason = " ".join(str(error).split()).rstrip(".")[:200]
        raise AttendError(
            f"{name} is a {kind}, which Attend can't run token by token ({reason}): choose another model."
        ) from error
    if not difference <= tolerance(hf_model.dtype):  # true for NaN
        raise AttendError(
            f"{name} is a {kind}, which Attend runs differently from transformers (its logits are off by up to "
            f"{difference:.2g} standard deviations): choose another model."
        )
    return model


def tolerance(dtype: torch.dtype) -> float:
    """The largest difference of a logit that rounding can explain, in standard deviations of the logits."""
    return _TOLERANCE if dtype == torch.float32 else _TOLERANCE_IN_HALF_PRECISION


def _largest_difference(model: ModelT, hf_model: PreTrainedModel, beyond: int = 0) -> float:
    """The largest difference of a logit from transformers, in standard deviations of its logits.

    Compares the prompt and a step, with attention and without, and rows of different lengths in one pass. Where such
    rows change each other, which is no fault, the model is marked as not joinable, and two rows of one text are
    compared.

    Args:
        beyond: how many positions the model skips, so that the prompt is the longest of its short texts.
    """
    read: Any = model  # its caches fit it, whichever of the two it is
    *prompt, first, second = _tokens(model)
    with without_us(hf_model), rotating_as_transformers(), torch.inference_mode():
        if beyond:
            expected = _step_by_step(hf_model, [*prompt, first, second], beyond)
        else:
            expected = model.logits(prompt, [first, second, 0])  # (3, V); row i is the prediction after i tokens
    deviation = float(expected[expected.isfinite()].std())

    def difference(logits: Tensor, wanted: Tensor) -> float:
        wanted = wanted.to(logits.device)
        return float(torch.where(logits == wanted, 0.0, (logits - wanted).abs()).max()) / deviation  # -∞ is -∞

    plain, attended = read.prefill(prompt), read.prefill(prompt, want=Want(attention=True))
    longer = read.step([first], plain.cache, want=Want(attention=True))
    differences = [difference(forward.logits[0], expected[0]) for forward in (plain, attended)]
    differences.append(difference(longer.logits[0], expected[1]))
    if model.joinable:
        shorter = read.prefill(prompt[:-1]).cache  # another source, if the prompt is one
        alone = read.step([prompt[-1]], shorter).logits[0]
        together = longer.cache.join(plain.cache).join(shorter)  # three lengths, so two rows have padding
        rows = read.step([second, first, prompt[-1]], together).logits
        apart = (difference(rows[0], expected[2]), difference(rows[1], expected[1]), difference(rows[2], alone))
        model.joinable = _largest(apart) <= tolerance(hf_model.dtype)
    if not model.joinable:
        rows = read.step([second, second], longer.cache.select([0, 0])).logits
        differences += [difference(row, expected[2]) for row in rows]
    return _largest(differences)


def _largest(differences: Iterable[float]) -> float:
    return max(differences, key=lambda value: float("inf") if value != value else value)  # NaN is larger than any


def _step_by_step(hf_model: Any, tokens: Sequence[int], skipped: int) -> Tensor:
    """What transformers predicts after each of the last three tokens, (3, V), token by token, at later positions."""
    ids = torch.tensor([tokens], device=input_device(hf_model))  # (1, T)
    positions = torch.arange(ids.shape[1], device=ids.device)[None] + skipped + first_position(hf_model)  # (1, T)
    cache, logits, begin = None, [], 0
    for end in range(len(tokens) - 2, len(tokens) + 1):
        if reads_again(hf_model) == skipped + end - 1:
            cache, begin = None, 0
        options = {"position_ids": positions[:, begin:end], "past_key_values": cache, "use_cache": True}
        answer = hf_model(input_ids=ids[:, begin:end], **options)
        cache, begin = answer.past_key_values, end
        logits.append(answer.logits[0, -1].float())
    return torch.stack(logits)


def _readable_layers(model: HuggingFaceModel | Seq2SeqModel, tolerance: float) -> int:
    """How many layers can be read as if they were the last; 0 where the last itself would be read wrongly, because a
    family scales or caps its logits, say."""
    if not (count := model.layer_count):
        return 0
    try:
        forward = model.prefill(_tokens(model), want=Want(layers=(0, count)))
    except Exception:  # the final norm is missing, or hidden states have another form
        return 0
    assert forward.layer_logits is not None
    difference = (forward.layer_logits[0, -1] - forward.logits[0]).abs().max() / forward.logits[0].std()
    return count if float(difference) <= tolerance else 0


def _tokens(model: HuggingFaceModel | Seq2SeqModel) -> list[int]:
    """Ids from all over the vocabulary, since special tokens lie together."""
    return [model.vocabulary_size * number // (_TOKENS + 1) for number in range(1, _TOKENS + 1)]
