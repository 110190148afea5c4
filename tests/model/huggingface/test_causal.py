"""The adapter against transformers itself, on random tiny models of every causal family."""

from __future__ import annotations

from typing import Any

import pytest
import torch
import transformers as hf
from transformers import PreTrainedModel

from benchmarks.families.tiny_models import tiny_config
from model.errors import AttendError
from model.huggingface.attention import EAGER, capturing
from model.huggingface.causal import HuggingFaceModel
from model.interface import Want

ALIBI = {"alibi": True, "new_decoder_architecture": True, "num_kv_heads": 2}
FAMILIES = (
    *("gpt2", "llama", "mistral", "qwen2", "qwen3", "phi", "gemma2", "gemma3_text", "gpt_neox", "opt", "olmo", "bloom"),
    *("falcon", "falcon with ALiBi"),
)


def random_model(name: str) -> PreTrainedModel:
    config = tiny_config(name.partition(" ")[0])
    if name.endswith("ALiBi"):
        config = type(config)(**{**config.to_dict(), **ALIBI})
    torch.manual_seed(3)
    model = hf.AutoModelForCausalLM.from_config(config, attn_implementation=EAGER).eval()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(0.1 * torch.randn(parameter.shape, generator=torch.Generator().manual_seed(2)))
    return model


def text(length: int, seed: int = 1) -> list[int]:
    return torch.randint(3, 60, (length,), generator=torch.Generator().manual_seed(seed)).tolist()


@pytest.mark.parametrize("name", FAMILIES)
def test_steps_and_attention_match_transformers(name: str) -> None:
    ours, reference, ids = HuggingFaceModel(random_model(name)), random_model(name), text(16)
    with torch.no_grad():
        expected = reference(torch.tensor([ids]), output_attentions=True)
    for want in (Want(attention=True), Want()):
        forward = ours.prefill(ids[:7], want=want)
        for position in range(7, 17):
            assert torch.allclose(forward.logits[0], expected.logits[0, position - 1], atol=1e-4)
            if want.attention:
                assert forward.attention is not None
                for layer, weights in enumerate(expected.attentions):
                    captured = forward.attention.decoder[0, layer, :, 0]  # (H, K), K may be a window
                    assert torch.allclose(
                        captured, weights[0, :, position - 1, position - captured.shape[-1] : position], atol=1e-5
                    )
                    assert torch.allclose(captured.sum(-1), torch.ones(4), atol=1e-5)
            if position < 16:
                forward = ours.step([ids[position]], forward.cache, want=want)


@pytest.mark.parametrize("name", FAMILIES)
def test_rows_in_company_are_rows_alone(name: str) -> None:
    ours = HuggingFaceModel(random_model(name))
    if not ours.joinable:
        pytest.skip("refuses to join")
    first, second = text(9), text(5, seed=2)
    caches = [ours.prefill(ids).cache for ids in (first, second)]
    together = caches[0].join(caches[1])
    for row, ids in enumerate((first, second)):
        alone = ours.step([7], caches[row]).logits[0]
        assert torch.allclose(ours.step([7, 7], together).logits[row], alone, atol=1e-5)
        again = ours.step([7, 7], together.select([1, 0])).logits[1 - row]
        assert torch.allclose(again, alone, atol=1e-5)
        assert torch.allclose(ours.logits(ids, [7, 0])[1], alone, atol=1e-4)


@pytest.mark.parametrize("name", ["llama", "opt", "bloom"])
def test_a_short_row_keeps_its_whole_context_when_the_long_one_leaves(name: str) -> None:
    ours = HuggingFaceModel(random_model(name))
    short, long = text(5), text(20, seed=2)
    joined = ours.prefill(short).cache.join(ours.prefill(long).cache)
    left = joined.select([0, 0])
    assert (left.length, left.padding) == (5, (0, 0))
    alone = ours.step([7], ours.prefill(short).cache)
    together = ours.step([7, 7], left)
    assert torch.allclose(together.logits, alone.logits.expand(2, -1), atol=1e-5)
    again = ours.step([9], together.cache.select([1])).logits
    assert torch.allclose(again, ours.step([9], alone.cache).logits, atol=1e-5)


def test_a_pass_keeps_the_weights_of_the_captured_queries_alone() -> None:
    """A view of a layer's last row would keep all rows of all layers until the pass is over."""
    ours = HuggingFaceModel(random_model("gpt_neox"))
    with capturing(1) as weights:
        ours.network(torch.tensor([text(30)]))
    assert [layer.shape[2:] for layer in weights] == [(1, 30)] * ours.layer_count
    assert all(layer.untyped_storage().nbytes() == layer.nbytes for layer in weights)


@pytest.mark.parametrize("name", FAMILIES)
def test_branches_do_not_meet_and_a_scored_text_has_logits_for_its_own_tokens_alone(name: str) -> None:
    network: Any = random_model(name)
    ours, ids, positions = HuggingFaceModel(network), text(12), []
    cache = ours.prefill(ids[:8]).cache
    first = ours.step([5], cache).logits
    ours.step([6, 9], cache.select([0, 0]))
    assert torch.equal(ours.step([5], cache).logits, first)
    with torch.no_grad():
        expected = network(torch.tensor([ids])).logits[0, 8:]
    network.get_output_embeddings().register_forward_hook(lambda _, fed, logits: positions.append(logits.shape[1]))
    assert torch.allclose(ours.logits(ids[:9], [*ids[9:], 0]), expected, atol=1e-5)
    assert positions == [4]


def test_a_causal_roberta_reads_as_far_as_its_positions_reach() -> None:
    """Positions begin behind the padding's, 1, so of the 64 rows of the table 62 are for tokens."""
    sizes: dict[str, Any] = {"vocab_size": 60, "hidden_size": 32, "num_hidden_layers": 1, "num_attention_heads": 4}
    config = hf.RobertaConfig(
        **sizes, intermediate_size=48, max_position_embeddings=64, pad_token_id=1, is_decoder=True
    )
    ours = HuggingFaceModel(hf.RobertaForCausalLM(config).eval())
    assert ours.context_length == 62  # as of roberta-base 512, whose table has 514 rows
    assert ours.prefill(text(62)).logits.isfinite().all()
    with pytest.raises(AttendError, match="at most 62"):
        ours.prefill(text(63))
