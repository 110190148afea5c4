"""The fields of a `config.json`, with transformers' values for those that are absent, null or under an older name."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from transformers import CONFIG_MAPPING, GenerationConfig, PreTrainedConfig
from transformers.utils import logging

# Fields about training, other tasks, storage or the choice of tokens; none changes a logit.
_WITHOUT_EFFECT = frozenset(
    vars(GenerationConfig()).keys()
    | {
        "_attn_implementation_autoset",
        "_model_name_or_path",
        "_name_or_path",
        "architectures",
        "attention_dropout",
        "attn_implementation",
        "attn_pdrop",
        "bos_token_id",
        "chunk_size_feed_forward",
        "dtype",
        "embd_pdrop",
        "eos_token_id",
        "gradient_checkpointing",
        "id2label",
        "initializer_range",
        "is_decoder",
        "is_llama_config",
        "label2id",
        "max_window_layers",
        "model_type",
        "n_ctx",
        "output_attentions",
        "output_hidden_states",
        "pad_token_id",
        "pretraining_tp",
        "problem_type",
        "reorder_and_upcast_attn",
        "resid_pdrop",
        "return_dict",
        "summary_activation",
        "summary_first_dropout",
        "summary_proj_to_labels",
        "summary_type",
        "summary_use_proj",
        "task_specific_params",
        "tie_encoder_decoder",
        "torch_dtype",
        "torchscript",
        "transformers.js_config",
        "transformers_version",
        "unk_token_id",
        "unsloth_fixed",
        "unsloth_version",
        "use_bfloat16",
        "use_cache",
    }
)

# Fields of older checkpoints that config classes take under other names, or that say how positions are scaled.
_OLDER_FIELDS = frozenset({"rope_theta", "rope_scaling", "partial_rotary_factor", "original_max_position_embeddings"})
# All families have these fields; our layouts read none of them.
_COMMON_FIELDS = frozenset(field.name for field in fields(PreTrainedConfig))
# Fields that transformers follows, although its config classes don't have them.
_FOLLOWED = frozenset({"fusion_config", "per_layer_config", "quantization_config"})
_MAX_LAYERS = 10_000  # config classes make a list of all layers


class Unknown(Exception):
    """The config is not of this layout."""


class Ignored(Unknown):
    """The config has a field that transformers ignores, too."""


class Fields:
    """The fields of a config. Each is taken once; those left at the end are unknown."""

    def __init__(self, kind: str, values: Mapping[str, Any]) -> None:
        """
        Args:
            kind: the model type, whose config class of transformers completes the values.

        Raises whatever the class raises for values that it refuses.
        """
        family = CONFIG_MAPPING[kind]
        own = {field.name for field in fields(family)} - _COMMON_FIELDS - _WITHOUT_EFFECT
        known = own | family.attribute_map.keys() | _OLDER_FIELDS
        for name in known & values.keys():
            if name.endswith(("layers", "layer")) and isinstance(values[name], int) and values[name] > _MAX_LAYERS:
                raise Unknown(name)
        logging.set_verbosity_error()  # a terminal should show the text only
        complete = family(**{name: copy.deepcopy(values[name]) for name in known & values.keys()})
        self._left = {name: value for name, value in values.items() if name not in _WITHOUT_EFFECT | known}
        self._left |= {name: getattr(complete, name) for name in own}
        self._followed = own | _COMMON_FIELDS | _FOLLOWED

    def take(self, name: str, *default: Any) -> Any:
        """A value of the family's config class, or a default for a field that the class lacks."""
        return self._left.pop(name, *default)

    def expect(self, name: str, accepted: Any) -> None:
        """Take a field, which the family may lack, and accept only this value."""
        if self._left.pop(name, accepted) != accepted:
            raise self._unknown(name)

    def nothing_left(self) -> None:
        if self._left:
            raise self._unknown(next(iter(self._left)))

    def _unknown(self, name: str) -> Unknown:
        return Unknown(name) if name in self._followed else Ignored(name)
