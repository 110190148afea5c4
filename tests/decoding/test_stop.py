"""Stop texts: where a run ends, what it returns, and what is shown while it is generated."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from decoding.generate import generate
from decoding.request import Request
from decoding.run.trace import Trace
from decoding.settings import STRATEGIES, DecodingSettings
from decoding.stop import Stop, before_stop, certain
from tests.helpers.tiny import NumberedTokens, TinyModel, decode, make_request, random_model

# Pieces like a tokenizer's: letters, several at once, bytes that make a character together (é, 🙂), a control token.
PIECES = (b"a", b"b", b"ab", b"ba", b" ", b"aab", b"\xc3", b"\xa9", b"\xf0", b"\x9f", b"\x99", b"\x82", b"", b"\n")


def text_of(ids: Sequence[int]) -> str:
    return b"".join(PIECES[id] for id in ids).decode(errors="replace")


def request_for(prompt: Sequence[int] = (0,), end_tokens: Sequence[int] = (), **changes: object) -> Request:
    return replace(make_request(prompt, end_tokens), decode=text_of, **changes)


def stop_for(stop_texts: Sequence[str], text_of: Callable[[Sequence[int]], str] = text_of) -> Stop:
    return Stop(frozenset(), 10**6, text_of, tuple(stop_texts))


STOP_TEXTS = st.lists(st.text("ab é🙂\n", min_size=1, max_size=5), min_size=1, max_size=4)
IDS = st.lists(st.sampled_from(range(len(PIECES))), min_size=1, max_size=40)


@settings(max_examples=100, deadline=None)
@given(IDS, STOP_TEXTS)
def test_the_newest_tokens_are_enough_to_tell(ids: list[int], stop_texts: list[str]) -> None:
    """The slow twin reads the whole text at every token. Once a stop text is complete, no run goes on."""
    stop = stop_for(stop_texts)
    for count in range(1, len(ids) + 1):
        text = text_of(ids[:count])
        holds = any(stop_text in text for stop_text in stop_texts)
        assert (stop.reason(ids[:count]) == "stop_text") is holds
        if holds:
            break


@settings(max_examples=100, deadline=None)
@given(IDS, STOP_TEXTS)
def test_what_is_certain_stays_and_in_the_end_is_all(ids: list[int], stop_texts: list[str]) -> None:
    stop, written, count = stop_for(stop_texts), "", 0
    while count < len(ids):
        count += 1
        sure = certain(text_of(ids[:count]), stop_texts)
        assert sure.startswith(written)
        written = sure
        if stop.reason(ids[:count]) is not None:
            break
    returned = before_stop(text_of(ids[:count]), stop_texts)
    assert returned.startswith(written) and not any(text in returned for text in stop_texts)


def test_only_what_may_become_a_stop_text_is_held_back() -> None:
    assert certain("aa", ["ab"]) == "a"  # the second could become "ab"
    assert certain("aab", ["ab"]) == "a"  # and now it has
    assert certain("so User", ["User:", "er?"]) == "so "
    assert certain("so Use it", ["User:"]) == "so Use it"
    assert certain("aaa", ["aab"]) == "a"
    assert certain("no\ufffd", []) == "no"
    assert before_stop("one. two. three", ["three", "two", "?"]) == "one. "
    assert before_stop("one", []) == "one"


def test_long_texts_are_not_read_at_every_token() -> None:
    lengths: list[int] = []

    def watched(ids: Sequence[int]) -> str:
        lengths.append(len(ids))
        return text_of(ids)

    stop = stop_for(["abba"], watched)
    ids = [0] * 4000
    assert stop.reason(ids) is None
    assert lengths == [7, 8]  # four characters, three bytes of an unfinished one, and the newest
    lengths.clear()
    assert stop.reason([0, 1, *[12] * 100, 3]) == "stop_text"  # no text between its halves: then it looks further


def scripted(*ids: int) -> TinyModel:
    """A model that gives each of these tokens .9 in turn, then repeats the last."""

    def logits_of(text: Sequence[int]) -> list[float]:
        wanted = ids[min(len(text), len(ids)) - 1]
        return [math.log(0.9 if token == wanted else 0.1 / 13) for token in range(14)]

    return TinyModel(logits_of, hidden_of=lambda text: [1.0, float(len(text))], layers_of=[lambda text: [0.0] * 14])


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_every_strategy_ends_with_the_token_that_completes_it(strategy: str) -> None:
    """ab, the two bytes of é, aab: "éaa" begins with the second token and ends in the middle of the fourth."""
    model = scripted(2, 6, 7, 5, 0)
    chosen = DecodingSettings.from_dict(
        {
            "strategy": strategy,
            "stop_texts": ["éaa"],
            "max_new_tokens": 9,
            "temperature": 0 if DecodingSettings.from_dict({"strategy": strategy}).drawn else 1,
            "penalty_alpha": 0,
            "num_beams": 2,
        }
    )
    request = request_for(layer_count=1)
    trace = Trace("tiny", "a", request, chosen, NumberedTokens())
    texts = []
    for step in generate(model, request.prompt, chosen.strategy_for(request)):
        trace.add(step)
        texts.append(certain(request.decode(trace.ids), chosen.stop_texts))
    assert (trace.ids, trace.finish_reason) == ((2, 6, 7, 5), "stop_text")
    assert trace.text == trace.document()["text"] == "ab"
    if not chosen.beams:
        assert texts == ["ab"] * 4  # neither half of é nor é itself, since it may begin the stop text


def test_an_end_token_and_the_length_end_as_before_and_a_stop_text_of_the_prompt_ends_nothing() -> None:
    chosen = DecodingSettings.from_dict({"strategy": "greedy", "stop_texts": ["x", "abab"], "max_new_tokens": 3})
    steps = decode(scripted(2, 1, 1), chosen, request_for())
    assert (steps[-1].finish_reason, len(steps)) == ("length", 3)
    assert decode(scripted(2), chosen, request_for(end_tokens=(2,)))[-1].finish_reason == "stop"
    of_prompt = DecodingSettings.from_dict({"strategy": "greedy", "stop_texts": ["aa"], "max_new_tokens": 4})
    steps = decode(scripted(1, 1, 0, 0), of_prompt, request_for((0, 0)))
    assert (steps[-1].finish_reason, len(steps)) == ("stop_text", 3)  # b, a, a


def test_beams_that_hold_one_are_finished_and_the_others_live_on() -> None:
    """Stop texts may end most continuations, yet `num_beams` of them live on as long as there are others."""
    model = random_model(14, seed=4)
    chosen = DecodingSettings.from_dict(
        {"strategy": "beam", "num_beams": 3, "stop_texts": ["a", "é"], "max_new_tokens": 6, "length_penalty": 2}
    )
    for step in decode(model, chosen, request_for()):
        for one in step.hypotheses:
            holds = any(stop in text_of(one.tokens) for stop in chosen.stop_texts)
            assert one.finished is (holds or len(one.tokens) == 6)
        assert step.finished or sum(not one.finished for one in step.hypotheses) == 3
