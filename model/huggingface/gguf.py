"""A GGUF file as a checkpoint: `model.gguf` reads it, `model.huggingface.tokenizers.gguf` makes its tokenizer.

The file runs as our own transformer or through transformers, with the same config and the same weights. Nothing in it
is executed but its chat template, in the sandbox of all chat templates.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from torch import Tensor
from transformers import MODEL_FOR_CAUSAL_LM_MAPPING, AutoConfig

from model.errors import AttendError
from model.gguf.config import check_architecture, config_values, unknown_part
from model.gguf.dequantize import check_quantizations
from model.gguf.header import GgufHeader
from model.gguf.weights import GgufWeights
from model.huggingface.conversion import layout_or_reason
from model.huggingface.tokenizer import CheckpointTokenizer
from model.huggingface.tokenizers.gguf import gguf_tokenizer, special_id, split_name
from model.huggingface.tokenizers.splits import DEFAULT, SPLITS

_SPLIT = re.compile(r"-\d{5}-of-\d{5}\.gguf$", re.IGNORECASE)
_SAMPLING = "general.sampling."  # suggested settings, some under other names
_SETTINGS = {"temp": "temperature", "penalty_repeat": "repetition_penalty"}
_LONGEST_TOKEN = 10_000  # characters; the longest ones published are runs of some hundred spaces


@dataclass(frozen=True, slots=True)
class GgufCheckpoint:
    """A `Checkpoint` that is one GGUF file."""

    path: Path
    name: str
    config: Mapping[str, Any]
    generation: Mapping[str, Any]
    header: GgufHeader
    stored: GgufWeights

    @classmethod
    def read(cls, path: Path, name: str) -> Self:
        """Read the header of a file; `AttendError` if it is damaged, or not a model that Attend can run."""
        header = GgufHeader.read(path)
        if _SPLIT.search(path.name) or header.metadata.get("split.count", 1) not in (0, 1):
            raise AttendError(
                f"{path} is one part of a model that was split into several files: join them with "
                "llama-gguf-split --merge, or choose a file that holds the whole model."
            )
        if header.architecture == "clip" or header.metadata.get("general.type") == "mmproj":
            raise AttendError(
                f"{path} is a vision projector (mmproj), which writes no text: choose the language model beside it."
            )
        check_architecture(header.architecture, name)
        check_quantizations(header, name)
        config = config_values(header, name)
        if isinstance(reason := layout_or_reason(config), str):
            raise unknown_part(name, reason)
        _check_vocabulary(header, config.get("vocab_size"))
        stored = GgufWeights(header, config, name)
        ends = (special_id(header.metadata, role) for role in ("eos", "eot"))
        generation: dict[str, Any] = {"eos_token_id": [end for end in ends if end is not None]}
        for key, value in header.metadata.items():
            if key.startswith(_SAMPLING):
                field = key.removeprefix(_SAMPLING)
                generation[_SETTINGS.get(field, field)] = float(f"{value:.6g}") if type(value) is float else value
        return cls(path, name, config, generation, header, stored)

    @property
    def sizes(self) -> Mapping[str, int]:
        return self.stored.sizes

    @property
    def size(self) -> int:
        return sum(tensor.size for tensor in self.header.tensors.values())

    @property
    def notes(self) -> tuple[str, ...]:
        """Sentences for a person about the file."""
        metadata = self.header.metadata
        if metadata.get("tokenizer.ggml.model") != "gpt2" or split_name(metadata) != DEFAULT:
            return ()
        return (
            f"{self.name} doesn't say how it cuts texts into words, so they are cut as llama.cpp does it by default: "
            "tokens may differ from those it was trained on.",
        )

    def weights(self) -> Mapping[str, Tensor]:
        return self.stored

    def tokenizer(self, vocabulary_size: int) -> CheckpointTokenizer:
        """The tokenizer, read as llama.cpp does; `AttendError` if its vocabulary is missing or can't be read."""
        metadata = self.header.metadata
        if metadata.get("tokenizer.ggml.model") == "gpt2" and split_name(metadata) not in SPLITS:
            raise AttendError(
                f"{self.path} cuts texts into words in a way that Attend doesn't know ({split_name(metadata)[:40]!r}): "
                "choose another GGUF file, or the model's checkpoint with safetensors."
            )
        try:
            return gguf_tokenizer(metadata, vocabulary_size)
        except AttendError:
            raise
        except Exception as error:  # the libraries raise nothing narrower for a damaged vocabulary
            raise AttendError(f"The tokenizer in {self.path} can't be read: choose another GGUF file.") from error

    def pretrained(self, kind: Any, **options: Any) -> Any:
        values = dict(self.config)
        config = AutoConfig.for_model(values.pop("model_type"), **values)
        # The Auto classes take no weights; all layouts known to `layout_or_reason` are of causal models.
        model: Any = MODEL_FOR_CAUSAL_LM_MAPPING[type(config)]
        hf_model, report = model.from_pretrained(None, config=config, state_dict=dict(self.stored), **options)
        for name in sorted(report["unexpected_keys"]):  # transformers would ignore them
            raise unknown_part(self.name, f"it has the weight {name}")
        return hf_model, report


def _check_vocabulary(header: GgufHeader, size: object) -> None:
    """Refuse a vocabulary that isn't the model's, or that gives no tokenizer, by its sizes alone."""
    tokens = header.metadata.get("tokenizer.ggml.tokens")
    if not isinstance(tokens, list):
        return  # refused when a tokenizer is made of it
    if isinstance(size, int) and len(tokens) > size:
        raise AttendError(
            f"The tokenizer has {len(tokens):,} tokens, but its model has {size:,}: they belong to different "
            "checkpoints."
        )
    longest = max((len(token) for token in tokens if isinstance(token, str)), default=0)
    if longest > _LONGEST_TOKEN:  # libraries take time that grows with its square
        raise AttendError(
            f"{header.path} has a token of {longest:,} characters, but a token may have at most {_LONGEST_TOKEN:,}: "
            "choose another GGUF file."
        )
