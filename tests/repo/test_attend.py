"""The public Python API: the same runs as the terminal, attention and scores as the model gives them, and streams."""

from __future__ import annotations

import json
import math
import subprocess
import sys
from dataclasses import replace
from itertools import islice
from typing import Any

import pytest
import torch

import attend
import generate
from decoding.settings import DecodingSettings
from model.loaded import LoadedModel
from tests.helpers.paths import ROOT

SETTINGS = {"temperature": 0.8, "top_p": 0.95, "seed": 7, "max_new_tokens": 12}
FLAGS = ("--temperature", "0.8", "--top-p", "0.95", "--seed", "7", "--max-new-tokens", "12")


@pytest.fixture
def model(tiny: LoadedModel) -> attend.Model:
    return attend.Model(tiny)


def by_command(*arguments: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """The document of `generate.py`."""
    monkeypatch.setattr("model.threads.fastest_threads", lambda model: 1)
    capsys.readouterr()
    assert generate.main([*arguments, "--json", "-"]) == 0
    return json.loads(capsys.readouterr().out)


def test_importing_it_imports_nothing_slow() -> None:
    slow = "import attend, sys; print({'torch', 'numpy', 'transformers', 'gradio'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", slow], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout == "set()\n"


def test_a_continuation_an_answer_and_a_translation_are_those_of_the_terminal(
    chat: attend.Model,
    translator: attend.Model,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    streams = {"capsys": capsys, "monkeypatch": monkeypatch}
    assert chat.generate("Once upon a time", **SETTINGS).document() == by_command("Once upon a time", *FLAGS, **streams)
    assert chat.chat("Hi!", **SETTINGS).document() == by_command("Hi!", "--chat", *FLAGS, **streams)
    translated = translator.generate("Le chat dort.")
    assert translated.document() == by_command("Le chat dort.", "--model", "attend-translate", **streams)
    assert (translated.text, translated.settings.strategy) == ("The cat is sleeping.", "beam")


@pytest.mark.parametrize(
    "settings",
    [
        {"seed": 1},
        {"seed": 1, "stop_texts": ("o", "ing")},
        {"strategy": "beam", "num_beams": 3},
        {"seed": 2, "num_return_sequences": 3},
    ],
    ids=str,
)
def test_a_stream_yields_the_tokens_of_the_run_and_their_texts_make_its_text(
    model: attend.Model, settings: dict[str, Any]
) -> None:
    stream = model.stream("The quick", max_new_tokens=30, **settings)
    tokens = tuple(stream)
    run = model.generate("The quick", max_new_tokens=30, **settings)
    assert tokens == stream.run.tokens == run.tokens
    assert "".join(token.text for token in tokens) == stream.run.text == run.text == run.texts[0]
    assert [token.id for token in tokens] == run.document()["ids"]
    assert len(run.texts) == settings.get("num_return_sequences", 1)


def test_closing_a_stream_stops_the_model(
    model: attend.Model, tiny: LoadedModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    step, fed = type(tiny.model).step, []

    def counted(self: Any, tokens: Any, *arguments: Any, **named: Any) -> Any:
        fed.append(tokens)
        return step(self, tokens, *arguments, **named)

    monkeypatch.setattr(type(tiny.model), "step", counted)
    stream = model.stream("The quick", seed=1, max_new_tokens=100)
    tokens = list(islice(stream, 3))
    assert len(fed) == 2  # the first token needs the prompt alone, and nothing runs ahead
    stream.close()
    assert list(stream) == [] and len(fed) == 2
    assert stream.run.finish_reason == "cancelled"
    assert [token.choice for token in stream.run.tokens] == [token.choice for token in tokens]


def test_attention_is_that_of_the_token_before_over_all_tokens_before(chat: attend.Model) -> None:
    run = chat.generate("Once upon a time", attention=True, **SETTINGS)
    ids = [*run.trace.request.prompt, *(token.id for token in run.tokens)]
    inspected = chat.loaded.model.inspect(ids[:-1]).attention.decoder[0]  # (layers, heads, T, T)
    for length, token in enumerate(run.tokens, start=len(run.context)):
        assert token.attention is not None
        torch.testing.assert_close(token.attention, inspected[:, :, length - 1, :length], atol=1e-3, rtol=0)
        torch.testing.assert_close(token.attention.sum(-1), torch.ones(6, 8), atol=2e-3, rtol=0)  # float16
    assert chat.generate("Once", seed=1, max_new_tokens=1).tokens[0].attention is None


def test_a_translator_attends_to_the_source_and_then_to_its_own_text(translator: attend.Model) -> None:
    run = translator.generate("Le chat dort.", attention=True)
    source = run.trace.request.source
    ids = [*run.trace.request.prompt, *(token.id for token in run.tokens)]
    inspected = translator.loaded.model.inspect(ids[:-1], source=source).attention
    assert inspected.cross is not None
    assert run.context == (" Le", " chat", " dort", ".", "<end>", "<pad>")
    for length, token in enumerate(run.tokens, start=1):
        assert token.attention is not None
        cross, self_attention = token.attention.split((len(source), length), dim=-1)
        torch.testing.assert_close(cross, inspected.cross[0, :, :, length - 1], atol=1e-3, rtol=0)
        torch.testing.assert_close(self_attention, inspected.decoder[0, :, :, length - 1, :length], atol=1e-3, rtol=0)
        for part in (cross, self_attention):
            torch.testing.assert_close(part.sum(-1), torch.ones(part.shape[:2]), atol=2e-3, rtol=0)


def test_candidates_have_their_probability_before_and_after_the_filters(model: attend.Model) -> None:
    run = model.generate("The quick", top_k=3, seed=1, max_new_tokens=5, top_candidates=6)
    for token in run.tokens:
        before = [candidate.probability for candidate in token.candidates]
        after = [candidate.final_probability for candidate in token.candidates]
        assert before == sorted(before, reverse=True) and len(before) == 6
        assert after[3:] == [0, 0, 0] and sum(after) == pytest.approx(1)
        chosen = next(candidate for candidate in token.candidates if candidate.id == token.id)
        assert (chosen.probability, chosen.final_probability) == (token.probability, token.final_probability)
        assert token.candidates[token.rank - 1] == chosen


@pytest.mark.parametrize("prompt", ["", "Once upon a time"])
def test_a_score_matches_the_model_step_by_step(chat: attend.Model, prompt: str) -> None:
    """The slow way: a pass for every token, and its logits through a softmax."""
    text = " there was a fox – 🦊"
    loaded, score = chat.loaded, chat.score(text, prompt=prompt)
    ids = [*loaded.prompt(prompt)] if prompt else [*loaded.prefix_tokens]
    expected = []
    for token in score.tokens:
        expected.append(loaded.model.prefill(ids).logits[0].double().log_softmax(-1)[token.id].item())
        ids.append(token.id)
    assert [token.log_probability for token in score.tokens] == pytest.approx(expected, abs=1e-4)
    assert score.log_probability == pytest.approx(sum(expected), abs=1e-3)
    assert score.perplexity == pytest.approx(math.exp(-sum(expected) / len(expected)), rel=1e-3)
    assert "".join(token.text for token in score.tokens) == text  # bytes of the fox included


def test_without_a_token_before_it_the_first_is_not_scored(tiny: LoadedModel) -> None:
    with_start, without = attend.Model(tiny), attend.Model(replace(tiny, prefix_tokens=()))
    assert len(without.score("The quick fox").tokens) == len(with_start.score("The quick fox").tokens) - 1
    for text in ("", "T"):
        with pytest.raises(attend.AttendError, match="nothing to score"):
            without.score(text)


def test_a_translation_is_scored_given_its_source(translator: attend.Model) -> None:
    right = translator.score("The cat is sleeping.", prompt="Le chat dort.")
    assert "".join(token.text for token in right.tokens) == "The cat is sleeping."
    assert right.perplexity < translator.score("The dog is barking.", prompt="Le chat dort.").perplexity
    with pytest.raises(attend.AttendError, match="give the source text as prompt"):
        translator.score("The cat is sleeping.")


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda m: m.generate("x", temprature=1), "There is no setting 'temprature': did you mean temperature?"),
        (lambda m: m.stream("x", temperature=9), "temperature is 9, but must be between 0 and 2"),
        (lambda m: m.stream(" \n"), "The prompt is empty"),
        (lambda m: m.chat([]), "The last message must be the user's"),
        (lambda m: m.chat([{"role": "root", "content": "Hi!"}]), "Message 1 must be"),
        (lambda m: m.chat({"role": "user"}), "The messages must be a list"),
        (
            lambda m: m.chat([{"role": "system", "content": "x"}, {"role": "user", "content": "y"}]),
            "tiny-chat doesn't support system prompts",
        ),
        (lambda m: m.chat("fox " * 500), "The message has "),
        (lambda m: attend.load("atend-chat"), "There is no model 'atend-chat': did you mean attend-chat?"),
    ],
)
@pytest.mark.usefixtures("counted_seeds")
def test_what_cannot_be_is_refused_in_one_sentence(model: attend.Model, call: Any, sentence: str) -> None:
    with pytest.raises(attend.AttendError) as refused:
        call(model)
    assert str(refused.value).startswith(sentence) and "\n" not in str(refused.value)


def test_a_model_that_cannot_chat_says_so_and_every_setting_is_a_keyword_that_reaches_the_run(
    tiny_writer: LoadedModel, tiny_translator: LoadedModel
) -> None:
    for loaded in (tiny_writer, tiny_translator):
        assert not attend.Model(loaded).can_chat
        with pytest.raises(attend.AttendError, match=f"{loaded.name} can't chat"):
            attend.Model(loaded).chat("Hi!", seed=1)
    settings = DecodingSettings(strategy="beam", num_beams=2, min_p=0.01, banned_words=("fox",), max_new_tokens=4)
    assert attend.Model(tiny_writer).generate("A fox", **settings.to_dict()).settings == settings
