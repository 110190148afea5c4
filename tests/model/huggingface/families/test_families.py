"""Families of transformers that need something of their own: exact, or refused before anyone uses them.

`python -m benchmarks.families` tries them all; here is one of each kind.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import torch
from transformers import GPT2LMHeadModel, PreTrainedModel

from benchmarks.families import __main__ as families
from benchmarks.families.tiny_models import tiny_config, tiny_model
from model.device import DeviceConfig
from model.errors import AttendError
from model.huggingface.attention import EAGER, FUSED, stacked
from model.huggingface.causal import HuggingFaceModel
from model.huggingface.folder import load_model
from model.huggingface.seq2seq import Seq2SeqModel
from model.huggingface.verify import verified
from model.huggingface.weights import CheckpointFiles
from model.interface import Want


def eager(family: str) -> PreTrainedModel:
    model = tiny_model(family)
    model.set_attn_implementation(EAGER)
    return model


@pytest.mark.parametrize(
    "family",
    [
        "switch_transformers",  # a mixture of experts with an encoder, which it asks for what routed the source
        "afmoe",  # names its mask when it calls the attention function
        "codegen",  # has no attention function
        "deepseek_v32",  # chooses keys by an indexer, whose own keys are part of the cache
        "diffllama",  # attends twice with the same weights
        "gpt_neo",  # has a class for each attention implementation
        "gpt_oss",  # has sinks, which the fused kernel would leave out
        "megatron-bert",  # a decoder whose cache has room for an encoder's keys
        "mpt",  # needs a mask that the fused kernel does without
        "qwen3_next",  # has recurrent layers, whose states a step overwrites
        "roberta",  # counts positions from the one behind the padding's
    ],
)
def test_a_family_is_exact(family: str) -> None:
    task: families.Task = "seq2seq" if family == "switch_transformers" else "causal"
    result = families.examine(family, task, prompts=(3, 8), beams=(3,))
    assert (result.verdict, result.reason) == ("exact", "")
    assert (result.greedy, result.beams) == ((2, 2), (2, 2))


TEXTS = ([9, 30, 12], [11, 40, 17, 8, 33, 52, 21, 14, 45, 10, 27, 19, 50, 36])


@torch.inference_mode()
@pytest.mark.parametrize(
    ("family", "task", "changes"),
    [
        ("bloom", "causal", {"return_dict": False, "output_hidden_states": True}),
        ("bart", "seq2seq", {"return_dict": False}),
        ("qwen3_moe", "causal", {"output_router_logits": True}),
    ],
)
def test_odd_but_legal_values_in_a_config_change_nothing(
    family: str, task: families.Task, changes: dict[str, Any], tmp_path: Path
) -> None:
    built = tiny_model(family, seq2seq=task == "seq2seq")
    for name, value in changes.items():
        setattr(built.config, name, value)
    built.save_pretrained(tmp_path)
    model, _ = load_model(CheckpointFiles.read(tmp_path, family), "adapter", DeviceConfig("cpu"))
    reference = tiny_model(family, seq2seq=task == "seq2seq")
    for text in TEXTS:
        assert families._logits(model, reference, text, task) < 1e-3
        assert families._same_text(model, reference, text, beams=1)


def test_a_step_leaves_recurrent_states_as_they_were() -> None:
    ours = HuggingFaceModel(eager("qwen3_next"))
    cache = ours.prefill([9, 10, 11]).cache
    first = ours.step([12], cache).logits
    ours.step([13], cache)
    assert torch.equal(ours.step([12], cache).logits, first)


def test_a_layer_that_attends_twice_is_one_layer_and_what_a_sink_takes_is_missing_from_the_weights() -> None:
    twice, sinks = (
        HuggingFaceModel(eager(family)).prefill([9, 10, 11], want=Want(attention=True)).attention
        for family in ("diffllama", "gpt_oss")
    )
    assert twice is not None and sinks is not None
    assert twice.decoder.shape == (1, 4, 4, 1, 3)  # rows, layers, heads, queries, keys
    assert (sinks.decoder.sum(-1) < 0.99).all()


@pytest.mark.parametrize(
    ("family", "task", "words"),
    [
        ("cpmant", "causal", r"can't run token by token \(The size of tensor"),
        ("git", "causal", "does not provide its attention"),
        ("mamba", "causal", "keeps no keys and values of its text"),
        ("minimax", "causal", "keeps its cache as MiniMaxCache"),
        ("prophetnet", "causal", r"runs differently from transformers \(its logits are off by up to 0\.\d+ standard"),
        ("encoder-decoder", "seq2seq", "can't run token by token"),
    ],
)
def test_what_would_fail_is_refused_when_it_is_loaded(family: str, task: families.Task, words: str) -> None:
    result = families.examine(family, task)
    assert result.verdict == "refused"
    with pytest.raises(AttendError, match=words):
        raise AttendError(result.reason)
    assert "\n" not in result.reason


@pytest.mark.parametrize("precision", [torch.float32, torch.float16, torch.bfloat16])
def test_sinks_that_were_left_out_would_be_noticed(precision: torch.dtype) -> None:
    def without_sinks(hf_model: PreTrainedModel) -> HuggingFaceModel:
        model = HuggingFaceModel(hf_model)
        hf_model.set_attn_implementation(FUSED)
        return model

    verified(HuggingFaceModel, eager("gpt_oss").to(precision), "a model")  # pyright: ignore[reportArgumentType]
    with pytest.raises(AttendError, match="a model is a GptOssForCausalLM, which Attend runs differently"):
        verified(without_sinks, eager("gpt_oss").to(precision), "a model")  # pyright: ignore[reportArgumentType]


class WithoutPositions(GPT2LMHeadModel):
    """Takes positions and counts the columns of its cache instead, so that padding counts, too."""

    def forward(self, *arguments: Any, position_ids: Any = None, **options: Any) -> Any:
        return super().forward(*arguments, **options)


def test_rows_that_would_meet_are_kept_apart() -> None:
    config = tiny_config("gpt2")
    apart, together = (
        verified(HuggingFaceModel, kind._from_config(config, attn_implementation=EAGER), "a model")
        for kind in (WithoutPositions, GPT2LMHeadModel)
    )
    assert (apart.joinable, together.joinable) == (False, True)


def test_layers_that_do_not_fit_on_one_map_are_refused() -> None:
    with pytest.raises(AttendError, match="attends to more than one text at a time"):
        stacked([torch.zeros(1, 4, 1, 5)], 3)
    with pytest.raises(AttendError, match="layers of this model differ in their number of heads"):
        stacked([torch.zeros(1, 4, 1, 3), torch.zeros(1, 8, 1, 3)], 3)


def test_layers_that_would_be_read_wrongly_are_not_read() -> None:
    """Cohere scales its logits, and BERT predicts from more than its last layer's state."""
    counts = {family: verified(HuggingFaceModel, eager(family), family).layer_count for family in ("cohere", "bert")}
    assert counts == {"cohere": 0, "bert": 0}
    assert verified(HuggingFaceModel, eager("llama"), "llama").layer_count == 4
    t5 = tiny_model("t5", seq2seq=True)
    t5.set_attn_implementation(EAGER)
    assert verified(Seq2SeqModel, t5, "T5").layer_count == 0


def test_the_table_counts_every_verdict(capsys: pytest.CaptureFixture[str]) -> None:
    threads = torch.get_num_threads()
    try:
        assert families.main(["xlm", "musicgen"]) == 0
    finally:
        torch.set_num_threads(threads)  # the script takes one
    output = capsys.readouterr().out
    assert "refused: xlm (causal): This model keeps no keys and values" in output
    figures = json.loads(output.splitlines()[-1])
    assert (figures["causal refused"], figures["causal not built"]) == (1, 1)
    assert families.main(["lama"]) == 2
    assert "no family 'lama' that writes texts: did you mean llama?" in capsys.readouterr().err
