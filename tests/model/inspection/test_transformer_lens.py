"""A second oracle beside transformers: TransformerLens on the same tiny GPT-2. `make test-clients` installs it."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor
from transformers import GPT2Config, GPT2LMHeadModel

from model.inspection.heads import score_heads, score_induction
from model.inspection.inspector import Inspector
from model.inspection.intervention import Intervention
from model.inspection.lens import read_layers
from tests.model.huggingface.test_conversion import GPT2, native, saved
from tests.model.inspection.test_probe import difference

IDS = (5, 9, 3, 17, 9, 2, 11, 5, 9, 3, 40, 17)
REASON = "transformer-lens is not installed: make test-clients"


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> tuple[Inspector, Any]:
    """Our inspector and TransformerLens' bridge, of the same weights."""
    bridges = pytest.importorskip("transformer_lens.model_bridge", reason=REASON)
    torch.manual_seed(0)
    reference = GPT2LMHeadModel(GPT2Config(**GPT2)).eval()
    folder = tmp_path_factory.mktemp("gpt2")
    inspector = native(*saved(reference, folder)).inspector()
    return inspector, bridges.TransformerBridge.boot_transformers(str(folder), hf_model=reference, device="cpu")


@torch.inference_mode()
def test_streams_writes_heads_and_attention_are_theirs(both: tuple[Inspector, Any]) -> None:
    inspector, bridge = both
    inside = inspector.inspect(IDS)
    logits, cache = bridge.run_with_cache(torch.tensor([IDS]))
    assert difference(inside.logits, logits[0]) < 1e-5
    for layer in range(GPT2["n_layer"]):
        ours = {
            "resid_mid": inside.streams[layer, 0],
            "resid_post": inside.streams[layer, 1],
            "attn_out": inside.writes[layer, 0],
            "mlp_out": inside.writes[layer, 1],
            "z": inside.head_outputs[layer].transpose(0, 1),  # (T, H, D)
            "pattern": inside.attention.decoder[0, layer],  # (H, T, T)
        }
        for name, values in ours.items():
            assert difference(values, cache[name, layer][0]) < 1e-5, name


@torch.inference_mode()
def test_a_head_that_is_off_changes_what_it_changes_there(both: tuple[Inspector, Any]) -> None:
    inspector, bridge = both

    def switch_off(heads: Tensor, hook: object) -> Tensor:
        heads[:, :, 2] = 0.0  # (1, T, H, D)
        return heads

    reference = bridge.run_with_hooks(torch.tensor([IDS]), fwd_hooks=[("blocks.0.attn.hook_z", switch_off)])[0]
    ours = inspector.inspect(IDS, interventions=[Intervention(0, "head", 2)]).logits
    assert difference(ours, reference) < 1e-5 and difference(ours, inspector.inspect(IDS).logits) > 1e-2


@torch.inference_mode()
def test_the_lens_reads_the_streams_as_they_are_read_there(both: tuple[Inspector, Any]) -> None:
    inspector, bridge = both
    _, cache = bridge.run_with_cache(torch.tensor([IDS]))
    lens = read_layers(inspector, IDS)
    for column, name in enumerate(["resid_pre", "resid_post", "resid_post"]):
        shares = bridge.unembed(bridge.ln_final(cache[name, max(0, column - 1)]))[0].softmax(dim=-1)  # (T, V)
        top = shares.max(dim=-1)
        assert torch.equal(lens.top[column], top.indices)
        assert difference(lens.top_probability[column], top.values) < 1e-5


@torch.inference_mode()
def test_heads_are_scored_as_their_detector_scores_them(both: tuple[Inspector, Any]) -> None:
    inspector, bridge = both
    detector = pytest.importorskip("transformer_lens.head_detector")
    attention = inspector.inspect(IDS).attention.decoder[0]  # (L, H, T, T)
    scores, tokens = score_heads(attention, IDS, frozenset()), torch.tensor([IDS])
    _, cache = bridge.run_with_cache(tokens)
    patterns = {
        "previous": detector.get_previous_token_head_detection_pattern(tokens),
        "duplicate": detector.get_duplicate_token_head_detection_pattern(tokens),
        "induction": detector.get_induction_head_detection_pattern(tokens),
    }
    for name, pattern in patterns.items():
        reference = [
            detector.compute_head_attention_similarity_score(
                weights, pattern, exclude_bos=True, exclude_current_token=True, error_measure="mul"
            )
            for layer in range(GPT2["n_layer"])
            for weights in cache["pattern", layer][0]
        ]
        assert getattr(scores, name).flatten().tolist() == pytest.approx(reference, abs=1e-5)
        assert min(reference) > 0


@torch.inference_mode()
def test_induction_on_repeated_tokens_is_the_mean_of_their_diagonal(both: tuple[Inspector, Any]) -> None:
    inspector, bridge = both
    drawn = torch.randint(GPT2["vocab_size"], (15,), generator=torch.Generator().manual_seed(4))
    _, cache = bridge.run_with_cache(drawn.repeat(2)[None])
    diagonals = [cache["pattern", layer][0].diagonal(1 - 15, dim1=-2, dim2=-1) for layer in range(GPT2["n_layer"])]
    reference = torch.stack([diagonal.mean(dim=-1) for diagonal in diagonals])  # (L, H)
    assert difference(score_induction(inspector, seed=4, length=15), reference) < 1e-5
