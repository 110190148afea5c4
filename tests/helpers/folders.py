"""Tiny Hugging Face checkpoints, written by transformers itself, with small tokenizers trained on the spot."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from sentencepiece import SentencePieceProcessor, SentencePieceTrainer
from tokenizers import AddedToken, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers
from transformers import (
    BertConfig,
    BertForMaskedLM,
    GPT2Config,
    GPT2LMHeadModel,
    LlamaConfig,
    LlamaForCausalLM,
    MarianConfig,
    MarianMTModel,
    PreTrainedModel,
    PreTrainedTokenizerFast,
    T5Config,
    T5ForConditionalGeneration,
)

from model.errors import AttendError

SPOKEN = ["Hi! How are you today?", "Once upon a time there was a small fox.", "the cat sat on the mat, and so on"]
CHATML = (
    "{% for m in messages %}{{ '<|im_start|>' + m['role'] + '\n' + m['content'] + '<|im_end|>\n' }}{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}"
)
INST = (  # as Llama 2's: turns must alternate, and messages lose the blanks around them
    "{% for m in messages %}{% if (m['role'] == 'user') != (loop.index0 % 2 == 0) %}"
    "{{ raise_exception('Roles must alternate') }}{% endif %}"
    "{% if m['role'] == 'user' %}{{ bos_token + '[INST] ' + m['content'].strip() + ' [/INST]' }}"
    "{% else %}{{ ' ' + m['content'].strip() + ' ' + eos_token }}{% endif %}{% endfor %}"
)


def merged(spoken: list[str], alphabet: list[str]) -> tuple[dict[str, int], list[Any]]:
    """Pieces and merges of a BPE vocabulary over these words."""
    learner = Tokenizer(models.BPE())
    learner.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    trainer = trainers.BpeTrainer(vocab_size=400, initial_alphabet=alphabet, show_progress=False)  # pyright: ignore[reportCallIssue]
    learner.train_from_iterator(spoken * 5, trainer)
    written = json.loads(learner.to_str())["model"]
    return written["vocab"], [tuple(merge) for merge in written["merges"]]


def byte_level(template: str | None = CHATML) -> PreTrainedTokenizerFast:
    """A tokenizer like GPT-2's: byte-level pieces and no token before a text."""
    built = Tokenizer(models.BPE())
    built.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    built.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=320,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        special_tokens=["<|endoftext|>", "<|im_start|>", "<|im_end|>"],
        show_progress=False,
    )  # pyright: ignore[reportCallIssue]
    built.train_from_iterator(SPOKEN * 5, trainer)
    return PreTrainedTokenizerFast(
        tokenizer_object=built, eos_token="<|endoftext|>", chat_template=template, clean_up_tokenization_spaces=False
    )


def sentence_piece(template: str | None = INST) -> PreTrainedTokenizerFast:
    """A tokenizer like Llama's: a space and a token before every text, and byte fallback."""
    pieces, merges = merged([text.replace(" ", " \u2581") for text in SPOKEN], ["\u2581"])
    names = ["<unk>", "<s>", "</s>", *(f"<0x{byte:02X}>" for byte in range(256)), *pieces]
    built = Tokenizer(
        models.BPE({name: index for index, name in enumerate(names)}, merges, unk_token="<unk>", byte_fallback=True)
    )
    built.add_special_tokens([AddedToken(name, normalized=False) for name in names[:3]])
    built.normalizer = normalizers.Sequence([normalizers.Prepend("\u2581"), normalizers.Replace(" ", "\u2581")])  # pyright: ignore[reportAttributeAccessIssue]
    built.decoder = decoders.Sequence(  # pyright: ignore[reportAttributeAccessIssue]
        [decoders.Replace("\u2581", " "), decoders.ByteFallback(), decoders.Fuse(), decoders.Strip(" ", 1, 0)]
    )
    built.post_processor = processors.TemplateProcessing(  # pyright: ignore[reportAttributeAccessIssue]
        single="<s> $A", pair="<s> $A <s> $B", special_tokens=[("<s>", 1)]
    )
    return PreTrainedTokenizerFast(
        tokenizer_object=built,
        bos_token="<s>",
        eos_token="</s>",
        unk_token="<unk>",
        chat_template=template,
        clean_up_tokenization_spaces=False,
    )


