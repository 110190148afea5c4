"""How byte-level tokenizers cut a text into words before they merge its bytes, by the names that GGUF files use.

A file only holds the name (`tokenizer.ggml.pre`); llama.cpp (`src/llama-vocab.cpp`) defines what it means. An unknown
name is refused, as in llama.cpp, since a text that is cut differently has other tokens. Each expression cuts the parts
that those before it left whole.
"""

from __future__ import annotations

from transformers.integrations.gguf.gguf_tokenizer_mapping import GGUF_PRE_TOKENIZER_SPLITS

DEFAULT = "default"  # llama.cpp's guess for files that don't say

_GPT2 = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
_LLAMA3, _QWEN2 = GGUF_PRE_TOKENIZER_SPLITS["llama3"], GGUF_PRE_TOKENIZER_SPLITS["qwen2"]
_CONTRACTIONS = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|"
_DIGIT, _THREE_DIGITS = r"\p{N}", r"\p{N}{1,3}"
_BLANKS = "|".join(rf"\s{{{count}}}(?!\S)" for count in (512, 256, 128, 64, 32, 16, 8, 4)) + r"|\s{1,2}(?!\S)|\s{1}"
_DEEPSEEK3 = (
    _THREE_DIGITS,
    "[\u4e00-\u9fa5\u3040-\u309f\u30a0-\u30ff]+",
    r"[!\"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+| ?[\p{P}\p{S}]+[\r\n]*"
    r"|\s*[\r\n]+|\s+(?!\S)|\s+",
)
_BLOOM = " ?[^(\\s|.,!?\u2026\u3002\uff0c\u3001\u0964\u06d4\u060c)]+"

_NAMES: dict[str, tuple[str, ...]] = {
    "gpt-2 phi-2 mpt olmo jais trillion exaone4 gigachat mellum a.x-4.0 granite-docling": (_GPT2,),
    "smollm starcoder refact command-r codeshell exaone minerva-7b mellum2": (_DIGIT, _GPT2),
    DEFAULT: (r"[\p{P}\$\+<=>\^~\|]+", _GPT2, r"\p{N}+", "[0-9][0-9][0-9]"),
    "falcon": (r"[\p{P}\$\+<=>\^~\|`]+", _GPT2, "[0-9][0-9][0-9]"),
    "stablelm2 hunyuan solar-open grok-2": (_QWEN2,),
    "ufakzeka": (_QWEN2.removeprefix(_CONTRACTIONS),),
    "glm4 chatglm-bpe": (_LLAMA3,),
    "jais-2": (_LLAMA3.replace(r"\s+(?!\S)|\s+", _BLANKS),),
    "minicpm5": (_THREE_DIGITS, _LLAMA3.replace(_THREE_DIGITS, r"\p{N}+")),
    "seed-coder": (
        _CONTRACTIONS + r"[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1}| ?[^\s\p{L}\p{N}\r\n]+|\s*[\r\n]+|\s+(?!\S)|\s+",
    ),
    "bailingmoe bailingmoe2 llada-moe": (
        r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]++[\r\n]*|\s*[\r\n]|\s+(?!\S)|\s+",
    ),
    "deepseek-coder": (r"[\r\n]", r"\s?\p{L}+", r"\s?\p{P}+", "[\u4e00-\u9fa5\u0800-\u4e00\uac00-\ud7ff]+", _DIGIT),
    "deepseek-v3 hunyuan-dense joyai-llm hy_v4": _DEEPSEEK3,
    "bloom poro-chat gpt3-finnish": (_BLOOM,),
    "viking": (_BLOOM, _DIGIT),
}
SPLITS: dict[str, tuple[str, ...]] = {name: (split,) for name, split in GGUF_PRE_TOKENIZER_SPLITS.items()} | {
    name: splits for names, splits in _NAMES.items() for name in names.split()
}

_LLAMA3_NAMES = {
    "llama3",
    "llama-v3",
    "llama-bpe",
    "falcon3",
    "falcon-h1",
    "pixtral",
    "midm-2.0",
    "lfm2",
    "jina-v5-nano",
}
# A word in the vocabulary is one token, whatever the merges.
WHOLE_WORDS = frozenset({*_LLAMA3_NAMES, "tekken", "minicpm5"})
BEGUN = frozenset({*_LLAMA3_NAMES, "tekken"})  # their texts begin with a special token, unless the file says otherwise
