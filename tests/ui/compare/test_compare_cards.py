"""Comparing: cards of settings run as one batch, and how cards are made."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import replace

import pytest

from decoding.call import DecodeCall
from decoding.request import RequestOptions
from decoding.settings import PRESETS, DecodingSettings
from model.errors import AttendError
from model.inspection.intervention import Intervention
from model.loaded import LoadedModel
from tests.helpers.waiting import steps_of
from ui.compare import running as compare
from ui.compare.results import metrics
from ui.compare.running import message_prompt, prepare, run_cards, sweep, text_prompt, with_seeds
from ui.inspector.inspector_value import inspector_value
from ui.runs.answer_text import AnswerText
from ui.runs.comparison import Comparison, Prompt
from ui.runs.generation import RunProgress
from ui.runs.models import Models
from ui.runs.run_values import answer_tokens
from ui.runs.versions.conversation import Turn

SEEDED = DecodingSettings(seed=7, max_new_tokens=12)


def ran(models: Models, comparison: Comparison, *, attention: bool = True) -> list[RunProgress]:
    return list(run_cards(comparison, models, stop=threading.Event(), attention=attention, per_second=1000.0))


def compared(
    models: Models, settings: Sequence[DecodingSettings], *, text: str = "The quick", common_draws: bool = True
) -> Comparison:
    loaded = models.get(models.default)
    comparison = prepare(loaded, text_prompt(loaded, text), settings, common_draws=common_draws)
    ran(models, comparison)
    return comparison


# --- running ---------------------------------------------------------------------------------------------------------


def test_every_card_writes_what_it_writes_alone(models: Models, tiny: LoadedModel) -> None:
    settings = [
        DecodingSettings(strategy="greedy", max_new_tokens=10),
        replace(SEEDED, temperature=1.5),
        replace(SEEDED, top_k=5),
        DecodingSettings(strategy="beam", num_beams=3, max_new_tokens=8),
    ]
    comparison = compared(models, settings)
    assert comparison.ending == "finished"
    for card in comparison.cards:
        alone = steps_of(models.decode(DecodeCall(tiny.name, comparison.prompt.ids, (card.settings,))))[-1].best
        assert alone is not None and card.ids == alone.tokens
        assert card.trace.finish_reason in ("stop", "length") and card.trace.settings == card.settings
        assert card.live is not None and card.live.seconds > 0


def test_cards_that_need_too_many_rows_together_take_turns(
    models: Models, tiny: LoadedModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Cards need 64, 1, 8, 4 and 64 rows: 64 + 1 do not fit together, 1 + 8 + 4 do."""
    wide = DecodingSettings(strategy="contrastive", top_k=64, max_new_tokens=4)
    settings = [
        wide,
        SEEDED,
        DecodingSettings(strategy="beam", num_beams=8, max_new_tokens=4),
        replace(SEEDED, num_return_sequences=4),
        wide,
    ]
    assert [each.rows for each in settings] == [64, 1, 8, 4, 64]
    assert compare.turns_of(settings, 64) == [[0], [1, 2, 3], [4]]
    fed, step = [], tiny.model.step
    monkeypatch.setattr(
        tiny.model, "step", lambda tokens, *rest, **want: fed.append(len(tokens)) or step(tokens, *rest, **want)
    )
    comparison = prepare(tiny, text_prompt(tiny, "The quick"), settings)
    for update in run_cards(comparison, models, stop=threading.Event(), attention=True, per_second=1000.0):
        if comparison.cards[1].ids:
            assert comparison.cards[0].finish_reason != "cancelled"  # the first has had its turn
        assert len(update.since) == len(settings)
    assert max(fed) == models.limits.rows == 64
    for card in comparison.cards:
        alone = steps_of(models.decode(DecodeCall(tiny.name, comparison.prompt.ids, (card.settings,))))[-1].best
        assert alone is not None and card.ids == alone.tokens
        assert card.live is not None and card.live.seconds > 0


