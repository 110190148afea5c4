"""/v1/completions through the openai package: continued and scored texts, held equal to the model's own numbers."""

from __future__ import annotations

from typing import Any

import openai
import pytest

import attend
from decoding.run import scoring
from model.loaded import LoadedModel
from training.blimp import log_probability
from ui.limits import Limits
from ui.runs.models import Models
from ui.server.openai.body import CompletionBody, checked
from ui.server.openai.completions import Completion
from ui.server.openai.errors import RequestError

TEXT = "Once upon a time there was a fox 🦊."


def by_hand(loaded: LoadedModel, ids: list[int]) -> list[float]:
    """The slow twin: one pass over the text, and PyTorch's log-softmax."""
    logits = loaded.model.logits(ids[:1], ids[1:]).log_softmax(dim=-1)  # (T - 1, V)
    return logits[range(len(ids) - 1), ids[1:]].tolist()


@pytest.mark.parametrize("as_ids", [False, True])
def test_an_echoed_prompt_has_exact_log_probabilities(client: openai.OpenAI, chat: LoadedModel, as_ids: bool) -> None:
    ids = list(chat.prompt(TEXT))
    answer = client.completions.create(
        model=chat.name, prompt=ids if as_ids else TEXT, max_tokens=0, echo=True, logprobs=3, temperature=0
    )
    (choice,) = answer.choices
    assert choice.logprobs is not None and choice.text == TEXT
    assert choice.logprobs.token_logprobs is not None and choice.logprobs.top_logprobs is not None
    first, *rest = choice.logprobs.token_logprobs
    assert first is None and choice.logprobs.top_logprobs[0] is None, "nothing predicts the first token"
    assert rest == pytest.approx(by_hand(chat, ids), abs=1e-5)
    for value, best in zip(rest, choice.logprobs.top_logprobs[1:], strict=True):
        assert value <= max(best.values()) and value in best.values()
    assert choice.logprobs.text_offset is not None
    ends = [*choice.logprobs.text_offset[1:], len(choice.text)]
    pieces = [choice.text[begin:end] for begin, end in zip(choice.logprobs.text_offset, ends, strict=True)]
    assert "".join(pieces) == TEXT and pieces[0] == "" and pieces[1] == "Once"


def test_the_sum_is_what_training_evaluate_measures(client: openai.OpenAI, chat: LoadedModel) -> None:
    sentences = ["The cats annoy Tim.", "The cats annoys Tim.", "A lady could boast about Carl."]
    answer = client.completions.create(
        model=chat.name, prompt=sentences, max_tokens=0, echo=True, logprobs=0, temperature=0
    )
    assert [each.index for each in answer.choices] == [0, 1, 2]
    for choice, sentence in zip(answer.choices, sentences, strict=True):
        assert choice.logprobs is not None and choice.logprobs.token_logprobs is not None
        total = sum(each for each in choice.logprobs.token_logprobs if each is not None)
        assert total == pytest.approx(log_probability(chat, sentence), abs=1e-4)


@pytest.mark.parametrize("settings", [{"temperature": 0}, {"temperature": 0.9, "seed": 4, "extra_body": {"top_k": 50}}])
def test_one_token_behind_an_echo_is_the_one_that_a_run_writes(
    client: openai.OpenAI, chat: LoadedModel, settings: dict[str, Any]
) -> None:
    """lm-eval asks for it, and its token comes from the pass that scores the prompt."""
    request: dict[str, Any] = {"model": chat.name, "prompt": ["The cat", "Once upon"], "logprobs": 2, **settings}
    alone = client.completions.create(**request, max_tokens=1)
    echoed = client.completions.create(**request, max_tokens=1, echo=True)
    longer = client.completions.create(**request, max_tokens=3, echo=True)
    for one, other, more, prompt in zip(alone.choices, echoed.choices, longer.choices, request["prompt"], strict=True):
        assert one.logprobs and other.logprobs and more.logprobs
        assert one.logprobs.tokens and other.logprobs.tokens and more.logprobs.tokens
        assert other.text == prompt + one.text and more.text.startswith(other.text)
        assert other.logprobs.tokens[-1:] == one.logprobs.tokens == more.logprobs.tokens[-3:-2]
        assert other.logprobs.token_logprobs and one.logprobs.token_logprobs
        assert other.logprobs.token_logprobs[-1] == pytest.approx(one.logprobs.token_logprobs[0], abs=1e-4)


