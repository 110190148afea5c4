"""A full context still predicts one token, as in transformers: a model of 11 positions continues 6 tokens by 6."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
from transformers import AutoModelForCausalLM, AutoModelForSeq2SeqLM

from decoding.counterfactual import choose_again
from decoding.generate import generate
from decoding.request import Request, RequestOptions
from decoding.scheduler import Scheduler
from decoding.settings import DecodingSettings
from decoding.step import Step
from lesson.generation.loop import LoopStart, run_loop
from model import catalog
from model.errors import AttendError
from model.loaded import LoadedModel
from tests.helpers import folders
from tests.helpers.transformers_generate import draw_as_we_do
from ui.runs.attention_rows import explain

POSITIONS, PROMPT = 11, (300, 301, 302, 303, 304, 305)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return folders.gpt2(tmp_path_factory.mktemp("full") / "short", n_positions=POSITIONS)


@pytest.fixture(scope="module", params=["native", "adapter"])
def loaded(folder: Path, request: pytest.FixtureRequest) -> LoadedModel:
    return catalog.load(str(folder), request.param)


def steps_of(loaded: LoadedModel, prompt: tuple[int, ...], **settings: Any) -> list[Step]:
    chosen = DecodingSettings.from_dict({"min_new_tokens": 20, "max_new_tokens": 20, "seed": 5} | settings)
    request = Request.of(loaded, prompt, RequestOptions(attention=True))
    return list(generate(loaded.model, prompt, chosen.strategy_for(request)))


def their_ids(folder: Path, prompt: tuple[int, ...], tokens: int, **options: Any) -> tuple[int, ...]:
    ids = torch.tensor([prompt])
    model: Any = AutoModelForCausalLM.from_pretrained(folder)
    limits = {"max_new_tokens": tokens, "min_new_tokens": tokens}
    output = model.generate(ids, attention_mask=torch.ones_like(ids), pad_token_id=0, **{**limits, **options})
    return tuple(output[0].tolist()[len(prompt) :])


@pytest.mark.parametrize("length", [6, 10, 11])
def test_greedy_decoding_and_beams_choose_as_many_tokens_as_transformers(
    folder: Path, loaded: LoadedModel, length: int
) -> None:
    prompt, expected = (*PROMPT, *range(306, 311))[:length], POSITIONS + 1 - length
    for strategy, beams in (("greedy", 1), ("beam", 3)):
        last = steps_of(loaded, prompt, strategy=strategy, num_beams=beams)[-1]
        assert last.returned[0].tokens == their_ids(folder, prompt, expected, num_beams=beams)
        assert len(last.returned[0].tokens) == expected
        assert last.finish_reason == "length"
        attention = last.returned[0].choice.attention
        assert attention is not None and attention.shape[-1] == POSITIONS  # of the newest token that was read


def test_so_does_sampling(folder: Path, loaded: LoadedModel, monkeypatch: pytest.MonkeyPatch) -> None:
    ours = steps_of(loaded, PROMPT, strategy="sample", seed=5)[-1].returned[0]
    draw_as_we_do(monkeypatch, 5)
    assert ours.tokens == their_ids(folder, PROMPT, 6, do_sample=True, top_k=0)
    assert ours.finish_reason == "length"


def test_transformers_cannot_choose_a_token_more(folder: Path) -> None:
    with pytest.raises(IndexError):
        their_ids(folder, PROMPT, 7)


def test_every_strategy_fills_the_context_but_contrastive_search_reads_what_it_compares(loaded: LoadedModel) -> None:
    for strategy, length in {"diverse_beam": 6, "beam_sample": 6, "dola": 6, "contrastive": 5}.items():
        assert len(steps_of(loaded, PROMPT, strategy=strategy)[-1].returned[0].tokens) == length, strategy
    with pytest.raises(AttendError, match="fills the context of 11 tokens, but contrastive search"):
        steps_of(loaded, tuple(range(300, 311)), strategy="contrastive")


def test_runs_that_share_passes_fill_it_too(loaded: LoadedModel) -> None:
    scheduler = Scheduler(lambda: loaded.lock)
    settings = DecodingSettings(strategy="greedy", min_new_tokens=20, max_new_tokens=20)
    run = scheduler.run(loaded.model, PROMPT, [settings.strategy_for(Request.of(loaded, PROMPT))])
    steps = [each.steps[0] for each in run if each is not None]
    assert steps[-1].returned[0].tokens == steps_of(loaded, PROMPT, strategy="greedy")[-1].returned[0].tokens


def test_a_full_text_is_explained_scored_and_chosen_again_without_reading_its_last_token(loaded: LoadedModel) -> None:
    steps = steps_of(loaded, PROMPT, strategy="greedy")
    answer = steps[-1].returned[0].tokens
    records, _ = explain((*PROMPT, *answer), loaded.model, loaded.lock, candidates=5)
    assert [token.id for token in records] == [*PROMPT, *answer]
    choices = [step.hypotheses[0].choice for step in steps]
    again = choose_again(loaded.model, Request.of(loaded, PROMPT), choices, DecodingSettings(strategy="greedy"))
    assert len(again.choices) == 6
    loop = run_loop(LoopStart(loaded.model, PROMPT, frozenset()), (), most=20, sample=False, seed=1, to_end=True)
    assert len(loop.written) == 6 and loop.ended == "length"


def test_an_encoder_decoder_fills_its_decoder_and_its_source(tmp_path: Path) -> None:
    folder = folders.marian(tmp_path / "marian")
    loaded = catalog.load(str(folder))
    source = loaded.prompt("the cat " * 40)[-loaded.model.context_length :]
    assert len(source) == loaded.model.context_length == 64
    request = Request.of(loaded, source)
    settings = DecodingSettings(strategy="greedy", max_new_tokens=100, min_new_tokens=100)
    *_, last = generate(loaded.model, source, settings.strategy_for(request))
    ids = torch.tensor([source])
    their_model: Any = AutoModelForSeq2SeqLM.from_pretrained(folder)
    limits = {"max_new_tokens": 64, "min_new_tokens": 64, "num_beams": 1}
    expected = their_model.generate(ids, attention_mask=torch.ones_like(ids), **limits)[0].tolist()
    assert [*loaded.model.decoder_start, *last.returned[0].tokens] == expected
    assert len(last.returned[0].tokens) == 64
