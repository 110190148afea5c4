"""/v1/chat/completions through the openai package, held equal to the same run without a server."""

from __future__ import annotations

import math
from typing import Any

import openai
import pytest

import attend
from decoding.run.writer import step_entry
from model.loaded import LoadedModel
from tests.helpers.paths import ROOT

HELLO: list[Any] = [{"role": "user", "content": "Hello! How are you?"}]
SETTINGS: list[dict[str, Any]] = [
    {"temperature": 0},
    {"temperature": 0.8, "top_p": 0.9, "seed": 7},
    {"temperature": 1.2, "seed": 3, "frequency_penalty": 0.5, "presence_penalty": 0.2},
    {"seed": 5, "extra_body": {"top_k": 5, "min_p": 0.05}},
    {"extra_body": {"strategy": "beam", "num_beams": 3}},
]


def expected(chat: LoadedModel, settings: dict[str, Any], **more: Any) -> attend.Run:
    named = {"max_new_tokens": 24, **settings, **settings.get("extra_body", {}), **more}
    named.pop("extra_body", None)
    return attend.Model(chat).chat(HELLO, **named)


@pytest.mark.parametrize("settings", SETTINGS)
def test_an_answer_and_its_log_probabilities_are_those_of_the_model(
    client: openai.OpenAI, chat: LoadedModel, settings: dict[str, Any]
) -> None:
    run = expected(chat, settings)
    answer = client.chat.completions.create(
        model=chat.name, messages=HELLO, max_completion_tokens=24, logprobs=True, top_logprobs=5, **settings
    )
    (choice,) = answer.choices
    assert choice.message.content == run.text and choice.message.role == "assistant"
    assert choice.finish_reason == {"stop": "stop", "length": "length", "stop_text": "stop"}[run.finish_reason]
    assert choice.logprobs is not None and choice.logprobs.content is not None
    for entry, token in zip(choice.logprobs.content, run.tokens, strict=True):
        assert entry.token == chat.tokenizer.label(token.id)
        assert bytes(entry.bytes or ()) == chat.tokenizer.bytes_of(token.id)
        assert entry.logprob == pytest.approx(token.log_probability, abs=1e-4), "raw, before every filter"
        assert [top.token for top in entry.top_logprobs] == [each.text for each in token.candidates[:5]]
        assert entry.top_logprobs[0].logprob == pytest.approx(math.log(token.candidates[0].probability), abs=1e-4)
    assert answer.usage is not None
    assert (answer.usage.prompt_tokens, answer.usage.completion_tokens) == (len(run.context), len(run.tokens))


@pytest.mark.parametrize("settings", SETTINGS)
def test_a_stream_has_one_token_a_chunk_and_the_same_text_and_numbers(
    client: openai.OpenAI, chat: LoadedModel, settings: dict[str, Any]
) -> None:
    request: dict[str, Any] = {"model": chat.name, "messages": HELLO, "max_tokens": 24, "logprobs": True, **settings}
    whole = client.chat.completions.create(**request)
    chunks = list(client.chat.completions.create(**request, stream=True, stream_options={"include_usage": True}))
    *tokens, usage = chunks
    assert not usage.choices and usage.usage == whole.usage and all(each.usage is None for each in tokens)
    first, *middle, last = (each.choices[0] for each in tokens)
    assert first.delta.role == "assistant" and not first.delta.content
    assert last.finish_reason == whole.choices[0].finish_reason and all(each.finish_reason is None for each in middle)
    assert "".join(each.delta.content or "" for each in middle) == whole.choices[0].message.content
    assert whole.choices[0].logprobs is not None and whole.choices[0].logprobs.content is not None
    for each, token in zip(middle, whole.choices[0].logprobs.content, strict=True):
        assert each.logprobs is not None and each.logprobs.content is not None
        (streamed,) = each.logprobs.content
        assert streamed.token == token.token and streamed.logprob == pytest.approx(token.logprob, abs=1e-4)


def test_several_samples_have_the_seeds_that_follow(client: openai.OpenAI, chat: LoadedModel) -> None:
    request: dict[str, Any] = {"model": chat.name, "messages": HELLO, "max_tokens": 24, "temperature": 0.9, "n": 3}
    texts = [expected(chat, {"temperature": 0.9, "seed": seed}).text for seed in (11, 12, 13)]
    answer = client.chat.completions.create(**request, seed=11)
    assert [each.message.content for each in answer.choices] == texts and len(set(texts)) > 1
    streamed = ["", "", ""]
    for chunk in client.chat.completions.create(**request, seed=11, stream=True):
        streamed[chunk.choices[0].index] += chunk.choices[0].delta.content or ""
    assert streamed == texts


