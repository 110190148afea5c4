"""Tiny multilingual translators: NLLB, mBART, mBART-50, and a Marian with several target languages."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import torch
from transformers import (
    M2M100Config,
    M2M100ForConditionalGeneration,
    MarianMTModel,
    MBart50Tokenizer,
    MBartConfig,
    MBartForConditionalGeneration,
    MBartTokenizer,
    NllbTokenizer,
    PreTrainedModel,
)

from tests.helpers.folders import SPOKEN, marian, merged

WORDS = [word for text in SPOKEN for word in text.split()]
LANGUAGES = ["eng_Latn", "fra_Latn", "spa_Latn", "zho_Hans", "zho_Hant"]
SIZES: dict[str, Any] = {
    "d_model": 32,
    "encoder_layers": 2,
    "decoder_layers": 2,
    "encoder_attention_heads": 4,
    "decoder_attention_heads": 4,
    "encoder_ffn_dim": 48,
    "decoder_ffn_dim": 48,
    "max_position_embeddings": 64,
    "init_std": 0.5,
    "bos_token_id": 0,
    "pad_token_id": 1,
    "eos_token_id": 2,
    "decoder_start_token_id": 2,
    "forced_eos_token_id": None,
}


def _written(folder: Path, model: PreTrainedModel, tokenizer: Any) -> Path:
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def nllb(folder: Path, **options: Any) -> Path:
    """A random NLLB of five languages; `options` go to its tokenizer."""
    pieces, merges = merged([text.replace(" ", " \u2581") for text in SPOKEN], ["\u2581"])
    names = ["<s>", "<pad>", "</s>", "<unk>", *pieces]
    ids = {name: index for index, name in enumerate(names)}
    tokenizer = NllbTokenizer(vocab=ids, merges=merges, extra_special_tokens=LANGUAGES, **options)
    torch.manual_seed(7)
    return _written(folder, M2M100ForConditionalGeneration(M2M100Config(vocab_size=len(tokenizer), **SIZES)), tokenizer)


def mbart(folder: Path, tokenizer_of: Any = MBartTokenizer, *, start: str = "</s>", forced: str | None = None) -> Path:
    """A random mBART of 25 languages or, with the other tokenizer, of 52.

    Args:
        start: the token with which its answers begin.
        forced: the one that must follow.
    """
    pieces = dict.fromkeys([*(f"\u2581{word}" for word in WORDS), "\u2581", *sorted(set("".join(WORDS)))])
    vocabulary = [("<s>", 0.0), ("<pad>", 0.0), ("</s>", 0.0), ("<unk>", -9.0)]
    tokenizer = tokenizer_of(vocab=[*vocabulary, *((piece, -len(piece) / 9) for piece in pieces)])
    torch.manual_seed(8)
    begun = {"decoder_start_token_id": tokenizer.convert_tokens_to_ids(start)}
    model = MBartForConditionalGeneration(MBartConfig(vocab_size=len(tokenizer), **{**SIZES, **begun}))
    model.generation_config.forced_bos_token_id = forced and tokenizer.convert_tokens_to_ids(forced)
    return _written(folder, model, tokenizer)


def mbart50(folder: Path) -> Path:
    return mbart(folder, MBart50Tokenizer, forced="fr_XX")


def marian_of_several(folder: Path) -> Path:
    """A random Marian whose source begins with the target language, like those into Romance languages."""
    marian(folder)
    ids = json.loads((folder / "vocab.json").read_text())
    padding = ids.pop("<pad>")
    ids |= {">>fra<<": padding, ">>pt_BR<<": padding + 1, "<pad>": padding + 2}
    (folder / "vocab.json").write_text(json.dumps(ids))
    model = MarianMTModel.from_pretrained(folder)
    torch.manual_seed(9)
    model.resize_token_embeddings(len(ids))
    for config in (model.config, model.generation_config):
        config.pad_token_id = config.decoder_start_token_id = padding + 2
    model.generation_config.bad_words_ids = [[padding + 2]]
    model.save_pretrained(folder)
    return folder
