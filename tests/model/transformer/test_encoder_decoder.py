"""Our encoder with a decoder: equal in every way it can be run, and to PyTorch's own with the same weights."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from model.compiled.prepare import prepare_for_decoding
from model.errors import AttendError
from model.interface import Forward, Want
from model.transformer.cache import KeyValueCache
from model.transformer.config import TransformerConfig
from model.transformer.encoder_decoder import EncoderDecoder
from tests.helpers.tiny import check_same_pass

PAPER = TransformerConfig(
    vocabulary_size=30,
    context_length=40,
    width=16,
    layers=2,
    encoder_layers=3,
    heads=4,
    key_value_heads=4,
    feed_forward_width=24,
    positions="sinusoidal",
    norm="layer",
    norm_place="after",
    activation="relu",
    biases="all",
)
PADDING = 29
LONG, SHORT = [1, 2, 3, 4, 5, 6], [7, 8, 9]
TEXT = [3, 5, 7, 2]
SAME = 1e-5


def random_translator(config: TransformerConfig, *, fast: bool = False, seed: int = 0) -> EncoderDecoder:
    torch.manual_seed(seed)
    model = EncoderDecoder(config).eval()
    with torch.no_grad():
        for name, parameter in model.named_parameters():  # zero biases would hide a bias that is missing
            if name.endswith("bias"):
                nn.init.normal_(parameter, std=0.1)
    if fast:
        prepare_for_decoding(model)
    return model


def steps(model: EncoderDecoder, source: list[int]) -> list[Forward[KeyValueCache]]:
    """The passes that generate TEXT, one token at a time."""
    passes = [model.prefill(source, want=Want(attention=True))]
    for token in TEXT:
        passes.append(model.step([token], passes[-1].cache, want=Want(attention=True)))
    return passes


def logits(passes: list[Forward[Any]]) -> Tensor:
    return torch.cat([forward.logits for forward in passes])  # (T, V)


VARIANTS = [
    replace(PAPER, positions=positions, norm_place=norm_place, norm=norm, activation=activation, biases=biases, **shape)
    for positions in ("sinusoidal", "learned", "rotary", "none")
    for norm_place, norm, activation, biases, shape in (
        ("after", "layer", "relu", "all", {}),
        ("before", "layer", "gelu", "all", {}),
        ("before", "rms", "swiglu", "none", {"key_value_heads": 2}),
        ("before", "rms", "gelu_tanh", "qkv", {"query_key_norm": True}),
    )
]


@pytest.mark.parametrize("fast", [False, True])
@pytest.mark.parametrize(
    "config", VARIANTS, ids=lambda config: f"{config.positions}-{config.norm_place}-{config.activation}"
)
def test_however_it_is_run_the_logits_are_the_same(config: TransformerConfig, fast: bool) -> None:
    """Step by step, in one pass, in training with padding on both sides, and with others in the batch."""
    model = random_translator(config, fast=fast)
    alone = {"long": steps(model, LONG), "short": steps(model, SHORT)}
    at_once = model.logits(LONG, [*TEXT, 0])  # the last only has to be predicted
    torch.testing.assert_close(logits(alone["long"]), at_once, atol=SAME, rtol=0)
    sources = torch.tensor([LONG, [*SHORT, *[PADDING] * 3]])
    taught = model(sources, torch.tensor([[PADDING, *TEXT], [PADDING, *TEXT[:2], PADDING, PADDING]]))
    torch.testing.assert_close(taught[0], logits(alone["long"])[:, :-1], atol=SAME, rtol=0)
    torch.testing.assert_close(taught[1, :3], logits(alone["short"])[:3, :-1], atol=SAME, rtol=0)
    joined = model.prefill(LONG).cache.join(model.prefill(SHORT).cache)
    begun = model.prefill_together([LONG, SHORT], want=Want(attention=True))
    for row, name in enumerate(("long", "short")):
        torch.testing.assert_close(begun.logits[row], alone[name][0].logits[0], atol=SAME, rtol=0)
    for cache in (joined, begun.cache):
        _goes_on_as_alone(model, cache.select([1, 0, 1, 0]), alone)


def _goes_on_as_alone(
    model: EncoderDecoder, together: KeyValueCache, alone: dict[str, list[Forward[KeyValueCache]]]
) -> None:
    """Rows that read the short, the long, the short and the long source."""
    for position, token in enumerate(TEXT, start=1):
        forward = model.step([token] * 4, together, want=Want(attention=True))
        together = forward.cache
        for row, name in enumerate(("short", "long", "short", "long")):
            expected = alone[name][position]
            torch.testing.assert_close(forward.logits[row], expected.logits[0], atol=SAME, rtol=0)
            assert forward.attention is not None and expected.attention is not None
            assert forward.attention.cross is not None and expected.attention.cross is not None
            length = expected.attention.cross.shape[-1]
            seen, padding = forward.attention.cross[row].split((length, len(LONG) - length), dim=-1)
            torch.testing.assert_close(seen, expected.attention.cross[0], atol=SAME, rtol=0)
            assert not padding.any()


@pytest.mark.parametrize(
    "config", VARIANTS, ids=lambda config: f"{config.positions}-{config.norm_place}-{config.activation}"
)
def test_the_compiled_step_computes_what_the_modules_do(config: TransformerConfig) -> None:
    slow, fast = random_translator(config), random_translator(config, fast=True)
    for source in ([4], SHORT, LONG, list(range(10)), [1, PADDING, 2]):
        for forward, other in zip(steps(fast, source), steps(slow, source), strict=True):
            check_same_pass(forward, other)


def test_a_model_laid_out_for_steps_can_learn_and_move_on() -> None:
    model = random_translator(PAPER, fast=True)
    model.train()(torch.tensor([LONG]), torch.tensor([[PADDING, *TEXT]])).sum().backward()
    assert all(parameter.grad is not None for parameter in model.parameters())
    model.eval()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter += 0.01
    slow = random_translator(PAPER)
    slow.load_state_dict(model.state_dict())
    moved = prepare_for_decoding(model.to(torch.float32).double().float())
    torch.testing.assert_close(logits(steps(moved, LONG)), logits(steps(slow, LONG)), atol=SAME, rtol=0)


@pytest.mark.parametrize("sources", [[SHORT], [SHORT, LONG[:3]]], ids=["one", "two"])
def test_padding_that_all_sources_of_a_batch_have_is_not_seen_and_wrong_lengths_are_refused(
    sources: list[list[int]],
) -> None:
    model = random_translator(PAPER)
    taught = torch.tensor([[PADDING, *TEXT]] * len(sources))
    tight, roomy = (
        model(torch.tensor([[*source, *[PADDING] * more] for source in sources]), taught) for more in (0, 3)
    )
    torch.testing.assert_close(roomy, tight, atol=SAME, rtol=0)
    with pytest.raises(ValueError, match="at least one token"):  # an empty source, in a batch too
        model.prefill_together([[], *sources])
    with pytest.raises(AttendError, match="41"):
        model.prefill([1] * 41)


def test_a_row_that_joins_later_reads_as_alone() -> None:
    model = random_translator(PAPER, fast=True)
    alone = steps(model, SHORT)
    begun = steps(model, LONG)[2].cache  # two tokens are generated already
    joined = begun.join(model.prefill(SHORT).cache)
    for position, token in enumerate(TEXT, start=1):
        forward = model.step([0, token], joined)
        joined = forward.cache
        torch.testing.assert_close(forward.logits[1], alone[position].logits[0], atol=SAME, rtol=0)


def test_sources_that_nobody_decodes_any_more_are_dropped() -> None:
    model = random_translator(PAPER)
    both = model.prefill(LONG).cache.join(model.prefill(SHORT).cache)
    assert both.source is not None and both.source.columns.shape[4] == len(LONG)
    left = both.select([1, 1])
    assert left.source is not None and left.source.columns.shape[4] == len(SHORT) and left.source.attention_mask is None
    assert left.select([1, 0]).source is left.source  # beams swap rows, but keep the same sources


def test_an_inspection_shows_all_three_attentions() -> None:
    model = random_translator(PAPER)
    passes = steps(model, LONG)
    seen = model.inspect([PADDING, *TEXT], source=LONG)
    torch.testing.assert_close(seen.logits, logits(passes), atol=SAME, rtol=0)
    attention = seen.attention
    assert attention.encoder is not None and attention.cross is not None
    assert attention.decoder.shape == (1, 2, 4, 5, 5)
    assert attention.cross.shape == (1, 2, 4, 5, 6)
    assert attention.encoder.shape == (1, 3, 4, 6, 6)
    for weights in (attention.decoder, attention.cross, attention.encoder):
        torch.testing.assert_close(weights.sum(dim=-1), torch.ones(weights.shape[:-1]))
    assert not attention.decoder.triu(1).any()  # the decoder does not look ahead,
    assert attention.encoder.triu(1).any()  # the encoder does
    for position, forward in enumerate(passes):
        assert forward.attention is not None and forward.attention.cross is not None
        torch.testing.assert_close(
            forward.attention.cross[0, :, :, 0], attention.cross[0, :, :, position], atol=SAME, rtol=0
        )


@pytest.mark.parametrize("norm_place", ["after", "before"])
def test_it_computes_what_pytorchs_own_layers_do(norm_place: Any) -> None:
    """torch.nn.TransformerEncoder and TransformerDecoder with the same weights, final norms only where norms are
    before."""
    model = random_translator(replace(PAPER, norm_place=norm_place))
    shape = {"d_model": 16, "nhead": 4, "dim_feedforward": 24, "dropout": 0.0, "batch_first": True}
    before = norm_place == "before"
    norms = (model.encoder_norm, model.final_norm) if before else (None, None)
    encoder = nn.TransformerEncoder(
        nn.TransformerEncoderLayer(**shape, norm_first=before), 3, norm=norms[0], enable_nested_tensor=False
    ).eval()
    decoder = nn.TransformerDecoder(nn.TransformerDecoderLayer(**shape, norm_first=before), 2, norm=norms[1]).eval()
    ours: Any  # a Block; a ModuleList does not say of what kind its modules are
    for ours, reference in zip(model.encoder_blocks, encoder.layers, strict=True):
        reference.load_state_dict(
            {
                **_attention("self_attn", ours.attention),
                **_feed_forward(ours.feed_forward),
                **_norms(ours.attention_norm, ours.feed_forward_norm),
            }
        )
    for ours, reference in zip(model.blocks, decoder.layers, strict=True):
        cross = ours.cross
        joint = {
            "multihead_attn.in_proj_weight": torch.cat((cross.q_proj.weight, cross.kv_proj.weight)),
            "multihead_attn.in_proj_bias": torch.cat((cross.q_proj.bias, cross.kv_proj.bias)),
            "multihead_attn.out_proj.weight": cross.o_proj.weight,
            "multihead_attn.out_proj.bias": cross.o_proj.bias,
        }
        reference.load_state_dict(
            {
                **_attention("self_attn", ours.attention),
                **joint,
                **_feed_forward(ours.feed_forward),
                **_norms(ours.attention_norm, ours.cross_norm, ours.feed_forward_norm),
            }
        )
    source, text = torch.tensor([LONG]), torch.tensor([[PADDING, *TEXT]])
    with torch.no_grad():
        embedded = [model.embedding(ids) * 4.0 + model.sinusoids[: ids.shape[1]] for ids in (source, text)]  # 4 = √16
        mask = nn.Transformer.generate_square_subsequent_mask(text.shape[1])
        hidden = decoder(embedded[1], encoder(embedded[0]), tgt_mask=mask, tgt_is_causal=True)  # (1, T, W)
        expected = (hidden @ model.embedding.weight.t())[0]
    torch.testing.assert_close(model.logits(LONG, [*TEXT, 0]), expected, atol=SAME, rtol=0)


def _attention(name: str, ours: Any) -> dict[str, Tensor]:
    return {
        f"{name}.in_proj_weight": ours.qkv_proj.weight,
        f"{name}.in_proj_bias": ours.qkv_proj.bias,
        f"{name}.out_proj.weight": ours.o_proj.weight,
        f"{name}.out_proj.bias": ours.o_proj.bias,
    }


def _feed_forward(ours: Any) -> dict[str, Tensor]:
    linear = {"linear1": ours.up_proj, "linear2": ours.down_proj}
    return {f"{name}.{part}": getattr(layer, part) for name, layer in linear.items() for part in ("weight", "bias")}


def _norms(*ours: Any) -> dict[str, Tensor]:
    numbered = enumerate(ours, start=1)
    return {f"norm{number}.{part}": getattr(norm, part) for number, norm in numbered for part in ("weight", "bias")}


def test_paddings_embedding_stays_zero_while_it_learns() -> None:
    model = random_translator(PAPER).train()
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.1)
    for _ in range(3):
        logits = model(torch.tensor([LONG, [*SHORT, *[PADDING] * 3]]), torch.tensor([[PADDING, *TEXT]] * 2))
        logits.logsumexp(dim=-1).sum().backward()
        optimizer.step()
        optimizer.zero_grad()
    assert not model.embedding.weight[PADDING].any()
    assert model.embedding.weight[:PADDING].any(dim=1).all()
