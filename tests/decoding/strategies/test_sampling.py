"""Greedy decoding, sampling, and the loop shared by all strategies."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from decoding.batch import generate_batch
from decoding.generate import generate
from decoding.recorder import record
from decoding.settings import DecodingSettings
from decoding.strategies.base import newest_attention
from decoding.strategies.registry import STRATEGIES
from decoding.strategies.sampling import draw_without_replacement, token_at
from decoding.uniform import UniformStream
from model.errors import AttendError
from model.interface import Attention, Forward
from tests.helpers.tiny import Text, TinyCache, TinyModel, best, decode, make_request, random_model, table_model

# --- the draw --------------------------------------------------------------------------------------------------------


def slow_token_at(draw: float, logits: list[float]) -> int:
    """The definition: survivors by final probability, ties by id, the first whose cumulative sum exceeds the draw."""
    largest = max(logits)
    kept = [i for i, value in enumerate(logits) if value > -math.inf]
    weights = np.exp(np.array([logits[i] for i in kept], dtype=np.float64) - largest)
    probabilities = dict(zip(kept, (weights / weights.sum()).tolist(), strict=True))
    order = sorted(kept, key=lambda i: (-probabilities[i], i))
    total = 0.0
    for token in order:
        total += probabilities[token]
        if total > draw:
            return token
    return order[-1]


VALUES = st.one_of(st.sampled_from([0.0, 1.0, -800.0, -math.inf]), st.floats(-20, 20, width=32))


@settings(max_examples=100, deadline=None)
@given(
    st.lists(VALUES, min_size=1, max_size=60).filter(lambda row: max(row) > -math.inf),
    st.floats(0, 1, exclude_max=True),
)
def test_a_draw_falls_where_the_definition_says(row: list[float], draw: float) -> None:
    logits = torch.tensor([row])
    assert token_at(draw, record(("model",), [logits], 0)[0]) == slow_token_at(draw, logits[0].tolist())


@settings(max_examples=100, deadline=None)
@given(
    st.lists(VALUES, min_size=1, max_size=30).filter(lambda row: max(row) > -math.inf),
    st.lists(st.floats(0, 1, exclude_max=True), max_size=12),
)
def test_draws_without_replacement_fall_where_single_draws_would(row: list[float], draws: list[float]) -> None:
    """Each draw falls within the chosen token's share of the remaining probability: highest first, ties by id."""
    probabilities = torch.tensor(row, dtype=torch.float64).softmax(-1).numpy()
    indices = draw_without_replacement(draws, probabilities)
    left = {token: probability for token, probability in enumerate(probabilities.tolist()) if probability > 0}
    assert len(indices) == min(len(draws), len(left))
    for draw, index in zip(draws, indices, strict=False):
        order = sorted(left, key=lambda token: (-left[token], token))
        everything = sum(left.values())
        before = sum(left[token] for token in order[: order.index(index)])
        assert before - 1e-12 <= draw * everything <= before + left.pop(index) + 1e-12


@pytest.mark.parametrize("levels", [0, 4])
def test_a_draw_over_a_whole_vocabulary_equals_the_full_sort(levels: int) -> None:
    generator = torch.Generator().manual_seed(levels)
    logits = torch.randn(1, 50257, generator=generator)
    logits = (logits * levels).round() / levels if levels else logits
    recording, row = record(("model",), [logits], 0)[0], logits[0].tolist()
    for draw in (0.0, 0.6, 0.97, 1 - 2**-53):  # some lie beyond the probable tokens
        assert token_at(draw, recording) == slow_token_at(draw, row)


