"""What a probe records and changes in our own transformer, with and without an encoder."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import fields
from typing import Any

import pytest
import torch
from torch import Tensor

from model.compiled.prepare import prepare_for_decoding
from model.errors import AttendError
from model.inspection.inspector import Inspector, opened
from model.inspection.intervention import Intervention, interventions_of
from model.recurrent.network import Recurrent
from model.transformer.config import TransformerConfig
from model.transformer.decoder import Transformer
from model.transformer.encoder_decoder import build

IDS, SOURCE = (5, 9, 3, 17, 9, 2, 11), (4, 8, 15, 16)
SIZES: dict[str, Any] = {
    "vocabulary_size": 24, "context_length": 32, "width": 16, "layers": 3, "heads": 4, "key_value_heads": 2,
    "feed_forward_width": 24,
}  # fmt: skip
LAYERED: dict[str, Any] = {"norm": "layer", "biases": "all"}
CONFIGS = {
    "as attend-chat": SIZES,
    "as GPT-2": {
        **SIZES, **LAYERED, "positions": "learned", "activation": "gelu", "tied_embeddings": False,
    },
    "a short window": {**SIZES, "sliding_window": 3},
    "normed after": {**SIZES, **LAYERED, "norm_place": "after", "positions": "sinusoidal"},
    "as attend-translate": {
        **SIZES, **LAYERED, "encoder_layers": 2, "norm_place": "after", "positions": "sinusoidal",
    },
    "an encoder, normed before": {**SIZES, "encoder_layers": 1},
}  # fmt: skip


def model_of(name: str) -> Transformer:
    torch.manual_seed(1)
    model = build(TransformerConfig(**CONFIGS[name])).eval()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(0.3 * torch.randn(parameter.shape))  # biases and norms, too
    return model


def source_of(model: Transformer) -> Sequence[int]:
    return SOURCE if model.config.encoder_layers else ()


def difference(one: Tensor, other: Tensor) -> float:
    return (one - other).abs().max().item()


every_config = pytest.mark.parametrize("name", CONFIGS)


@torch.inference_mode()
@every_config
def test_the_parts_add_up_to_the_output(name: str) -> None:
    model = model_of(name)
    source = source_of(model)
    inspector = model.inspector()
    inside = inspector.inspect(IDS, source=source)
    plain = model.inspect(IDS, source=source)
    assert torch.equal(inside.logits, plain.logits) and torch.equal(inside.attention.decoder, plain.attention.decoder)
    assert torch.equal(inspector.anatomy.logits(inside.streams[-1, -1]), inside.logits)
    if not inspector.anatomy.norm_after:
        assert difference(inside.embedded + inside.writes.sum(dim=(0, 1)), inside.streams[-1, -1]) < 1e-5
    for layer, block in enumerate(model.blocks):
        heads = inside.head_outputs[layer].transpose(0, 1).flatten(1)  # (T, H * D)
        assert difference(block.attention.o_proj(heads), inside.writes[layer, 0]) < 1e-6  # type: ignore[union-attr]


@every_config
def test_what_leaves_a_part_as_it_was_changes_nothing(name: str) -> None:
    """Scaled by 1, or replaced by itself."""
    model = model_of(name)
    source = source_of(model)
    inspector = model.inspector()
    inside = inspector.inspect(IDS, source=source)
    parts: list[tuple[Any, int | None]] = [("head", 1), ("attention", None), ("feed_forward", None), ("layer", None)]
    if source:
        parts += [("cross_head", 2), ("cross_attention", None)]
    for part, head in parts:
        own = inside.part(1, part, head)
        for one in (
            Intervention(1, part, head, action="scale", factor=1.0),
            Intervention(1, part, head, action="replace", replacement=own),
            Intervention(1, part, head, positions=(2, 4), action="replace", replacement=own),
        ):
            again = inspector.inspect(IDS, source=source, interventions=[one])
            assert difference(again.logits, inside.logits) < 1e-5, one


@every_config
def test_a_head_that_is_off_is_one_whose_output_weights_are_zero(name: str) -> None:
    model, changed = model_of(name), model_of(name)
    source, width = source_of(model), model.config.head_width
    changed.blocks[1].attention.o_proj.weight.data[:, 3 * width :] = 0.0  # type: ignore[union-attr]
    expected = changed.inspect(IDS, source=source).logits
    off = Intervention(1, "head", 3)
    assert difference(model.inspector().inspect(IDS, source=source, interventions=[off]).logits, expected) < 1e-5
    assert difference(model.inspect(IDS, source=source).logits, expected) > 1e-2  # and nothing stays behind


@every_config
def test_a_text_decoded_under_interventions_is_the_text_read_under_them(name: str) -> None:
    """Token by token, at some positions only, and compiled models as well, whose compiled passes are left aside."""
    model = prepare_for_decoding(model_of(name))
    source = source_of(model)
    changes = [
        Intervention(0, "head", 2, action="scale", factor=2.0),
        Intervention(1, "feed_forward", positions=(1, 5)),
        Intervention(2, "layer", action="scale", factor=0.5),
    ]
    text = (*model.decoder_start, *IDS) if source else IDS
    read = model.inspector().inspect(text, source=source, interventions=changes).logits
    under = model.with_interventions(changes)
    first = len(model.decoder_start) or 3
    forward = under.prefill(source or IDS[:3])
    for position in range(first, len(text)):
        assert difference(forward.logits[0], read[position - 1]) < 1e-4
        forward = under.step([text[position]] * forward.cache.rows, forward.cache)
        if position == first:
            forward = type(forward)(forward.logits[[0, 0]], forward.cache.select([0, 0]))  # rows are changed alike
    assert difference(forward.logits[1], read[-1]) < 1e-4
    assert difference(under.logits(source or IDS[:3], text[first:])[-1], read[-2]) < 1e-4


def test_rows_of_a_batch_have_interventions_of_their_own_and_a_mean_is_that_of_all_positions() -> None:
    inspector = model_of("as attend-chat").inspector()
    rows, changes = [IDS, IDS[:3], IDS], [[Intervention(0, "head", 1)], [], [Intervention(2, "layer")]]
    batch = inspector.predictions(rows, interventions=changes)
    for row, ones, logits in zip(rows, changes, batch, strict=True):
        assert difference(inspector.inspect(row, interventions=ones).logits[-1], logits) < 1e-5
    outputs = inspector.inspect(IDS).part(1, "head", 2)  # (T, D)
    mean = Intervention(1, "head", 2, action="mean")
    twin = Intervention(1, "head", 2, action="replace", replacement=outputs.mean(dim=0).expand(len(IDS), -1))
    one, other = (inspector.inspect(IDS, interventions=[each]).logits for each in (mean, twin))
    assert difference(one, other) < 1e-6


def test_another_threads_pass_is_untouched() -> None:
    """It runs while the first one is in the middle of its own, in a layer whose head is off."""
    model = model_of("as attend-chat")
    inspector, expected = model.inspector(), model.inspect(IDS).logits
    seen: list[Tensor] = []

    def other() -> None:
        seen.append(model.inspect(IDS).logits)

    mine = threading.get_ident()

    def meanwhile(*_: object) -> None:
        if not seen and threading.get_ident() == mine:
            thread = threading.Thread(target=other)
            thread.start()
            thread.join()

    handle = model.blocks[1].register_forward_hook(meanwhile)
    off = [Intervention(1, "head", 0), Intervention(2, "attention")]
    changed = inspector.inspect(IDS, interventions=off).logits
    handle.remove()
    assert torch.equal(seen[0], expected) and difference(changed, expected) > 1e-3


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"layer": 0, "part": "neuron"}, "must be one of head"),
        ({"layer": 0, "part": "head"}, "name a head"),
        ({"layer": 0, "part": "layer", "head": 1}, "name a head"),
        ({"layer": 0, "part": "layer", "action": "explode"}, "must be one of zero"),
        ({"layer": 0, "part": "layer", "action": "replace"}, "replacement"),
        ({"layer": 0, "part": "layer", "action": "scale", "factor": float("nan")}, "factor"),
        ({"layer": True, "part": "layer"}, "wrong kind"),
        ({"layer": 0, "part": "layer", "positions": [0.5]}, "whole numbers"),
        ({"layer": 0}, "lacks its part"),
        ({"layer": 0, "part": "layer", "force": 1}, "force"),
    ],
)
def test_an_intervention_that_cannot_be_is_refused(values: dict[str, Any], words: str) -> None:
    with pytest.raises(AttendError, match=words):
        interventions_of([values])


def test_a_part_that_a_model_lacks_is_refused_and_hooks_are_gone_after_an_error() -> None:
    model = model_of("as attend-chat")
    inspector = model.inspector()
    for one in (
        Intervention(3, "layer"),
        Intervention(0, "head", 4),
        Intervention(0, "cross_head", 0),
        Intervention(0, "layer", positions=(-1,)),
    ):
        with pytest.raises(AttendError):
            inspector.inspect(IDS, interventions=[one])
    with pytest.raises(AttendError, match="at most 32"):
        inspector.inspect(range(33), interventions=[Intervention(0, "head", 0)])
    assert not any(module._forward_hooks or module._forward_pre_hooks for module in model.modules())
    for action in ("mean", "replace"):
        replacement = torch.zeros(3, 4) if action == "replace" else None
        with pytest.raises(AttendError, match="zero or scale"):
            model.with_interventions(
                [Intervention(0, "head", 0, action=action, replacement=replacement)]  # type: ignore[arg-type]
            )
    with pytest.raises(AttendError, match="transformer"):
        opened(object.__new__(Recurrent))


@every_config
def test_no_tensor_of_an_inspection_is_larger_than_the_limit(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    model = model_of(name)
    inspector, source = model.inspector(), source_of(model)
    for limit in (600, 10_000):  # numbers: of a short text the streams are larger, of a long one the attention is
        monkeypatch.setattr("model.inspection.inspector._LARGEST", limit)
        longest = inspector.longest()
        sizes = [_largest(inspector, length, bool(source)) for length in (longest, longest + 1)]
        assert sizes[0] <= limit < sizes[1]
    assert [len(logits) for logits in inspector.batches([[1]] * 130, sources=[source] if source else [])] == [64, 64, 2]


def _largest(inspector: Inspector, length: int, has_source: bool) -> int:
    """Numbers of the largest tensor that is returned for a text of this length, and for as long a source."""
    text = [1] * length
    inside = inspector.inspect(text, source=text if has_source else (), last=True)
    values = [getattr(one, each.name) for one in (inside, inside.attention) for each in fields(one)]
    return max(value.numel() for value in values if isinstance(value, Tensor))