def test_a_full_context_is_scored_and_one_token_more_is_refused(client: openai.OpenAI, tiny: LoadedModel) -> None:
    ids = [5] * tiny.model.context_length
    full = client.completions.create(model=tiny.name, prompt=ids, max_tokens=1, echo=True, logprobs=1, temperature=0)
    assert full.choices[0].logprobs and full.choices[0].logprobs.token_logprobs
    assert full.choices[0].logprobs.token_logprobs[1:-1] == pytest.approx(by_hand(tiny, ids), abs=1e-5)
    with pytest.raises(openai.BadRequestError, match="129 tokens, but the model reads at most 128"):
        client.completions.create(model=tiny.name, prompt=[*ids, 5], max_tokens=1, echo=True, logprobs=1, temperature=0)


def test_a_streamed_echo_comes_first(client: openai.OpenAI, chat: LoadedModel) -> None:
    request: dict[str, Any] = {"model": chat.name, "prompt": TEXT, "max_tokens": 5, "temperature": 0, "echo": True}
    whole = client.completions.create(**request, logprobs=1).choices[0]
    chunks = [each.choices[0] for each in client.completions.create(**request, logprobs=1, stream=True)]
    assert "".join(each.text for each in chunks) == whole.text and whole.logprobs is not None
    streamed = [each.logprobs for each in chunks if each.logprobs is not None]
    assert [each.tokens and each.tokens[0] for each in streamed] == whole.logprobs.tokens
    assert [each.text_offset and each.text_offset[0] for each in streamed] == whole.logprobs.text_offset


def test_under_echo_too_attend_has_an_entry_for_each_token(client: openai.OpenAI, chat: LoadedModel) -> None:
    request: dict[str, Any] = {"model": chat.name, "prompt": TEXT, "max_tokens": 2, "temperature": 0, "echo": True}
    choice = client.completions.create(**request, logprobs=0, extra_body={"attend": {"stages": True}}).choices[0]
    entries: Any = choice.to_dict()["attend"]
    assert choice.logprobs is not None and choice.logprobs.tokens is not None
    assert [entry and chat.tokenizer.label(entry["id"]) for entry in entries] == [None, *choice.logprobs.tokens[1:]]


def test_the_best_of_several_samples_are_returned(client: openai.OpenAI, chat: LoadedModel) -> None:
    runs = [
        attend.Model(chat).generate("The dog", max_new_tokens=10, temperature=1.0, seed=seed) for seed in range(20, 25)
    ]
    best = sorted(runs, key=lambda run: sum(token.log_probability for token in run.tokens) / len(run.tokens))
    answer = client.completions.create(model=chat.name, prompt="The dog", max_tokens=10, n=2, best_of=5, seed=20)
    assert [each.text for each in answer.choices] == [best[-1].text, best[-2].text]


def test_many_prompts_are_continued_side_by_side(client: openai.OpenAI, chat: LoadedModel) -> None:
    prompts = [f"There were {number} birds" for number in range(11)]
    answer = client.completions.create(model=chat.name, prompt=prompts, max_tokens=6, temperature=0)
    assert [each.index for each in answer.choices] == list(range(11))
    runs = [attend.Model(chat).generate(prompt, max_new_tokens=6, strategy="greedy").text for prompt in prompts]
    assert [each.text for each in answer.choices] == runs


def test_a_prompt_whose_time_is_over_between_two_passes_is_refused(
    tiny: LoadedModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scoring, "_PIECE", 8)
    value = {"prompt": [5] * 40, "echo": True, "max_tokens": 0}
    models = Models((tiny.name,), lambda name, _: tiny, limits=Limits(run_seconds=0))
    with pytest.raises(RequestError, match="could not be read within the time limit"):
        list(Completion(tiny, checked(CompletionBody, value), value).run(models, ""))
    assert not tiny.scoring.locked()