def test_cards_that_switch_off_parts_run_beside_the_others_from_the_same_draws(
    models: Models, tiny: LoadedModel
) -> None:
    loud = Intervention(0, "feed_forward", action="scale", factor=40.0)
    without = [(), (loud,), (), (loud,), (Intervention(1, "head", 2),)]
    settings = [replace(SEEDED, temperature=1.5)] * 3 + [SEEDED] * 2
    comparison = prepare(tiny, text_prompt(tiny, "The quick"), settings, without=without)
    ran(models, comparison)
    for card, off in zip(comparison.cards, without, strict=True):
        call = DecodeCall(tiny.name, comparison.prompt.ids, (card.settings,), RequestOptions(interventions=off))
        alone = steps_of(models.decode(call))[-1].best
        assert alone is not None and card.ids == alone.tokens and card.run.interventions == off
    first, second, third = ([choice.draw for choice in card.trace.choices()] for card in comparison.cards[:3])
    assert comparison.cards[0].ids != comparison.cards[1].ids and first[:8] == second[:8] and first == third


def test_a_card_is_a_run_that_the_inspector_can_show(models: Models, tiny: LoadedModel) -> None:
    comparison = compared(models, [SEEDED, replace(SEEDED, temperature=0.5)])
    prompt = len(comparison.prompt.ids)
    assert len({card.run.id for card in comparison.cards}) == 2
    for card in comparison.cards:
        assert card.run.ids == (*comparison.prompt.ids, *card.ids)
        assert card.run.first == prompt and card.run.shape == (2, 4)
        assert len(inspector_value(card.run, tiny.tokenizer, busy=False)["steps"]) == len(card.ids)
        tokens = answer_tokens(card.run.tokens[prompt:], AnswerText(tiny.tokenizer), finished=True)
        assert "".join(each["text"] for each in tokens) == card.trace.text
        assert all(token.row for token in card.run.tokens[prompt:])
        kept = [hypothesis.choice.attention for step in card.trace.steps for hypothesis in step.hypotheses]
        assert kept == [None] * len(kept)  # a trace is kept for its numbers; attention is in the run


def test_without_attention_no_row_is_kept(models: Models, tiny: LoadedModel) -> None:
    comparison = prepare(tiny, text_prompt(tiny, "The quick"), [SEEDED, SEEDED])
    ran(models, comparison, attention=False)
    assert all(token.row is None for card in comparison.cards for token in card.run.tokens)


def test_updates_say_what_is_new_of_each_card(models: Models, tiny: LoadedModel) -> None:
    settings = [replace(SEEDED, max_new_tokens=3), DecodingSettings(strategy="beam", num_beams=3, max_new_tokens=9)]
    comparison = prepare(tiny, text_prompt(tiny, "The quick"), settings)
    card_ids: list[list[int]] = [list(comparison.prompt.ids) for _ in settings]
    for update in run_cards(comparison, models, stop=threading.Event(), attention=True, per_second=1000.0):
        for card, since, ids in zip(comparison.cards, update.since, card_ids, strict=True):
            ids[since:] = card.run.ids[since:]
            assert tuple(ids) == card.run.ids
    assert len(comparison.cards[0].ids) <= 3


def test_stop_ends_all_cards_and_keeps_what_they_have(models: Models, tiny: LoadedModel) -> None:
    comparison = prepare(
        tiny, text_prompt(tiny, "The"), [replace(SEEDED, max_new_tokens=100), replace(SEEDED, top_p=0.9)]
    )
    stop = threading.Event()
    for _ in run_cards(comparison, models, stop=stop, attention=True, per_second=1000.0):
        if comparison.cards[0].ids:
            stop.set()
    assert comparison.ending == "stopped"
    assert 0 < len(comparison.cards[0].ids) < 100
    assert comparison.cards[0].trace.finish_reason == "cancelled"
    assert metrics.document(comparison)["cards"][0]["finish_reason"] == "cancelled"


