"""Models of transformers, opened: equal to plain hooks on the same modules, and in every family to themselves."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from transformers import AutoModelForCausalLM, AutoModelForSeq2SeqLM

from benchmarks.families.tiny_models import tiny_config
from model.errors import AttendError
from model.huggingface.attention import EAGER
from model.huggingface.causal import HuggingFaceModel
from model.huggingface.seq2seq import Seq2SeqModel
from model.inspection.attribution import attribute_directly
from model.inspection.inspector import Inspector
from model.inspection.intervention import Intervention

IDS, SOURCE = (5, 9, 30, 12, 40, 9), (11, 12, 13, 14)
CAUSAL = (
    *("gpt2", "llama", "mistral", "qwen2", "qwen3", "phi", "gemma", "gemma2", "gemma3_text", "gpt_neox", "opt", "olmo"),
    *("olmo2", "bloom", "falcon", "gptj", "gpt_neo", "codegen", "cohere", "cohere2", "granite", "mixtral", "qwen2_moe"),
    *("glm4", "stablelm", "starcoder2", "mpt", "phi3", "gpt_oss", "smollm3", "biogpt", "xglm", "ernie4_5", "helium"),
)
SEQ2SEQ = ("t5", "mt5", "umt5", "bart", "mbart", "marian", "m2m_100", "pegasus", "blenderbot", "longt5", "led")
REFUSED = ("jamba", "qwen3_next", "gemma3n_text", "roberta")  # recurrent layers, four streams, norms named otherwise


def random_model(family: str) -> Any:
    kind = AutoModelForSeq2SeqLM if family in SEQ2SEQ else AutoModelForCausalLM
    torch.manual_seed(3)
    model = kind.from_config(tiny_config(family, seq2seq=family in SEQ2SEQ), attn_implementation=EAGER).eval()
    with torch.no_grad():
        for number, parameter in enumerate(model.parameters()):
            generator = torch.Generator().manual_seed(number)
            parameter.add_(0.05 * torch.randn(parameter.shape, generator=generator))
    return model


def adapter(family: str) -> HuggingFaceModel | Seq2SeqModel:
    return Seq2SeqModel(random_model(family)) if family in SEQ2SEQ else HuggingFaceModel(random_model(family))


def difference(one: Tensor, other: Tensor) -> float:
    return (one - other).abs().max().item()


@torch.inference_mode()
@pytest.mark.parametrize("family", (*CAUSAL, *SEQ2SEQ))
def test_what_holds_of_every_family(family: str) -> None:
    """The last stream gives the output; a part scaled by 1 or replaced by itself changes nothing; a head that is off
    changes a text read at once as it changes it token by token; attributions add up to the logit."""
    model: Any = adapter(family)
    inspector, source = model.inspector(), SOURCE if family in SEQ2SEQ else ()
    text = (*model.decoder_start, *IDS)
    inside, scale = inspector.inspect(text, source=source), model.inspect(text, source=source).logits.abs().max().item()
    assert difference(inside.logits, model.inspect(text, source=source).logits) < 1e-5 * scale
    assert difference(inspector.anatomy.logits(inside.streams[-1, -1]), inside.logits) < 1e-5 * scale
    same = [
        Intervention(0, "head", 1, action="scale", factor=1.0),
        Intervention(1, "attention", action="replace", replacement=inside.part(1, "attention")),
        Intervention(2, "layer", positions=(1, 3), action="replace", replacement=inside.part(2, "layer")),
    ]
    assert difference(inspector.inspect(text, source=source, interventions=same).logits, inside.logits) < 1e-5 * scale
    off = [Intervention(1, "head", 1), Intervention(2, "feed_forward", action="scale", factor=0.5)]
    read = inspector.inspect(text, source=source, interventions=off).logits
    assert difference(read, inside.logits) > 1e-3 * scale
    under = model.with_interventions(off)
    forward = under.prefill(source or text[:3])
    for position in range(len(model.decoder_start) or 3, len(text)):
        assert difference(forward.logits[0], read[position - 1]) < 1e-4 * scale
        forward = under.step([text[position]], forward.cache)
    ends = inspector.predictions([text, text[:3]], sources=[source] if source else [], interventions=[[], off])
    assert difference(ends[0], inside.logits[-1]) < 1e-5 * scale and difference(ends[1], read[2]) < 1e-4 * scale
    assert attribute_directly(inspector, text, 5, 7, source=source).gap < 1e-4


@pytest.mark.parametrize("family", ["gpt2", "phi", "gptj", "t5", "bart", "marian"])
def test_the_output_layer_only_reads_what_is_asked_for(family: str) -> None:
    """The last token of each row, whether or not the family has a switch for it."""
    model: Any = adapter(family)
    inspector, sources = model.inspector(), [SOURCE] if family in SEQ2SEQ else []
    shapes: list[tuple[int, ...]] = []
    model.network.get_output_embeddings().register_forward_hook(lambda _, __, logits: shapes.append((*logits.shape,)))
    rows = inspector.predictions([IDS, IDS[:3]], sources=sources)
    assert shapes == [(2, 1, model.vocabulary_size)]
    whole = inspector.inspect(IDS, source=sources[0] if sources else ()).logits
    assert shapes[1:] == [(1, len(IDS), model.vocabulary_size)]
    assert difference(rows, whole[[-1, 2]]) < 1e-5


@pytest.mark.parametrize("family", REFUSED)
def test_parts_that_do_not_add_up_are_refused(family: str) -> None:
    with pytest.raises(AttendError, match="can't be opened"):
        adapter(family).inspector()


@torch.inference_mode()
def test_rows_whose_rotations_depend_on_their_length_are_read_apart() -> None:
    """Phi-3 with two sets of rotations: a long row must not turn a short one as a long text."""
    config = tiny_config("phi3")
    half = config.hidden_size // config.num_attention_heads // 2
    factors = {"short_factor": [1.0] * half, "long_factor": [4.0] * half}
    rotations = {"rope_type": "longrope", "rope_theta": 10_000.0, **factors, "original_max_position_embeddings": 8}
    config = type(config)(**{**config.to_dict(), "rope_parameters": rotations, "original_max_position_embeddings": 8})
    torch.manual_seed(3)
    built = AutoModelForCausalLM.from_config(config, attn_implementation=EAGER).eval()
    with torch.no_grad():
        for parameter in built.parameters():
            parameter.add_(0.3 * torch.randn(parameter.shape))
    model = HuggingFaceModel(built)
    inspector, long = model.inspector(), (*IDS, *IDS[::-1], 3, 4)
    both, alone = inspector.predictions([long, IDS]), inspector.predictions([IDS])
    assert difference(both[1], alone[0]) < 1e-5
    assert difference(inspector.predictions([long])[0], both[0]) < 1e-5
    with pytest.raises(AttendError, match="reads a growing text again"):
        model.with_interventions([Intervention(0, "head", 0)])


def test_half_precision_is_refused_with_its_reason() -> None:
    with pytest.raises(AttendError, match="float32"):
        HuggingFaceModel(random_model("llama").to(torch.bfloat16)).inspector()


def test_gradients_flow_through_models_of_transformers() -> None:
    """Beside a difference quotient along one token's embedding."""
    for family in ("gpt2", "llama", "ctrl"):
        inspector = adapter(family).inspector()
        embedded = inspector.embed(IDS)[None].requires_grad_()
        slope = torch.autograd.grad(inspector.from_embeddings(IDS, embedded)[0, 5], embedded)[0][0, 2]
        step = 1e-2 * slope / slope.norm()
        ends = [embedded.detach().clone() for _ in range(2)]
        ends[0][0, 2] += step
        ends[1][0, 2] -= step
        with torch.no_grad():
            up, down = (inspector.from_embeddings(IDS, end)[0, 5] for end in ends)
        assert float((up - down).detach() / 2e-2) == pytest.approx(float(slope.norm()), rel=2e-2)