def test_draws_by_hand_and_on_an_edge_where_they_take_the_token_behind_it_or_else_the_last_one() -> None:
    # .5 .3 .2: the draw .6 falls on the second; of .5 and .2, which are 5/7 and 2/7, .72 lies behind 5/7 = .714.
    probabilities = np.array([0.2, 0.5, 0.3])
    assert draw_without_replacement([0.6, 0.72, 0.9], probabilities) == [2, 0, 1]
    assert draw_without_replacement([0.6, 0.71], probabilities) == [2, 1]
    assert draw_without_replacement([0.6, 0.71], np.array([0.0, 1.0])) == [1]  # nothing else is left
    # four equal tokens sum to 1/4, 1/2, 3/4 and 1 exactly; ten times 0.1, summed, does not exceed 1 - 2 ** -53
    four, ten = (record(("model",), [torch.zeros(1, count)], 0)[0] for count in (4, 10))
    assert [token_at(draw, four) for draw in (0.0, 0.25, 0.5, 0.75)] == [0, 1, 2, 3]
    assert float(np.cumsum(np.full(10, 0.1))[-1]) == 1 - 2**-53
    assert token_at(1 - 2**-53, ten) == 9


def test_draws_are_the_seeds_alone() -> None:
    """The same draws under any settings, one per step; a continued text goes on where its first part stopped."""
    model = random_model(30, seed=1)

    def drawn(settings: DecodingSettings, already: int = 0) -> list[float | None]:
        return [step.hypotheses[0].choice.draw for step in decode(model, settings, make_request(draws_used=already))]

    plain = drawn(DecodingSettings(seed=7, max_new_tokens=10))
    assert plain == drawn(DecodingSettings(seed=7, max_new_tokens=10, temperature=0.3, top_k=1))
    assert plain != drawn(DecodingSettings(seed=8, max_new_tokens=10))
    assert plain[4:] == drawn(DecodingSettings(seed=7, max_new_tokens=6), already=4)
    stream = UniformStream(7)
    assert plain == [stream.next() for _ in range(10)]
    assert all(draw is not None and 0 <= draw < 1 for draw in plain)


# --- greedy and the loop ---------------------------------------------------------------------------------------------


def test_greedy_takes_the_most_probable_token_ties_by_id() -> None:
    model = table_model({(0,): {2: 0.5, 1: 0.5}, (0, 1): {3: 0.9, 1: 0.1}}, vocabulary=4)
    steps = decode(model, DecodingSettings(strategy="greedy", max_new_tokens=2))
    assert best(steps).tokens == (1, 3)
    choice = steps[0].hypotheses[0].choice
    assert (choice.stages, choice.draw, choice.rank) == (("model",), None, 1)
    assert choice.probability == pytest.approx(0.5, abs=1e-6) and choice.entropy == pytest.approx(1.0, abs=1e-6)


def test_a_text_stops_at_an_end_token_at_its_limit_and_where_the_context_ends_and_begins_within_it() -> None:
    model = TinyModel(lambda text: [0.0, 1.0, 2.0 if len(text) == 4 else 0.0], context_length=10)
    greedy = DecodingSettings(strategy="greedy", max_new_tokens=3)
    steps = decode(model, greedy)
    assert (best(steps).tokens, steps[-1].finish_reason) == ((1, 1, 1), "length")
    longer = DecodingSettings(strategy="greedy", max_new_tokens=100)
    steps = decode(model, longer, make_request(end_tokens=[2], context_length=10))
    assert (best(steps).tokens, steps[-1].finish_reason) == ((1, 1, 1, 2), "stop")
    steps = decode(model, longer)
    assert len(best(steps).tokens) == 10  # 9 beside the prompt's one, and one that is not read
    assert steps[-1].finish_reason == "length"
    assert all(not step.finished and not step.hypotheses[0].finished for step in steps[:-1])
    with pytest.raises(AttendError, match="The prompt has 11 tokens, but the model reads at most 10: shorten it"):
        make_request(prompt=range(11), context_length=10)
    with pytest.raises(AttendError, match="The prompt is empty"):
        make_request(prompt=())


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
@pytest.mark.usefixtures("counted_seeds")
def test_unusable_logits_end_in_a_clear_error(bad: float) -> None:
    row = [bad] * 5 if bad == -math.inf else [0.0, bad, 1.0, 0.0, 0.0]

    def logits_of(text: Text) -> list[float]:
        return row if len(text) == 2 else [0.0] * 5

    model = TinyModel(logits_of, hidden_of=lambda text: [1.0, float(len(text))], layers_of=[logits_of] * 5)
    request = make_request(vocabulary_size=5, layer_count=4)
    for strategy in STRATEGIES:
        chosen = DecodingSettings.from_dict({"strategy": strategy, "top_p": 0.9, "top_k": 3})
        for steps in (
            generate(model, request.prompt, chosen.strategy_for(request)),
            generate_batch(model, [request.prompt], [chosen.strategy_for(request)]),
        ):
            with pytest.raises(AttendError, match="no usable probabilities for token 2"):
                list(steps)


