"""Tells by the `config.json` alone which checkpoints generate text."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from transformers import CONFIG_MAPPING
from transformers.models.auto.modeling_auto import (
    MODEL_FOR_CAUSAL_LM_MAPPING_NAMES,
    MODEL_FOR_CTC_MAPPING_NAMES,
    MODEL_FOR_IMAGE_TEXT_TO_TEXT_MAPPING_NAMES,
    MODEL_FOR_MASKED_LM_MAPPING_NAMES,
    MODEL_FOR_MULTIMODAL_LM_MAPPING_NAMES,
    MODEL_FOR_SEQ_TO_SEQ_CAUSAL_LM_MAPPING_NAMES,
    MODEL_FOR_SPEECH_SEQ_2_SEQ_MAPPING_NAMES,
    MODEL_FOR_TDT_MAPPING_NAMES,
    MODEL_MAPPING_NAMES,
)

from model.errors import AttendError, EncoderOnly
from model.huggingface.conversion import layout_of
from model.huggingface.positions import LENGTHS

_OTHER_INPUTS = (  # models that write texts about inputs that Attend can't give them
    (MODEL_FOR_IMAGE_TEXT_TO_TEXT_MAPPING_NAMES, "images"),
    (MODEL_FOR_SPEECH_SEQ_2_SEQ_MAPPING_NAMES, "sound"),
    (MODEL_FOR_CTC_MAPPING_NAMES, "sound"),
    (MODEL_FOR_TDT_MAPPING_NAMES, "sound"),
    (MODEL_FOR_MULTIMODAL_LM_MAPPING_NAMES, "images or sound"),
)

_LENGTHS = (*LENGTHS, "max_encoder_position_embeddings", "max_decoder_position_embeddings")
# The types and the largest value of each number about positions; the longest texts of any model have 10^7 tokens.
_POSITIONS: Mapping[str, tuple[tuple[type, ...], int]] = {
    **dict.fromkeys(_LENGTHS, ((int,), 1 << 24)),
    "rope_theta": ((int, float), 10**15),
    "factor": ((int, float), 10_000),  # of a rotation; it may stretch the context
}


def check_config(values: Mapping[str, Any], name: str) -> None:
    """Refuse a model that writes no texts or that needs code of its own, by its `config.json` alone.

    An encoder alone, of a family with a masked language model, is refused as `EncoderOnly`.

    Args:
        values: what `config.json` holds.
        name: what messages call the model.
    """
    if "model_type" not in values:
        raise AttendError(f"The config.json of {name} does not name a model_type: choose another model.")
    kind, architectures = str(values["model_type"]), values.get("architectures") or []
    if not isinstance(architectures, list) or not all(isinstance(one, str) for one in architectures):
        raise AttendError(
            f"The config.json of {name} has architectures {str(architectures)[:40]}, which must be a list of names: "
            "copy the checkpoint folder again."
        )
    if kind not in CONFIG_MAPPING:
        raise AttendError(
            f"transformers has no model type {kind[:80]!r}, and code from {name} is never run: choose another model."
        )
    _check_positions(values, name)
    sequences = bool(values.get("is_encoder_decoder"))
    writers = MODEL_FOR_SEQ_TO_SEQ_CAUSAL_LM_MAPPING_NAMES if sequences else MODEL_FOR_CAUSAL_LM_MAPPING_NAMES
    # Only families that also exist as encoders have `is_decoder`.
    reads_alone = values.get("is_decoder", True) is False and kind in MODEL_FOR_MASKED_LM_MAPPING_NAMES
    wanted = not _classes(writers).isdisjoint(architectures) and (sequences or not reads_alone)
    if kind in writers and (sequences or kind not in MODEL_FOR_MASKED_LM_MAPPING_NAMES):
        # Models without their output matrix, which transformers ties to the embeddings if the config says so.
        wanted |= not _classes(MODEL_MAPPING_NAMES, kind).isdisjoint(architectures)
    if not wanted and (architectures or layout_of(values) is None):
        named = ", ".join(architectures) or kind
        if kind in MODEL_FOR_MASKED_LM_MAPPING_NAMES and not sequences:
            raise EncoderOnly(name, named)
        needs = next((needs for mapping, needs in _OTHER_INPUTS if kind in mapping), "")
        raise AttendError(
            f"The model in {name} is a {named}, which "
            + (f"needs {needs}, and Attend gives models text alone" if needs else "can't generate text")
            + ": choose a causal or sequence-to-sequence model."
        )


def _check_positions(values: Mapping[str, Any], name: str) -> None:
    """Refuse lengths and rotary bases that no model can have: transformers would silently compute with them."""
    for part in _parts(values):
        for field, (types, largest) in _POSITIONS.items():
            value = part.get(field)
            # A dictionary has a rope_theta for each kind of layer.
            if value is None or (field == "rope_theta" and isinstance(value, dict)):
                continue
            if type(value) not in types or not 0 < value <= largest:
                raise AttendError(
                    f"The config.json of {name} has {field} {str(value)[:40]}, which must be a "
                    f"{'number' if float in types else 'whole number'} above 0 and up to {largest:,}: copy the "
                    "checkpoint folder again."
                )


def _parts(values: Mapping[str, Any], depth: int = 3) -> Iterator[Mapping[str, Any]]:
    """A config and its parts, such as `text_config` and the rotations of each kind of layer."""
    yield values
    for value in values.values() if depth else ():
        if isinstance(value, dict):
            yield from _parts(value, depth - 1)


def _classes(mapping: Mapping[Any, Any], kind: str = "") -> set[str]:
    """The class names in a mapping, for all model types or for one."""
    entries = [mapping[kind]] if kind in mapping else [] if kind else mapping.values()
    return {name for names in entries for name in ([names] if isinstance(names, str) else names)}