@contextmanager
def hooked(*hooks: tuple[nn.Module, Callable[[Tensor], Tensor], str]) -> Iterator[None]:
    """Plain PyTorch: the input or the output of a module through a function."""
    handles = []
    for module, change, place in hooks:
        if place == "input":

            def before(_: nn.Module, inputs: Any, change: Any = change) -> Any:
                return change(inputs[0]), *inputs[1:]

            handles.append(module.register_forward_pre_hook(before))
        else:

            def after(_: nn.Module, __: Any, output: Any, change: Any = change) -> Any:
                return change(output) if isinstance(output, Tensor) else (change(output[0]), *output[1:])

            handles.append(module.register_forward_hook(after))
    try:
        yield
    finally:
        for handle in handles:
            handle.remove()


def without_head(head: int, width: int, positions: Sequence[int] | None = None) -> Callable[[Tensor], Tensor]:
    def change(joined: Tensor) -> Tensor:  # (R, T, H * D)
        joined = joined.clone()
        joined[:, slice(None) if positions is None else list(positions), head * width : (head + 1) * width] = 0.0
        return joined

    return change


def check(inspector: Inspector, expected: Tensor, *ones: Intervention, source: Sequence[int] = ()) -> None:
    assert difference(inspector.inspect(IDS, source=source, interventions=ones).logits, expected) < 1e-5


