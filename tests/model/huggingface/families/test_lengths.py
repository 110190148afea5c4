"""How much models of transformers can read, and that one more token is refused in one sentence."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
import transformers as hf

from model.errors import AttendError
from model.huggingface.causal import HuggingFaceModel
from model.huggingface.seq2seq import Seq2SeqModel
from model.huggingface.weights import CheckpointFiles, check_layers
from tests.model.huggingface.test_seq2seq import LAYERS, T5, answered, random_model, text

SIZES: dict[str, Any] = {"vocab_size": 60, "d_model": 32, "n_heads": 4, "n_layers": 2}
LED = {name: value for name, value in LAYERS.items() if name != "max_position_embeddings"}


def led_model(source: int, answer: int) -> hf.PreTrainedModel:
    lengths: dict[str, Any] = {"max_encoder_position_embeddings": source, "max_decoder_position_embeddings": answer}
    return hf.LEDForConditionalGeneration(hf.LEDConfig(**LED, **lengths, attention_window=[16, 8]))


@pytest.mark.parametrize(
    ("source", "answer", "read"),
    [(40, 12, 32), (16, 40, 16)],  # LED pads a source to whole windows of 16 tokens
)
def test_an_encoder_and_its_decoder_have_lengths_of_their_own(source: int, answer: int, read: int) -> None:
    ours = Seq2SeqModel(random_model(lambda: led_model(source, answer)))
    assert (ours.source_length, ours.context_length) == (read, answer)
    cache = answered(ours, text(read), text(answer - 1))  # behind the decoder's start
    with pytest.raises(AttendError, match=f"The output has reached this model's limit of {answer} tokens"):
        ours.step([5], cache)
    with pytest.raises(AttendError, match=f"The text has {read + 1} tokens, but the model reads at most {read}"):
        ours.prefill(text(read + 1))


def test_a_decoder_ends_where_its_positions_end() -> None:
    """MPT and Whisper's decoder name the length of a text in words of their own."""
    mpt = random_model(lambda: hf.MptForCausalLM(hf.MptConfig(**SIZES, max_seq_len=12)))
    sizes: dict[str, Any] = {
        "vocab_size": 60,
        "d_model": 32,
        "decoder_layers": 2,
        "decoder_attention_heads": 4,
        "decoder_ffn_dim": 48,
    }
    tokens: dict[str, Any] = {"pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2}
    whisper = random_model(lambda: hf.WhisperForCausalLM(hf.WhisperConfig(**sizes, **tokens, max_target_positions=12)))
    for model in (mpt, whisper):
        ours = HuggingFaceModel(model)
        cache = ours.prefill(text(11)).cache
        with pytest.raises(AttendError, match="filled the context of 12 tokens"):
            ours.step([5], ours.step([5], cache).cache)


@torch.no_grad()
def test_long_t5_reads_long_sources() -> None:
    """Of 4,096 tokens, as in its paper (Guo et al., 2022): its positions have no end."""
    model = random_model(lambda: hf.LongT5ForConditionalGeneration(hf.LongT5Config(**T5, local_radius=7)))
    expected = model(input_ids=torch.tensor([text(700)]), decoder_input_ids=torch.tensor([[0]])).logits[0, -1]
    ours = Seq2SeqModel(model)
    assert ours.source_length == 4096
    assert torch.allclose(ours.prefill(text(700)).logits[0], expected, atol=1e-4)


def test_a_map_of_a_window_is_none_of_all_tokens() -> None:
    """LED's encoder returns the attention of each token to the 17 or 9 around it."""
    attention = Seq2SeqModel(random_model(lambda: led_model(64, 64))).inspect([3, 5], source=text(17)).attention
    assert attention.encoder is None
    assert attention.cross is not None and attention.cross.shape == (1, 3, 2, 2, 17)


def test_layers_may_share_their_weights(tmp_path: Path) -> None:
    """ALBERT's do, so it has fewer weights than layers."""
    sizes: dict[str, Any] = {"vocab_size": 60, "hidden_size": 32, "embedding_size": 16, "intermediate_size": 48}
    config = hf.AlbertConfig(**sizes, num_attention_heads=4, num_hidden_layers=48)
    hf.AlbertForMaskedLM(config).save_pretrained(tmp_path)
    files = CheckpointFiles.read(tmp_path, "an ALBERT")
    assert len(files.sizes) < 48
    check_layers(files)
