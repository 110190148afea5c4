"""GPT-2 and distilgpt2 say what is published of them, by both engines; skipped where their weights are not here.

They are looked for in the Hub's cache and in ../shared/checkpoints; nothing is downloaded. The numbers are those of
../shared/REFERENCE.md, to the decimals that were published.
"""

from __future__ import annotations

import math
from pathlib import Path

import pytest
import torch
from huggingface_hub import snapshot_download
from huggingface_hub.errors import LocalEntryNotFoundError

from decoding.generate import generate
from decoding.request import Request
from decoding.settings import DecodingSettings
from decoding.step import Step
from model import catalog, names
from model.inspection.attribution import attribute_directly
from model.inspection.heads import score_heads, score_induction
from model.inspection.inspector import opened
from model.loaded import LoadedModel
from tests.helpers.paths import SHARED

CHECKPOINTS = SHARED / "checkpoints"
REPOSITORIES = {entry.name: entry.location for entry in names.ENTRIES if entry.name in ("gpt2", "distilgpt2")}
pytestmark = pytest.mark.weights


def folder_of(name: str) -> Path:
    """The folder of these weights; without them the test is skipped."""
    if (folder := CHECKPOINTS / name).is_dir():
        return folder
    try:
        folder = Path(snapshot_download(REPOSITORIES[name], local_files_only=True))
    except LocalEntryNotFoundError:
        pytest.skip(f"the weights of {REPOSITORIES[name]} are neither in the Hub's cache nor in {CHECKPOINTS}")
    if not (folder / "model.safetensors").is_file():
        pytest.skip(f"the Hub's cache holds no weights of {REPOSITORIES[name]}")
    return folder


@pytest.fixture(scope="module", params=["native", "adapter"])
def gpt2(request: pytest.FixtureRequest) -> LoadedModel:
    return catalog.load(str(folder_of("gpt2")), request.param)


@pytest.fixture(scope="module", params=["native", "adapter"])
def distilgpt2(request: pytest.FixtureRequest) -> LoadedModel:
    return catalog.load(str(folder_of("distilgpt2")), request.param)


def steps(loaded: LoadedModel, text: str, **settings: object) -> list[Step]:
    request = Request.of(loaded, loaded.prompt(text))
    strategy = DecodingSettings.from_dict(settings).strategy_for(request)
    return list(generate(loaded.model, request.prompt, strategy))


def generated(loaded: LoadedModel, written: list[Step]) -> str:
    best = written[-1].best
    assert best is not None
    return loaded.tokenizer.decode(best.tokens)


def test_gpt2_splits_and_continues_as_published(gpt2: LoadedModel) -> None:
    assert gpt2.prompt("The quick brown fox") == (464, 2068, 7586, 21831)
    assert gpt2.prompt("I have a dream") == (40, 423, 257, 4320)
    written = steps(gpt2, "I have a dream", strategy="greedy", max_new_tokens=5)
    assert generated(gpt2, written) == " of being a doctor."
    chances = [step.best.choice.probability for step in written if step.best is not None]
    assert chances[0] == pytest.approx(0.17, abs=0.005)
    assert (chances[1], chances[3]) == pytest.approx((0.0968, 0.0286), abs=5e-5)


def test_gpt2_searches_as_published(gpt2: LoadedModel) -> None:
    """Three beams after "The capital of France is"; the scores are sums of log-probabilities."""
    written = steps(gpt2, "The capital of France is", strategy="beam", num_beams=3, max_new_tokens=6)
    published = {
        0: {" the": -2.4699, " now": -3.0377, " a": -3.0756},
        2: {" the capital of": -4.3194},
        4: {
            " the capital of France,": -6.9453,
            " the capital of France.": -7.1549,
            " the capital of the French": -7.5727,
        },
    }
    for number, known in published.items():
        living = {gpt2.tokenizer.decode(beam.tokens): beam.log_probability for beam in written[number].hypotheses}
        for text, score in known.items():
            assert living[text] == pytest.approx(score, abs=1e-4)


def test_gpt2_scores_as_published(gpt2: LoadedModel) -> None:
    """The mean loss of "Hello world!" behind the token that begins a text."""
    ids = gpt2.tokenizer.encode("Hello world!")
    begin = gpt2.tokenizer.special_token_id("<|endoftext|>")
    rows = gpt2.model.logits([begin], ids).double().log_softmax(-1)  # (len(ids), V)
    loss = -rows[torch.arange(len(ids)), ids].mean()
    assert float(loss) == pytest.approx(5.3318558, abs=1e-5)


DISTILLED = [
    {
        " to": 0.1513,
        " not": 0.0890,
        " a": 0.0650,
        " that": 0.0557,
        " the": 0.0513,
        " defined": 0.0199,
        " an": 0.0157,
        ",": 0.0153,
        " one": 0.0118,
        " in": 0.0112,
    },
    {" be": 0.2613, " live": 0.0408, " say": 0.0191, " have": 0.0159, " make": 0.0149},
    {" understood": 0.0404, " able": 0.0314, " a": 0.0283, " lived": 0.0276},
    {" as": 0.2249, " in": 0.1128, " and": 0.0959},
    {" a": 0.2281, " the": 0.1354, " being": 0.1226},
]


def test_distilgpt2_weighs_as_published(distilgpt2: LoadedModel) -> None:
    """The ten most probable tokens of five greedy steps after "The meaning of life is"."""
    written = steps(distilgpt2, "The meaning of life is", strategy="greedy", max_new_tokens=5)
    for step, known in zip(written, DISTILLED, strict=True):
        assert step.best is not None
        top = {
            distilgpt2.tokenizer.decode([candidate.id]): candidate.probabilities[0]
            for candidate in step.best.choice.candidates
        }
        assert list(top)[: len(known)] == list(known)
        assert all(math.isclose(top[text], chance, abs_tol=6e-5) for text, chance in known.items())


def test_distilgpt2_goes_on_as_published(distilgpt2: LoadedModel) -> None:
    written = steps(distilgpt2, "The meaning of life is to", strategy="greedy", max_new_tokens=20)
    assert generated(distilgpt2, written) == (
        " be understood as a whole, and to be understood as a whole, and to be understood as a"
    )


def test_gpt2_names_the_indirect_object_with_the_heads_that_are_published(gpt2: LoadedModel) -> None:
    """TransformerLens' demonstration on "When John and Mary …": what heads at the last position add to the logit of
    Mary minus that of John, the previous-token head 4.11 and the induction head 5.5. Its prompts begin with the end
    token."""
    inspector = opened(gpt2.model).inspector()
    text = "When John and Mary went to the shops, John gave the bag to"
    ids = (*sorted(gpt2.end_tokens)[:1], *gpt2.tokenizer.encode(text))
    (mary,), (john,) = gpt2.tokenizer.encode(" Mary"), gpt2.tokenizer.encode(" John")
    direct = attribute_directly(inspector, ids, mary, john)
    assert direct.heads is not None and direct.gap < 1e-4
    published = {(9, 9): 1.958, (9, 6): 1.628, (10, 7): -1.427, (11, 10): -0.905, (10, 0): 0.637}
    assert {head: direct.heads[head].item() for head in published} == pytest.approx(published, abs=0.02)
    attention = inspector.inspect(ids).attention.decoder[0]
    assert score_heads(attention, ids, frozenset()).previous.argmax().item() == 4 * 12 + 11
    assert score_induction(inspector, seed=0)[5, 5] > 0.5
