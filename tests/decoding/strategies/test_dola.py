"""DoLa equals its definition and hand-computed contrasts."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence

import pytest
import torch

from decoding.processors import Context, run_chain
from decoding.recorder import record
from decoding.request import Request
from decoding.settings import DecodingSettings
from decoding.step import Step
from decoding.strategies.dola import CandidateLayers, ContrastWithLayer, jensen_shannon
from model.errors import AttendError
from model.interface import LanguageModel, Want
from tests.helpers.tiny import TinyModel, decided_transformer, decode, random_model, trace_of

Ids = tuple[int, ...]


def dola(**settings: object) -> DecodingSettings:
    return DecodingSettings.from_dict({"strategy": "dola", "max_new_tokens": 10, **settings})


def run(model: LanguageModel, prompt: Ids, settings: DecodingSettings) -> list[Step]:
    return decode(model, settings, Request.of_model(model, prompt))


def softmax(logits: Sequence[float]) -> list[float]:
    weights = [math.exp(value - max(logits)) for value in logits]
    return [weight / math.fsum(weights) for weight in weights]


def divergence(p: Sequence[float], q: Sequence[float]) -> float:
    """The paper's definition: the mean of both Kullback-Leibler divergences from the mean distribution, in bits."""
    mean = [(a + b) / 2 for a, b in zip(p, q, strict=True)]

    def from_mean(one: Sequence[float]) -> float:
        return math.fsum(a * math.log2(a / m) for a, m in zip(one, mean, strict=True) if a > 0)

    return (from_mean(p) + from_mean(q)) / 2


def slow(final: Sequence[float], early: Mapping[int, Sequence[float]]) -> tuple[int, int, dict[int, float]]:
    """The definition for one greedy token: the token, the layer and all divergences."""
    p = softmax(final)
    q = {layer: softmax(logits) for layer, logits in early.items()}
    far = {layer: divergence(p, each) for layer, each in q.items()}
    layer = max(far, key=lambda one: far[one])
    scores = {
        token: math.log(probability) - math.log(q[layer][token])
        for token, probability in enumerate(p)
        if probability >= 0.1 * max(p)
    }
    return max(scores, key=lambda token: scores[token]), layer, far


def check_against_definition(
    model: LanguageModel, prompt: Ids, dola_layers: object, layers: Sequence[int]
) -> list[Step]:
    steps = run(model, prompt, dola(temperature=0, dola_layers=dola_layers))
    text = prompt
    for step in steps:
        read = model.prefill(text, want=Want(layers=tuple(range(model.layer_count))))
        assert read.layer_logits is not None
        early = {layer: read.layer_logits[0, layer].tolist() for layer in layers}
        token, layer, far = slow(read.logits[0].tolist(), early)
        choice = step.hypotheses[0].choice
        assert choice.token == token and choice.contrast is not None
        assert choice.contrast.layer == layer
        assert dict(choice.contrast.divergences) == pytest.approx(far, abs=1e-6)
        assert choice.stages == ("model", "dola") and choice.draw is None
        text = (*text, token)
    return steps


@pytest.mark.parametrize(
    ("requested", "layers"), [("low", (2,)), ("high", (2, 4)), ([3, 0, 1], (0, 1, 3)), (3, (3,))], ids=str
)
def test_texts_and_layers_are_those_of_the_definition(requested: object, layers: Ids) -> None:
    for seed in range(5):
        steps = check_against_definition(random_model(30, seed, scale=2), (3, 1), requested, layers)  # of five layers
        chosen = {step.hypotheses[0].choice.contrast.layer for step in steps if step.hypotheses[0].choice.contrast}
        assert chosen <= set(layers)
        assert len(chosen) > 1 or len(layers) == 1


def test_cached_steps_equal_recomputing_from_scratch() -> None:
    check_against_definition(decided_transformer(8, layers=6), (3, 1, 4), "high", (3, 5))


def test_a_contrast_by_hand() -> None:
    """The last layer says .6 .3 .05 .05, the other one .3 .3 .2 .2. A tenth of .6 is .06: two tokens are plausible, and
    of them the first got twice as probable, the second stayed: 2 : 1."""
    final, premature = (torch.tensor([row]).log() for row in ([0.6, 0.3, 0.05, 0.05], [0.3, 0.3, 0.2, 0.2]))
    stages = run_chain((ContrastWithLayer(premature),), final, Context((0,), ((),)))
    choice = record(("model", "dola"), stages, 4)[0].choice(0)
    assert [candidate.probabilities[1] for candidate in choice.candidates] == pytest.approx([2 / 3, 1 / 3, 0, 0])
    assert choice.kept == (4, 2) and choice.mass[1] == pytest.approx(0.9)