def test_where_nothing_is_drawn_all_texts_are_the_same(client: openai.OpenAI, chat: LoadedModel) -> None:
    request: dict[str, Any] = {"model": chat.name, "messages": HELLO, "max_tokens": 8, "temperature": 0, "n": 2}
    first, second = (each.message.content for each in client.chat.completions.create(**request).choices)
    streamed = ["", ""]
    for chunk in client.chat.completions.create(**request, stream=True):
        streamed[chunk.choices[0].index] += chunk.choices[0].delta.content or ""
    assert streamed == [first, second] == [expected(chat, {"temperature": 0}, max_new_tokens=8).text] * 2


def test_beams_return_their_best_texts(client: openai.OpenAI, chat: LoadedModel) -> None:
    settings = {"strategy": "beam", "num_beams": 4}
    run = expected(chat, settings, num_return_sequences=2)
    answer = client.chat.completions.create(
        model=chat.name, messages=HELLO, max_tokens=24, n=2, extra_body=settings, logprobs=True
    )
    assert tuple(each.message.content for each in answer.choices) == run.texts and len(set(run.texts)) == 2


def test_a_stop_text_ends_it_and_its_tokens_are_left_out(client: openai.OpenAI, chat: LoadedModel) -> None:
    text = expected(chat, {"temperature": 0}).text
    stop = text[6:10]
    answer = client.chat.completions.create(
        model=chat.name, messages=HELLO, temperature=0, stop=[stop, "never"], logprobs=True
    )
    assert answer.choices[0].message.content == text[: text.index(stop)]
    assert answer.choices[0].finish_reason == "stop"
    tokens = answer.choices[0].logprobs and answer.choices[0].logprobs.content
    assert tokens and b"".join(bytes(each.bytes or ()) for each in tokens).decode().startswith(text[: text.index(stop)])


def _of_attend(choice: Any) -> list[Any]:
    return choice.to_dict().get("attend", [])


def test_attend_adds_what_the_table_shows(client: openai.OpenAI, chat: LoadedModel) -> None:
    settings = {"temperature": 0.8, "seed": 7, "top_k": 20}
    run = attend.Model(chat).chat(HELLO, max_new_tokens=6, attention=True, **settings)
    body = {"attend": {"stages": True, "attention": True}, "top_k": 20}
    request: dict[str, Any] = {"model": chat.name, "messages": HELLO, "max_tokens": 6, "temperature": 0.8, "seed": 7}
    whole = client.chat.completions.create(**request, extra_body=body).choices[0].to_dict()["attend"]
    chunks = client.chat.completions.create(**request, extra_body=body, stream=True)
    streamed: list[Any] = [entry for chunk in chunks for entry in _of_attend(chunk.choices[0])]
    assert isinstance(whole, list) and len(whole) == len(streamed) == len(run.tokens)
    for entry, later, token in zip(whole, streamed, run.tokens, strict=True):
        wanted = step_entry(token.choice)
        assert entry["stages"] == list(wanted["stages"]) and entry["kept"] == list(wanted["kept"])
        assert entry["draw"] == later["draw"] == wanted["draw"] and entry["rank"] == wanted["rank"]
        assert entry["entropy"] == pytest.approx(list(wanted["entropy"]), abs=1e-3)
        assert entry["attention"]["layers"] == chat.model.layer_count and entry["attention"]["row"]


def test_a_system_prompt_and_text_parts(client: openai.OpenAI, tiny: LoadedModel) -> None:
    parts: Any = [{"type": "text", "text": "Hello, "}, {"type": "text", "text": "you."}]
    request: dict[str, Any] = {"model": tiny.name, "temperature": 0, "max_tokens": 5}
    one = client.chat.completions.create(**request, messages=[{"role": "user", "content": "Hello, you."}])
    other = client.chat.completions.create(**request, messages=[{"role": "user", "content": parts}])
    assert one.choices[0].message.content == other.choices[0].message.content and one.usage == other.usage
    with pytest.raises(openai.BadRequestError, match="doesn't support system prompts"):
        client.chat.completions.create(**request, messages=[{"role": "system", "content": "Be kind."}, *HELLO])


def test_a_translator_answers_each_message_on_its_own(client: openai.OpenAI, tiny_translator: LoadedModel) -> None:
    text = attend.Model(tiny_translator).generate("Le chat 1 est petit.", max_new_tokens=12).text
    answer = client.chat.completions.create(
        model=tiny_translator.name, messages=[{"role": "user", "content": "Le chat 1 est petit."}], max_tokens=12
    )
    assert answer.choices[0].message.content == text


def test_the_documentations_own_lines(server: str, chat: LoadedModel, capsys: pytest.CaptureFixture[str]) -> None:
    code = (ROOT / "docs/openai.md").read_text(encoding="utf-8").split("```python\n")[1].split("```")[0]
    exec(compile(code.replace("http://127.0.0.1:7860", server), "docs/openai.md", "exec"), {})
    answer, token, kept, scored = capsys.readouterr().out.strip().splitlines()
    run = attend.Model(chat).chat(HELLO, temperature=0.8, seed=7, top_k=40)
    assert answer == run.text and token.startswith("ChatCompletionTokenLogprob(token=")
    assert kept == str(list(run.tokens[0].choice.kept)) and scored.startswith("[None, -")