def test_a_message_is_answered_under_all_cards(models: Models, tiny: LoadedModel) -> None:
    turns = [Turn("user", "Hi"), Turn("assistant", "Hello"), Turn("user", "How are you?")]
    settings = [replace(SEEDED, max_new_tokens=2), replace(SEEDED, max_new_tokens=20)]
    common_prompt = message_prompt(tiny, turns, settings)
    assert tiny.chat is not None
    assert common_prompt.text == "How are you?" and [message["content"] for message in common_prompt.messages][:2] == [
        "Hi",
        "Hello",
    ]
    assert common_prompt.ids[-1] == tiny.tokenizer.special_token_id("<assistant>")
    comparison = prepare(tiny, common_prompt, settings)
    ran(models, comparison)
    assert comparison.cards[0].trace.document()["prompt"].get("messages", [])[0] == {"role": "user", "content": "Hi"}


def test_a_long_conversation_leaves_room_for_the_longest_card(tiny: LoadedModel) -> None:
    turns = [Turn("user" if index % 2 == 0 else "assistant", "Hi! How are you today?") for index in range(21)]
    short, long = (replace(SEEDED, max_new_tokens=length) for length in (1, 60))
    assert len(message_prompt(tiny, turns, [short, short]).ids) > len(message_prompt(tiny, turns, [short, long]).ids)
    common_prompt = message_prompt(tiny, turns, [long, short])
    assert len(common_prompt.ids) + 60 <= tiny.model.context_length and common_prompt.dropped > 0


# --- settings of the cards -------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("counted_seeds")
def test_seeds() -> None:
    none, seven = DecodingSettings(), DecodingSettings(seed=7)
    assert [each.seed for each in with_seeds([none, seven, none], common_draws=True)] == [7, 7, 7]
    assert [each.seed for each in with_seeds([none, seven, none], common_draws=False)] == [7, 8, 9]
    (first, second) = with_seeds([none, none], common_draws=True)
    assert first.seed == second.seed >= 0
    last = DecodingSettings(seed=2**32 - 1)  # the greatest there is
    assert [each.seed for each in with_seeds([last, last], common_draws=False)] == [2**32 - 1, 0]
    with pytest.raises(AttendError, match="the seeds 7 and 9"):
        with_seeds([seven, DecodingSettings(seed=9)], common_draws=False)


@pytest.mark.parametrize(("count", "way_out"), [(0, "add some"), (1, "add some"), (7, "remove some")])
def test_too_few_and_too_many_cards_are_refused(tiny: LoadedModel, count: int, way_out: str) -> None:
    with pytest.raises(AttendError, match=rf"a comparison needs 2 to 6: {way_out}"):
        prepare(tiny, text_prompt(tiny, "The"), [SEEDED] * count)


def test_a_prompt_without_room_is_refused_before_anything_runs(tiny: LoadedModel) -> None:
    with pytest.raises(AttendError, match="but the model reads at most 128: shorten it"):
        prepare(tiny, Prompt("x", (1,) * 129), [SEEDED] * 2)


def test_a_sweep_varies_one_setting() -> None:
    base = replace(PRESETS["Balanced"], seed=3)
    cards = sweep(base, "temperature", compare.SWEEPS["temperature"])
    assert [card.temperature for card in cards] == [0, 0.5, 1, 1.5]
    assert all(replace(card, temperature=base.temperature) == base for card in cards)
    assert [card.strategy for card in sweep(base, "strategy", ["greedy", "beam"])] == ["greedy", "beam"]


def test_every_offered_sweep_can_be_run() -> None:
    for name, values in compare.SWEEPS.items():
        strategy = "beam" if name == "num_beams" else "sample"
        cards = sweep(DecodingSettings(strategy=strategy), name, values)
        compare.check_count(len(cards))


def test_a_card_says_where_the_other_texts_of_its_run_are(models: Models) -> None:
    comparison = compared(models, [SEEDED, replace(SEEDED, num_return_sequences=3)])
    one, other = (card.note or "" for card in comparison.cards)
    assert "more" not in one and other.endswith("2 more texts: press Save run to see them")