@torch.no_grad()
def _write_words(unembedding: torch.Tensor) -> None:
    """Lone bytes, which in both vocabularies follow the three control tokens, are never the most probable: of random
    ones there is no text, and what stands in its place every library says differently."""
    unembedding[3:259] = 0.0


def gpt2(folder: Path, template: str | None = None, **changes: Any) -> Path:
    """A random GPT-2 with a byte-level tokenizer, a few ids of its vocabulary being in no tokenizer."""
    tokenizer = byte_level(template)
    torch.manual_seed(3)
    sizes: dict[str, Any] = {"n_positions": 128, "n_embd": 32, "n_layer": 2, "n_head": 4, "initializer_range": 0.3}
    ends = {"bos_token_id": 0, "eos_token_id": 0}
    model = GPT2LMHeadModel(GPT2Config(vocab_size=len(tokenizer) + 8, **ends, **{**sizes, **changes}))
    _write_words(model.lm_head.weight)
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def llama(folder: Path, template: str | None = INST, *, shard: str = "5GB", **changes: Any) -> Path:
    """A random Llama with a SentencePiece tokenizer."""
    tokenizer = sentence_piece(template)
    torch.manual_seed(4)
    sizes: dict[str, Any] = {
        "hidden_size": 32,
        "intermediate_size": 48,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
        "num_key_value_heads": 2,
        "max_position_embeddings": 128,
        "initializer_range": 0.3,
    }
    ends = {"bos_token_id": 1, "eos_token_id": 2}
    model = LlamaForCausalLM(LlamaConfig(vocab_size=len(tokenizer), **ends, **{**sizes, **changes}))
    _write_words(model.lm_head.weight)
    model.save_pretrained(folder, max_shard_size=shard)
    tokenizer.save_pretrained(folder)
    return folder


