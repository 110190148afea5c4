"""A GGUF file as a checkpoint: `model.gguf` reads it, and transformers makes a tokenizer of its vocabulary.

The file runs as our own transformer or through transformers, with the same config and the same weights. Nothing in it
is executed but its chat template, in the sandbox of all chat templates.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from tokenizers import pre_tokenizers
from torch import Tensor
from transformers import MODEL_FOR_CAUSAL_LM_MAPPING, AutoConfig, PreTrainedTokenizerFast
from transformers.integrations.gguf.gguf_tokenizer_mapping import (
    GGUF_PRE_TOKENIZER_SPLITS,
    GGUF_TOKENIZER_MAPPING,
    convert_gguf_tokenizer,
)

from model.errors import AttendError
from model.gguf.config import check_architecture, config_values, unknown_part
from model.gguf.dequantize import check_quantizations
from model.gguf.header import GgufHeader
from model.gguf.weights import GgufWeights
from model.huggingface.conversion import layout_or_reason
from model.huggingface.tokenizer import HuggingFaceTokenizer

_SPLIT = re.compile(r"-\d{5}-of-\d{5}\.gguf$", re.IGNORECASE)
# How byte-level texts are cut before they are merged, beside what transformers knows (llama.cpp's src/llama-vocab.cpp).
_AS_GPT2 = frozenset({"gpt-2", "phi-2", "mpt", "olmo"})
_DIGITS_APART = frozenset({"smollm", "starcoder", "refact", "command-r", "codeshell", "exaone"})
_LLAMA3 = frozenset({"llama3", "llama-v3", "llama-bpe"})

_ROLES = {"bos": "bos", "eos": "eos", "unk": "unknown", "pad": "padding"}  # in transformers' words and in a file's


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
        """Read the header of a file; `AttendError` for one that is damaged, or no model that Attend can run."""
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
        stored = GgufWeights(header, config, name)
        ends = (header.metadata.get(f"tokenizer.ggml.{kind}_token_id") for kind in ("eos", "eot"))
        return cls(path, name, config, {"eos_token_id": [end for end in ends if end is not None]}, header, stored)

    @property
    def sizes(self) -> Mapping[str, int]:
        return self.stored.sizes

    @property
    def size(self) -> int:
        return sum(tensor.size for tensor in self.header.tensors.values())

    @property
    def notes(self) -> tuple[str, ...]:
        """What a person should read about the file."""
        metadata = self.header.metadata
        cut = metadata.get("tokenizer.ggml.pre", "default")
        known = _AS_GPT2 | _DIGITS_APART | GGUF_PRE_TOKENIZER_SPLITS.keys()
        if metadata.get("tokenizer.ggml.model") != "gpt2" or cut in known:
            return ()
        return (
            f"{self.name} splits text in a way that Attend doesn't know ({str(cut)[:40]}), so it is split as by GPT-2: "
            "tokens may differ from those it was trained on.",
        )

    def weights(self) -> Mapping[str, Tensor]:
        return self.stored

    def tokenizer(self, vocabulary_size: int) -> HuggingFaceTokenizer:
        """As `AutoTokenizer.from_pretrained(…, gguf_file=…)` makes it, and where that forgets what the original
        tokenizer does, as the original.

        `AttendError` for a vocabulary that is missing or cannot be read.
        """
        metadata = {key.removeprefix("tokenizer."): value for key, value in self.header.metadata.items()}
        vocabulary, settings = (
            {name: metadata[key] for key, name in GGUF_TOKENIZER_MAPPING[group].items() if key in metadata}
            for group in ("tokenizer", "tokenizer_config")
        )
        try:
            backend, _ = convert_gguf_tokenizer(self.header.architecture, vocabulary)
            cut = vocabulary.get("pre_tokenizer_type")
            if cut in _DIGITS_APART:  # which transformers cuts as GPT-2's
                digits, rest = pre_tokenizers.Digits(individual_digits=True), pre_tokenizers.ByteLevel(False)
                backend.pre_tokenizer = pre_tokenizers.Sequence([digits, rest])
            if cut in _LLAMA3:
                backend.model.ignore_merges = True  # whole words of the vocabulary, however they are merged
            if vocabulary["tokenizer_type"] == "llama" or cut in _LLAMA3:
                settings.setdefault("add_bos_token", True)  # what llama.cpp does where a file does not say
            for name, role in _ROLES.items():
                if (piece := metadata.get(f"ggml.{role}_token_id")) is not None:
                    settings[f"{name}_token"] = vocabulary["tokens"][piece]
            hf_tokenizer = PreTrainedTokenizerFast(tokenizer_object=backend, **settings)
        except Exception as error:  # the Rust library raises nothing narrower for a damaged vocabulary
            raise AttendError(f"The tokenizer in {self.path} can't be read: choose another GGUF file.") from error
        return HuggingFaceTokenizer(hf_tokenizer, vocabulary_size)

    def pretrained(self, kind: Any, **options: Any) -> Any:
        values = dict(self.config)
        config = AutoConfig.for_model(values.pop("model_type"), **values)
        # The Auto classes take no weights; all that `layout_or_reason` knows continues texts.
        model: Any = MODEL_FOR_CAUSAL_LM_MAPPING[type(config)]
        hf_model, report = model.from_pretrained(None, config=config, state_dict=dict(self.stored), **options)
        for name in sorted(report["unexpected_keys"]):  # transformers would leave them out
            raise unknown_part(self.name, f"it has the weight {name}")
        return hf_model, report