def test_divergences_by_hand() -> None:
    """Of (.5 .5) and (1 0) the mean is (.75 .25), whose entropy is .811278 bits; reference are 1 and 0: .311278."""
    one = torch.tensor([[0.0, 0.0]])
    others = torch.tensor([[5.0, 5.0], [0.0, -math.inf], [-1000.0, 0.0]])
    assert jensen_shannon(one, others) == pytest.approx([0.0, 0.3112781, 0.3112781])
    assert jensen_shannon(torch.tensor([[0.0, -1e4]]), torch.tensor([[-1e4, 0.0]])) == [1.0]


@pytest.mark.parametrize(
    ("layers", "low", "high"),
    [
        (1, (0,), (0,)),
        (3, (1,), (1,)),
        (6, (2,), (3, 5)),
        (12, (2, 4), (6, 8, 10)),
        (32, tuple(range(2, 16, 2)), tuple(range(16, 32, 2))),  # the paper's LLaMA 7B has the second
        (48, tuple(range(2, 20, 2)), tuple(range(28, 48, 2))),
    ],
)
def test_the_low_and_the_high_layers(layers: int, low: Ids, high: Ids) -> None:
    """As `dola` in transformers with tied embeddings, except for three layers, where it has no low layer."""
    assert (CandidateLayers.of("low", layers).layers, CandidateLayers.of("high", layers).layers) == (low, high)


def test_it_draws_at_a_temperature_and_filters_like_sampling() -> None:
    model = random_model(30, seed=2, scale=2)
    steps = run(model, (3, 1), dola(temperature=0.8, top_p=0.9, seed=5))
    choices = [step.hypotheses[0].choice for step in steps]
    assert {choice.stages for choice in choices} == {("model", "dola", "temperature", "top_p")}
    sampled = DecodingSettings(seed=5, max_new_tokens=10)
    plain = run(model, (3, 1), sampled)
    assert [choice.draw for choice in choices] == [step.hypotheses[0].choice.draw for step in plain]
    assert len({steps[-1].hypotheses[0].tokens, plain[-1].hypotheses[0].tokens}) == 2


@pytest.mark.usefixtures("counted_seeds")
def test_what_cannot_be_contrasted_is_refused() -> None:
    with pytest.raises(AttendError, match=r"DoLa compares the predictions of single layers.*another model"):
        run(TinyModel(lambda text: [0.0, 1.0]), (0,), dola())
    with pytest.raises(AttendError, match=r"lists layer 5, but the layers below this model's last are 0 to 4"):
        run(random_model(9, seed=1), (0,), dola(dola_layers=[1, 5]))
    for value in ("middle", "", "1, x", [], [1.5], -1, [1001], True, None, {"1": 2}, [[1]], list(range(101))):
        with pytest.raises(AttendError, match="dola_layers"):
            dola(dola_layers=value)


@pytest.mark.parametrize(
    ("value", "meant", "typed"),
    [
        ("low", "low", "low"),
        (" high ", "high", "high"),
        ("5, 3,3", (3, 5), "3, 5"),
        ([4.0, 2], (2, 4), "2, 4"),
        (7, (7,), "7"),
    ],
)
def test_layers_come_as_words_or_numbers(value: object, meant: object, typed: str) -> None:
    settings = dola(dola_layers=value)
    assert settings.dola_layers == meant
    assert settings.to_dict()["dola_layers"] == (meant if isinstance(meant, str) else list(meant))  # type: ignore[call-overload]
    assert DecodingSettings.from_dict(json.loads(json.dumps(settings.to_dict()))) == settings
    assert dola(dola_layers=typed) == settings


def test_the_document_has_the_layer_and_the_divergences() -> None:
    model, settings = random_model(9, seed=1), dola(max_new_tokens=3, seed=1)
    trace = trace_of(model, settings, Request.of_model(model, (3,)))
    document = json.loads(json.dumps(trace.document(), allow_nan=False))
    for step in document["steps"]:
        divergences = {entry["layer"]: entry["bits"] for entry in step["contrast"]["divergences"]}
        assert list(divergences) == [2, 4]
        assert divergences[step["contrast"]["layer"]] == max(divergences.values())