def word_piece() -> PreTrainedTokenizerFast:
    """A tokenizer like BERT's: lower case, ## before pieces inside a word, and a token on each side of a text."""
    names = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    built = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    built.normalizer = normalizers.BertNormalizer(lowercase=True)  # pyright: ignore[reportAttributeAccessIssue]
    built.pre_tokenizer = pre_tokenizers.BertPreTokenizer()  # pyright: ignore[reportAttributeAccessIssue]
    built.decoder = decoders.WordPiece()  # pyright: ignore[reportAttributeAccessIssue]
    trainer = trainers.WordPieceTrainer(vocab_size=160, special_tokens=names, show_progress=False)  # pyright: ignore[reportCallIssue]
    built.train_from_iterator([*SPOKEN, "an apple, a banana", "[sep] [mask] <img>"] * 5, trainer)
    built.post_processor = processors.TemplateProcessing(  # pyright: ignore[reportAttributeAccessIssue]
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    kinds = dict(zip(("pad_token", "unk_token", "cls_token", "sep_token", "mask_token"), names, strict=True))
    return PreTrainedTokenizerFast(tokenizer_object=built, **kinds)


def bert(folder: Path, model: PreTrainedModel | None = None) -> Path:
    """A random BERT, or another encoder-only model with the same 160 pieces."""
    torch.manual_seed(7)
    sizes: dict[str, Any] = {"hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 2}
    lengths: dict[str, Any] = {"num_attention_heads": 4, "max_position_embeddings": 64}
    if model is None:
        model = BertForMaskedLM(BertConfig(vocab_size=160, initializer_range=0.5, **sizes, **lengths))
    model.save_pretrained(folder)
    word_piece().save_pretrained(folder)
    return folder


def t5(folder: Path) -> Path:
    """A random T5 with a unigram tokenizer, which ends every source."""
    words = [word for text in SPOKEN for word in text.split()]
    pieces = dict.fromkeys([*(f"\u2581{word}" for word in words), "\u2581", *sorted(set("".join(words) + "</spad>"))])
    vocabulary = [("<pad>", 0.0), ("</s>", 0.0), ("<unk>", -9.0), *((piece, -len(piece) / 9) for piece in pieces)]
    built = Tokenizer(models.Unigram(vocabulary, 2, False))
    built.pre_tokenizer = pre_tokenizers.Metaspace()  # pyright: ignore[reportAttributeAccessIssue]
    built.decoder = decoders.Metaspace()  # pyright: ignore[reportAttributeAccessIssue]
    built.add_special_tokens([AddedToken(name, normalized=False) for name in ("<pad>", "</s>", "<unk>")])
    built.post_processor = processors.TemplateProcessing(single="$A </s>", special_tokens=[("</s>", 1)])  # pyright: ignore[reportAttributeAccessIssue]
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=built,
        eos_token="</s>",
        unk_token="<unk>",
        pad_token="<pad>",
        clean_up_tokenization_spaces=False,
    )
    torch.manual_seed(5)
    ends: dict[str, Any] = {"decoder_start_token_id": 0, "eos_token_id": 1, "pad_token_id": 0}
    config = T5Config(
        vocab_size=len(tokenizer),
        d_model=32,
        d_kv=8,
        d_ff=48,
        num_layers=2,
        num_heads=4,
        initializer_factor=3.0,
        **ends,
    )
    T5ForConditionalGeneration(config).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def marian(folder: Path) -> Path:
    """A random Marian as the OPUS-MT models are: two SentencePiece models, one list of ids, no padding in an answer."""
    folder.mkdir(parents=True)
    for side in ("source", "target"):
        SentencePieceTrainer.train(
            sentence_iterator=iter(SPOKEN * 20),
            model_prefix=str(folder / side),
            vocab_size=70,
            hard_vocab_limit=False,
            minloglevel=2,
        )
        (folder / f"{side}.model").rename(folder / f"{side}.spm")
        (folder / f"{side}.vocab").unlink()
    source = SentencePieceProcessor(model_file=str(folder / "source.spm"))
    pieces = [source.id_to_piece(index) for index in range(3, len(source))]  # behind <unk>, <s> and </s>
    ids = {name: index for index, name in enumerate(["</s>", "<unk>", *pieces, "<pad>"])}
    (folder / "vocab.json").write_text(json.dumps(ids))
    (folder / "tokenizer_config.json").write_text(json.dumps({"tokenizer_class": "MarianTokenizer"}))
    torch.manual_seed(6)
    padding = ids["<pad>"]
    config = MarianConfig(
        vocab_size=len(ids),
        d_model=32,
        encoder_layers=2,
        decoder_layers=2,
        encoder_attention_heads=4,
        decoder_attention_heads=4,
        encoder_ffn_dim=48,
        decoder_ffn_dim=48,
        max_position_embeddings=64,
        init_std=0.5,
        pad_token_id=padding,
        eos_token_id=0,
        decoder_start_token_id=padding,
        forced_eos_token_id=None,
    )
    model = MarianMTModel(config)
    model.generation_config.bad_words_ids = [[padding]]
    model.save_pretrained(folder)
    return folder


def change_json(path: Path, **values: Any) -> None:
    """Set fields of a JSON file."""
    path.write_text(json.dumps({**json.loads(path.read_text()), **values}))


def refusal(load: Callable[..., object], *arguments: Any, **options: Any) -> str:
    """The one sentence in which a call is refused."""
    with pytest.raises(AttendError) as refused:
        load(*arguments, **options)
    assert "\n" not in str(refused.value)
    return str(refused.value)
