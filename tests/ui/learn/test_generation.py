"""The chapter on generation: its results for the page, with a model and without, and the requests that it refuses."""

from __future__ import annotations

import math
from functools import partial
from typing import Any

import pytest

from decoding.settings import DecodingSettings
from lesson.generation.recorded import repeated
from lesson.generation.tree import WEIGHTS, WORDS
from model.loaded import LoadedModel
from model.text.conversation import Message
from tests.ui.learn.asking import ask as course_asked
from tests.ui.learn.asking import refusal as course_refusal
from ui.compare.running import checked_cards
from ui.learn.chapters.generation import LOGITS
from ui.learn.chapters.views.filters import VOCABULARY
from ui.learn.chapters.views.loop import MAX_TOKENS
from ui.runs.models import Models


@pytest.fixture(scope="module")
def models(tiny: LoadedModel) -> Models:
    return Models(("tiny",), lambda *_: tiny)


ask, refusal = partial(course_asked, about="generation"), partial(course_refusal, about="generation")


def test_an_answer_is_a_valid_question(models: Models) -> None:
    first = ask(models)
    assert ask(models, **first["inputs"]) == first
    changed = ask(models, **{**first["inputs"], "sample": True, "top_k": 2, "beams": 3, "to_end": True, "mode": "text"})
    assert ask(models, **changed["inputs"]) == changed
    assert changed["loop"]["ended"] and changed["loop"]["next"] is None


def test_the_loop_shows_the_end_token_and_all_of_the_probability(models: Models, tiny: LoadedModel) -> None:
    loop = ask(models, prompt="Once upon a time", tokens=[5, 6])["loop"]
    assert loop["chats"] == (tiny.chat is not None)
    assert (len(loop["read"]), len(loop["written"])) == (len(_prompt(tiny, loop)), 2)
    assert loop["ends"] == [tiny.tokenizer.label(token) for token in tiny.end_tokens]
    candidates = loop["next"]["candidates"]
    assert [candidate["is_end"] for candidate in candidates].count(True) == 1
    assert sum(one["probability"] for one in candidates) + loop["next"]["rest"] == pytest.approx(1, abs=1e-4)
    assert loop["next"]["token"] == candidates[0]["id"]
    drawn = ask(models, sample=True, seed=3)["loop"]["next"]
    low, high = drawn["share"] or (0, 1)
    assert low <= drawn["draw"] <= high


def _prompt(tiny: LoadedModel, loop: dict[str, Any]) -> tuple[int, ...]:
    if loop["mode"] == "text":
        return tiny.prompt(loop["prompt"])
    return tiny.chat_prompt([Message("user", loop["prompt"])], reserve=MAX_TOKENS).ids


def test_without_a_model_that_continues_texts_the_loop_runs_on_the_tree(tiny_translator: LoadedModel) -> None:
    result = ask(Models(("translator",), lambda *_: tiny_translator), to_end=True)
    assert (result["loop"]["model"], result["loop"]["read"]) == ("", ["The"])
    written = [(one["label"], one["probability"]) for one in result["loop"]["written"]]
    assert written == [(" nice", 0.5), (" woman", 0.4), ("<end>", 1)]


def test_the_bars_name_the_filter_that_removed_a_word(models: Models) -> None:
    filters = ask(models, top_k=3, top_p=0.9)["filters"]
    bars = {bar["word"]: bar for bar in filters["bars"]}
    assert (bars["forward"]["before"], bars["forward"]["cut"]) == (0.57212, "")
    assert (bars["closer"]["after"], bars["closer"]["cut"], bars["pizza"]["cut"]) == (0, "Top-p", "Top-k")
    assert [(name, kept) for name, kept, _ in filters["stages"]] == [("Top-k", 3), ("Top-p", 2)]
    assert [bar["cut"] for bar in ask(models, logits=[[20, -20] * 4 + [0]], temperature=0.1)["filters"]["bars"]] == [
        ""
    ] * 9


@pytest.mark.parametrize(
    ("weights", "inputs", "kept"),
    [
        ([30, 15, 5, 1], {"top_k": 3}, [0.6, 0.3, 0.1, 0]),
        ([0.3, 0.1, 0.1, 0.5], {"top_p": 0.8}, [0.375, 0, 0, 0.625]),  # .3 and .5, divided by .8
        ([0.15, 0.3, 0.3, 0.25], {"top_p": 0.8}, [0, 0.352941, 0.352941, 0.294118]),  # .3, .3 and .25, by .85
    ],
)
def test_other_published_numbers_can_be_typed(
    models: Models, weights: list[float], inputs: dict[str, Any], kept: list[float]
) -> None:
    """../shared/REFERENCE.md, "Sampling, by hand": four words, and five that have next to nothing, e^-20."""
    logits = [*(math.log(weight) for weight in weights), *[-20] * 5]
    bars = {bar["word"]: bar["after"] for bar in ask(models, logits=[logits], **inputs)["filters"]["bars"]}
    assert [bars[word] for word in VOCABULARY[:4]] == pytest.approx(kept, abs=1e-6)