def test_a_token_costs_one_pass_of_one_row_and_closing_stops_the_work() -> None:
    model = random_model(10, seed=1)
    decode(model, DecodingSettings(seed=1, max_new_tokens=20))
    assert (model.passes, model.rows_fed) == (20, 20)
    model.passes = 0
    request = make_request()
    steps = generate(model, request.prompt, DecodingSettings(seed=1).strategy_for(request))
    next(steps)
    assert model.passes == 1
    assert not torch.is_inference_mode_enabled() and torch.is_grad_enabled()  # the consumer's world is untouched
    steps.close()  # pyright: ignore[reportAttributeAccessIssue]
    assert next(steps, None) is None
    assert model.passes == 1


def test_log_probability_is_the_models_own_and_score_that_of_the_choice() -> None:
    model = random_model(40, seed=3)
    result = best(decode(model, DecodingSettings(seed=3, max_new_tokens=6, temperature=0.5, top_k=4)))
    logits = model.logits((0,), result.tokens).double()
    chosen = torch.tensor(result.tokens)[:, None]
    assert result.log_probability == pytest.approx(float(logits.log_softmax(-1).gather(1, chosen).sum()), abs=1e-9)
    cold = (logits / 0.5).masked_fill(logits < logits.topk(4).values[:, -1:], -math.inf)
    assert result.score == pytest.approx(float(cold.log_softmax(-1).gather(1, chosen).sum()), abs=1e-5)


@pytest.mark.parametrize("several", [{}, {"num_return_sequences": 4}, {"strategy": "beam", "num_beams": 3}], ids=str)
def test_attention_is_that_of_the_pass_before_the_token_in_the_row_that_it_continues(several: dict[str, Any]) -> None:
    model, settings = random_model(10, seed=1), DecodingSettings.from_dict({"seed": 1, "max_new_tokens": 6, **several})
    for number, step in enumerate(decode(model, settings, make_request(end_tokens=[2], attention=True))):
        for hypothesis in step.hypotheses:
            attention = hypothesis.choice.attention
            assert attention is not None and attention.dtype == torch.float16
            read = torch.tensor((0, *hypothesis.tokens[:-1]), dtype=torch.float32) + 1  # what TinyModel looks at
            assert attention.shape == (1, 1, len(read)) and len(read) <= number + 1
            assert attention[0, 0].float() == pytest.approx((read / read.sum()).numpy(), abs=1e-3)
    assert all(step.hypotheses[0].choice.attention is None for step in decode(model, settings))


def test_padding_on_the_left_never_reaches_a_step() -> None:
    weights = torch.tensor([0.0, 0.0, 0.5, 0.5]).expand(2, 3, 1, 1, 4)  # (rows, layers, heads, queries, keys)
    forward = Forward(torch.zeros(2, 5), TinyCache(((0, 0), (0, 0))), Attention(weights))
    attention = newest_attention(forward, 1, 2)
    assert attention is not None
    assert attention.shape == (3, 1, 2) and torch.equal(attention, torch.full((3, 1, 2), 0.5, dtype=torch.float16))
    assert attention.untyped_storage().nbytes() == 3 * 2 * 2  # float16: the pass itself is not kept alive