@torch.inference_mode()
@pytest.mark.parametrize("family", ["gpt2", "llama"])
def test_interventions_are_those_of_plain_hooks(family: str) -> None:
    """The slow twin: hooks of a few lines on transformers' own model, which has never met Attend."""
    reference: Any = random_model(family)
    inspector = adapter(family).inspector()
    blocks = reference.transformer.h if family == "gpt2" else reference.model.layers
    projection = blocks[1].attn.c_proj if family == "gpt2" else blocks[1].self_attn.o_proj
    last = blocks[2].mlp.c_proj if family == "gpt2" else blocks[2].mlp.down_proj
    ids, width = torch.tensor([IDS]), 8
    with hooked((projection, without_head(2, width), "input")):
        check(inspector, reference(ids).logits[0], Intervention(1, "head", 2))
    with hooked((projection, without_head(2, width, (1, 4)), "input")):
        check(inspector, reference(ids).logits[0], Intervention(1, "head", 2, positions=(1, 4)))
    with hooked((last, lambda written: 0.25 * written, "output")):
        check(inspector, reference(ids).logits[0], Intervention(2, "feed_forward", action="scale", factor=0.25))
    other = inspector.inspect(IDS[::-1]).part(1, "layer")
    with hooked((blocks[1], lambda _: other[None], "output")):
        check(inspector, reference(ids).logits[0], Intervention(1, "layer", action="replace", replacement=other))
    before: list[Tensor] = []
    keeps = blocks[2].register_forward_pre_hook(lambda _, inputs: before.append(inputs[0]))
    with hooked((blocks[2], lambda _: before[-1], "output")):
        check(inspector, reference(ids).logits[0], Intervention(2, "layer"))
    keeps.remove()


@torch.inference_mode()
def test_interventions_on_t5_are_those_of_plain_hooks() -> None:
    reference, inspector = random_model("t5"), adapter("t5").inspector()
    block = reference.decoder.block[1]
    inputs = {"input_ids": torch.tensor([SOURCE]), "decoder_input_ids": torch.tensor([IDS])}
    for layer, part in ((0, "head"), (1, "cross_head")):
        attention = block.layer[0].SelfAttention if layer == 0 else block.layer[1].EncDecAttention
        with hooked((attention.o, without_head(3, 8), "input")):
            check(inspector, reference(**inputs).logits[0], Intervention(1, part, 3), source=SOURCE)  # type: ignore[arg-type]
    with hooked((block.layer[2].DenseReluDense.wo, lambda written: -written, "output")):
        flipped = Intervention(1, "feed_forward", action="scale", factor=-1.0)
        check(inspector, reference(**inputs).logits[0], flipped, source=SOURCE)