def test_four_weights_by_hand_are_those_of_the_lecture(models: Models) -> None:
    """../shared/REFERENCE.md: top-k 3 of 30, 15, 5, 1 is 60 %, 30 %, 10 %; at T = 0.5 shares are squared."""
    first = ask(models)["by_hand"]
    assert first["rowNames"] == ["share of all", "Top-k 3"] and first["rows"][1] == [0.6, 0.3, 0.1, 0]
    squared = ask(models, hand_temperature=0.5, hand_top_k=0)["by_hand"]["rows"][1]
    assert squared == pytest.approx([weight**2 / (900 + 225 + 25 + 1) for weight in (30, 15, 5, 1)], abs=1e-5)
    assert refusal(models, weights=[[1, 2, 3, 0]]) == "A weight is 0, but must be above 0 and at most 1,000."


def test_the_text_so_far_has_the_product_of_its_tokens(models: Models) -> None:
    written = ask(models, mode="text", to_end=True)
    factors = [one["probability"] for one in written["loop"]["written"]]
    assert written["text_measure"] == "written"
    assert float(written["text_log"].replace("−", "-")) == pytest.approx(sum(map(math.log, factors)), abs=0.01)
    assert ask(models)["text_measure"] == "nothing"


def test_a_setting_has_the_model_write_no_text_anew(
    models: Models, tiny: LoadedModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The greedy texts have fixed prompts, and the loop needs only the pass over its prompt."""
    first = ask(models)
    monkeypatch.setattr(type(tiny.model), "step", lambda *_, **__: pytest.fail("a text was written again"))
    assert {name: ask(models, temperature=2, beams=3)[name] for name in ("own_table", "own_loop")} == {
        name: first[name] for name in ("own_table", "own_loop")
    }


def test_repetitions_are_counted_in_the_text_that_is_quoted(models: Models) -> None:
    """Of the recorded text's 24 words, 21 stretches of four, of which the loop's period of 7 and its prompt are new."""
    result = ask(models)
    assert len(result["recorded_loop"].split()) == 24
    assert result["recorded_repeats"] == "9 of its 21 stretches of four words"
    assert result["own_repeats"].startswith("{} of its {} ".format(*repeated(result["own_loop"].strip("“”"))))


def test_a_recording_gives_way_to_its_checkpoint(models: Models, tiny: LoadedModel) -> None:
    recorded = ask(models)
    assert recorded["recording_state"] == "recorded" and recorded["recorded_table"][0][1] == "to 15.13\xa0%"
    assert recorded["recorded_table"][9][1:] == ["in 1.12\xa0%", "", "", "", ""]
    dream = ask(models, recorded="I have a dream")
    assert dream["recorded_table"] == [
        ["1st", "of 17.00\xa0%", "being 9.68\xa0%", "a (not recorded)", "doctor 2.86\xa0%", ". (not recorded)"]
    ]
    live = ask(Models(("distilgpt2",), lambda *_: tiny))
    assert live["recording_state"] == "live" and live["recorded_table"] == recorded["own_table"]


def test_the_search_arrives_in_numbers_that_can_be_read(models: Models) -> None:
    search = ask(models)["search"]
    assert (search["greedy"]["factors"], search["greedy"]["p"]) == ([0.5, 0.4], 0.2)
    assert (search["found"]["factors"], search["found"]["p"]) == ([0.4, 0.9], 0.36)
    assert search["best"] == search["found"]
    assert len(search["paths"]) == 12


def test_other_words_replace_them_in_the_search(models: Models, tiny_translator: LoadedModel) -> None:
    """Of exactly 20 characters, with a sign that only a joiner makes, of another script, markup, and the same twice."""
    own = ["Das", "a" * 20, "👩\u200d🚀", "<b>x</b>", *["New York"] * 2, "می\u200cروم", *WORDS[7:]]
    search = ask(models, words=[f" {word} " for word in own])["search"]
    assert search["words"] == own
    assert [search[name]["path"] for name in ("greedy", "found")] == [[1, 4], [2, 7]]
    result = ask(Models(("translator",), lambda *_: tiny_translator), words=own, to_end=True)
    assert result["loop"]["read"] == ["Das"]
    assert [one["label"] for one in result["loop"]["written"]] == [" " + "a" * 20, " New York", "<end>"]
    changed = [[1, 1, 7], *WEIGHTS[1:]]
    assert refusal(models, words=own, tree=changed) == "A number after “Das” is 7, but must be from 0 to 1."


def words(changed: str) -> list[str]:
    """The tree's, with one of them changed."""
    return [*WORDS[:2], changed, *WORDS[3:]]


def test_the_cards_are_ones_that_compare_takes(models: Models) -> None:
    cards = ask(models, temperature=5, top_p=0.9, frequency_penalty=-0.5, beams=3)["cards"]
    assert cards[-1] == {"temperature": 2, "top_p": 0.9, "frequency_penalty": -0.5}  # 2 is the highest in Compare
    read = checked_cards(cards)
    assert [card.strategy for card in read] == ["greedy", "beam", "sample", "sample"]
    assert (read[1].num_beams, read[2]) == (3, DecodingSettings())
    assert ask(models, beams=1)["cards"] == [{"strategy": "greedy"}, {}]


@pytest.mark.parametrize(
    ("inputs", "message"),
    [
        ({"tokens": "12"}, "The tokens are '12', but must be a list of the model's ids"),
        ({"tokens": [True]}, "The tokens are [True], but"),
        ({"tokens": [-1]}, "The tokens are [-1], but"),
        ({"tokens": [10**30]}, "The tokens are [1"),
        ({"tokens": [5] * (MAX_TOKENS + 1)}, "The text has 49 tokens, but this loop stops at 48"),
        ({"prompt": " "}, "Prompt is empty"),
        ({"prompt": "a" * 301}, "Prompt has 301 characters, but the limit is 300"),
        ({"prompt": "half \ud83d"}, "The text contains half a character"),
        ({"mode": ["text"]}, "Mode is ['text'], but must be one of message, text."),
        ({"sample": 1}, "Random draws is 1, but must be true or false."),
        ({"seed": -1}, "Seed is -1, but must be a whole number from 0 to"),
        ({"temperature": 5.1}, "Temperature is 5.1, but must be a number from 0.1 to 5."),
        ({"top_p": math.nan}, "Top p is nan, but must be a number from 0 to 1."),
        ({"temperature": 0}, "Temperature is 0, but must be a number from 0.1 to 5."),
        ({"top_k": 2.5}, "Top k is 2.5, but must be a whole number from 0 to 9."),
        ({"top_p": "0.9"}, "Top p is '0.9', but must be a number from 0 to 1."),
        ({"presence_penalty": 3}, "Presence penalty is 3, but must be a number from -2 to 2."),
        ({"logits": [[30, *LOGITS[1:]]]}, "A logit is 30, but must be from −20 to 20."),
        ({"logits": [[1, 2]]}, "Logits must have 1 row of 9 numbers"),
        ({"used": [[1.5] + [0] * 8]}, "A word is used 1.5 times, but"),
        ({"used": [[-1] + [0] * 8]}, "A word is used -1 times, but"),
        ({"tree": [[1, 1, 1]]}, "Tree must have 4 rows of 3 numbers"),
        ({"tree": [[1, 1, 7], *WEIGHTS[1:]]}, "A number after “The” is 7, but must be from 0 to 1."),
        ({"tree": [[0, 0, 0], *WEIGHTS[1:]]}, "All numbers after “The” are 0"),
        ({"words": "The nice dog"}, "The tree's words are 'The nice dog', but must be 13 texts: reload the page"),
        ({"words": [*WORDS[:12], 5]}, "The tree's words are ['The', "),
        ({"words": WORDS[:12]}, "The tree's words are ('The', "),
        ({"words": words("")}, "A word of the tree is empty, but must have 1 to 20 characters: type something."),
        ({"words": words(" \n ")}, "A word of the tree is empty, but must have 1 to 20 characters: type something."),
        (
            {"words": words("a" * 21)},
            "“aaaaaaaaaaaaaaaaaaaa…” has 21 characters, but a word of the tree may have at most 20: shorten it.",
        ),
        ({"words": words("a" * 10**6)}, "“aaaaaaaaaaaaaaaaaaaa…” has 1,000,000 characters, but"),
        (
            {"words": words("do\x07g")},
            "A word of the tree contains U+0007, a control character, but may have none: delete it.",
        ),
        ({"words": words("do\ng")}, "A word of the tree contains U+000A, a control character"),
        ({"words": words("do\u2028g")}, "A word of the tree contains U+2028, a control character"),
        ({"words": words("\u202egod")}, "A word of the tree contains U+202E, a control character"),
        ({"words": words("\ud83d")}, "The text contains half a character (code D83D)"),
        ({"beams": 4}, "Beams is 4, but must be a whole number from 1 to 3."),
    ],
)
def test_what_no_page_of_ours_sends_is_refused(models: Models, inputs: dict[str, Any], message: str) -> None:
    assert refusal(models, **inputs).startswith(message)
