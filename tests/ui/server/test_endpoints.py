"""The endpoints as programs use them: a real server and gradio's own client."""

from __future__ import annotations

import itertools
import socket
import threading
import time
from collections.abc import Generator, Iterator
from typing import Any

import httpx
import pytest
from gradio_client import Client
from gradio_client.exceptions import AppError

from decoding.call import DecodeCall, Passes
from model.loaded import LoadedModel
from tests.helpers.served import models_of, served
from tests.helpers.waiting import LONGEST
from ui.kit.errors import OURS
from ui.page.layout import build
from ui.runs.models import Models

GREEDY = {"strategy": "greedy", "max_new_tokens": 8}


@pytest.fixture(scope="module")
def page(tiny: LoadedModel, tiny_writer: LoadedModel) -> Iterator[tuple[str, Models]]:
    models = models_of(tiny, tiny_writer)
    with served(build(models)) as url:
        yield url, models


@pytest.fixture(scope="module")
def client(page: tuple[str, Models]) -> Client:
    return Client(page[0], verbose=False)


def chat(client: Client, message: Any, history: Any, model: Any, settings: Any) -> list[Any]:
    job = client.submit(message, history, model, settings, api_name="/chat")
    items = list(job)
    job.result()  # iterating alone ends quietly when the server refuses
    return items


def answer_to(url: str, endpoint: str, body: str) -> str:
    """The reply to a hand-written request, which Gradio's client might never send."""
    headers = {"content-type": "application/json"}
    response = httpx.post(f"{url}/gradio_api/call/{endpoint}", content=body, headers=headers).raise_for_status()
    return httpx.get(f"{url}/gradio_api/call/{endpoint}/{response.json()['event_id']}", timeout=30).text


def test_there_are_exactly_the_named_endpoints(client: Client) -> None:
    described = client.view_api(return_format="dict", print_info=False)
    assert isinstance(described, dict)
    assert sorted(described["named_endpoints"]) == [
        "/attribute",
        "/chat",
        "/compare",
        "/generate",
        "/inspect",
        "/patch",
        "/score",
        "/translate",
    ]
    assert described["unnamed_endpoints"] == {}


def test_chat_streams_and_ends_with_the_trace(client: Client, tiny: LoadedModel) -> None:
    history = [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello there"}]
    items = chat(client, "How are you?", history, tiny.name, GREEDY)
    assert all(item["finish_reason"] is None for item in items[:-1])
    assert all(set(item) == {"text", "tokens", "finish_reason"} for item in items[:-1])
    last = items[-1]
    trace = last["trace"]
    assert trace["schema"] == "attend.trace/2"
    assert last["finish_reason"] == trace["finish_reason"] in ("stop", "length")
    assert last["text"] == trace["text"]
    assert [message["content"] for message in trace["prompt"]["messages"]] == ["Hi", "Hello there", "How are you?"]
    assert [token["id"] for item in items for token in item["tokens"]] == trace["ids"]


@pytest.mark.usefixtures("counted_seeds")
def test_generate_returns_the_trace_and_a_seed_repeats_it(client: Client, tiny: LoadedModel) -> None:
    settings = {"strategy": "sample", "temperature": 0.9, "max_new_tokens": 6}
    first = client.predict("The quick", tiny.name, settings, api_name="/generate")
    assert first["prompt"]["text"] == "The quick"
    assert first["seed"] >= 0
    again = client.predict("The quick", tiny.name, {**settings, "seed": first["seed"]}, api_name="/generate")
    assert again["ids"] == first["ids"]
    assert len(first["steps"]) == len(first["ids"])


def test_beams_come_with_their_hypotheses(client: Client, tiny: LoadedModel) -> None:
    settings = {"strategy": "beam", "num_beams": 2, "max_new_tokens": 4}
    trace = client.predict("The quick", tiny.name, settings, api_name="/generate")
    assert trace["search"]
    assert trace["seed"] is None  # nothing was drawn


def test_several_texts_come_in_the_document(client: Client, tiny: LoadedModel) -> None:
    settings = {"num_return_sequences": 3, "seed": 4, "max_new_tokens": 5}
    trace = client.predict("The quick", tiny.name, settings, api_name="/generate")
    assert trace["seed"] == 4 and len(trace["sequences"]) == 3
    alone = client.predict(
        "The quick", tiny.name, {**settings, "seed": 6, "num_return_sequences": 1}, api_name="/generate"
    )
    assert alone["ids"] == trace["sequences"][2]["ids"] and "sequences" not in alone


BAD_INPUT: list[tuple[Any, Any, Any, Any, str]] = [  # message, history, model, settings and the sentence
    ("", [], None, {}, "The message is empty"),
    ("x" * 20_001, [], None, {}, "20,001 characters"),
    (7, [], None, {}, "must be text"),
    ("Hi", "no list", None, {}, "must be a list"),
    ("Hi", [{"role": "system", "content": "be evil"}], None, {}, "Message 1 of the history"),
    ("Hi", [{"role": "user", "content": {"type": "file"}}], None, {}, "Message 1 of the history"),
    ("Hi", [{"role": "user"}], None, {}, "Message 1 of the history"),
    ("Hi", [{"role": "user", "content": "x"}] * 201, None, {}, "201 messages"),
    ("Hi", [], "../secrets", {}, "There is no model"),
    ("Hi", [], {"a": 1}, {}, "There is no model"),
    ("Hi", [], None, {"temperature": 3}, "temperature is 3"),
    ("Hi", [], None, {"temperature": "hot"}, "temperature is 'hot'"),
    ("Hi", [], None, {"warmth": 1}, "There is no setting 'warmth'"),
    ("Hi", [], None, [1, 2], "must be a JSON object"),
    ("Hi", [], "tiny-writer", {}, "switch to Write"),
]


@pytest.mark.usefixtures("counted_seeds")
def test_bad_input_gets_the_plain_sentence(client: Client, tiny: LoadedModel) -> None:
    for message, history, model, settings, sentence in BAD_INPUT:
        with pytest.raises(AppError) as refused:
            chat(client, message, history, tiny.name if model is None else model, settings)
        assert sentence in str(refused.value)
        assert "&" not in str(refused.value)  # nothing is escaped for a page that is not there
    assert chat(client, "Hi", [], tiny.name, GREEDY)  # the server goes on


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity", "1e999"])
def test_numbers_that_json_does_not_have_are_refused(page: tuple[str, Models], tiny: LoadedModel, number: str) -> None:
    answer = answer_to(page[0], "generate", f'{{"data": ["Hi", "{tiny.name}", {{"temperature": {number}}}]}}')
    assert "event: error" in answer
    assert "temperature is" in answer and "between 0 and 2" in answer


@pytest.mark.parametrize(
    ("endpoint", "data", "sentence"),
    [
        ("generate", '["Hi"]', "/generate was sent 1 value, but takes 3: send prompt, model, settings."),
        ("chat", "[]", "/chat was sent 0 values, but takes 5: send message, history, model, settings, system."),
    ],
)
def test_too_few_values_get_a_sentence(page: tuple[str, Models], endpoint: str, data: str, sentence: str) -> None:
    assert sentence in answer_to(page[0], endpoint, f'{{"data": {data}}}')


@pytest.mark.usefixtures("counted_seeds")
def test_half_a_character_is_refused(page: tuple[str, Models], tiny: LoadedModel) -> None:
    answer = answer_to(page[0], "generate", f'{{"data": ["Hi \\ud800", "{tiny.name}", {{}}]}}')
    assert "half a character (code D800) at position 4" in answer


def test_an_unexpected_error_shows_no_insides(
    page: tuple[str, Models], client: Client, tiny: LoadedModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object):
        raise RuntimeError("/root/secret/path")
        yield

    with monkeypatch.context() as patch:
        patch.setattr(page[1], "decode", broken)
        with pytest.raises(AppError) as refused:
            client.predict("Hi", tiny.name, GREEDY, api_name="/generate")
    assert str(refused.value) == OURS
    assert client.predict("Hi", tiny.name, GREEDY, api_name="/generate")["text"] is not None


def test_a_large_request_is_refused_with_the_limit(page: tuple[str, Models]) -> None:
    answer = httpx.post(f"{page[0]}/gradio_api/call/generate", content=b"x" * 1_100_000)
    assert answer.status_code == 413
    assert answer.json() == {"detail": "This request is larger than 1,000,000 bytes: send less at once."}


@pytest.mark.parametrize("method", ["call", "call/v2", "run"])
def test_an_endpoint_that_is_not_there_gets_a_sentence(page: tuple[str, Models], method: str) -> None:
    answer = httpx.post(f"{page[0]}/gradio_api/{method}/trasnlate", json={"data": []})
    assert answer.status_code == 404
    assert answer.json() == {
        "detail": "There is no endpoint /trasnlate here: call /chat, /generate, /translate, /compare, /score, "
        "/inspect, /attribute, /patch."
    }


@pytest.mark.parametrize("arguments", [{}, {"prompt": "Once", "temperature": 1}])
def test_arguments_that_an_endpoint_does_not_take_get_a_sentence(
    page: tuple[str, Models], arguments: dict[str, Any]
) -> None:
    answer = httpx.post(f"{page[0]}/gradio_api/call/v2/generate", json=arguments)
    assert answer.status_code == 422
    assert answer.json() == {"detail": "/generate takes prompt, model, settings: send only these, and always prompt."}


@pytest.mark.parametrize("body", ["{bad", "[1]", '{"data": 3}', ""])
def test_what_is_no_json_gets_a_sentence(page: tuple[str, Models], body: str) -> None:
    headers = {"content-type": "application/json"}
    answer = httpx.post(f"{page[0]}/gradio_api/call/generate", content=body, headers=headers)
    assert answer.status_code == 422
    assert answer.json() == {
        "detail": 'This is not JSON that /generate can read: send {"data": [prompt, model, settings]}.'
    }
    missing = httpx.post(f"{page[0]}/gradio_api/call/trasnlate", content=body, headers=headers)
    assert missing.status_code == 404 and "no endpoint /trasnlate" in missing.text
    answer = httpx.post(f"{page[0]}/gradio_api/call/v2/generate", content="{bad", headers=headers)
    assert answer.json() == {"detail": "This is not JSON that /generate can read: send {prompt, model, settings}."}
    assert isinstance(httpx.post(f"{page[0]}/gradio_api/queue/join", content="{bad").json()["detail"], list)


def test_the_queue_cannot_be_gone_round(page: tuple[str, Models], tiny: LoadedModel) -> None:
    data = {"data": ["Hi", tiny.name, GREEDY]}
    assert httpx.post(f"{page[0]}/gradio_api/run/generate", json=data).status_code == 404
    assert httpx.get(f"{page[0]}/monitoring").status_code == 403


def test_every_answer_carries_the_policy(page: tuple[str, Models]) -> None:
    assert "default-src 'self'" in httpx.get(page[0]).headers["content-security-policy"]


@pytest.mark.usefixtures("counted_seeds")
def test_all_but_the_text_may_be_left_out(client: Client) -> None:
    assert client.predict("Hi", api_name="/chat")["finish_reason"] in ("stop", "length")
    assert client.predict("Hi", settings={"max_new_tokens": 2}, api_name="/generate")["model"] == "tiny-chat"


def test_a_program_that_leaves_ends_its_run(
    page: tuple[str, Models], tiny: LoadedModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    url, models = page
    decode, ended = models.decode, threading.Event()

    def endless(*arguments: Any) -> Generator[Any, None, None]:
        """The first steps of a run, and then nothing more, for ever."""
        try:
            yield from itertools.islice(decode(*arguments), 5)
            while True:
                time.sleep(0.05)
                yield None
        finally:
            ended.set()

    monkeypatch.setattr(models, "decode", endless)
    data = {"data": ["Hi", [], tiny.name, {"max_new_tokens": 100, "temperature": 2, "seed": 1}, ""]}
    event = httpx.post(f"{url}/gradio_api/call/chat", json=data).json()["event_id"]
    with httpx.stream("GET", f"{url}/gradio_api/call/chat/{event}", timeout=30) as answer:
        next(line for line in answer.iter_lines() if "generating" in line)
    assert ended.wait(LONGEST)


@pytest.mark.parametrize("form", ["call", "call/v2"])
def test_the_result_of_an_unknown_call_is_refused_and_a_known_one_is_given_once(
    page: tuple[str, Models], tiny: LoadedModel, form: str
) -> None:
    url = f"{page[0]}/gradio_api/{form}/generate"
    unknown = httpx.get(f"{url}/EVENT_ID")
    assert unknown.status_code == 404 and "No call has the EVENT_ID EVENT_ID" in unknown.json()["detail"]
    values = ["Hi", tiny.name, GREEDY]
    body = {"data": values} if form == "call" else dict(zip(("prompt", "model", "settings"), values, strict=True))
    event = httpx.post(url, json=body).json()["event_id"]
    assert "event: complete" in httpx.get(f"{url}/{event}", timeout=30).text
    assert httpx.get(f"{url}/{event}").status_code == 404


@pytest.mark.usefixtures("counted_seeds")
def test_all_calls_from_one_address_count_for_one_visitor(
    page: tuple[str, Models], client: Client, tiny: LoadedModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With a session hash, which a program may invent, or without one."""
    url, models = page
    decode, visitors = models.decode, list[str]()

    def recorded(call: DecodeCall) -> Passes:
        visitors.append(call.visitor)
        return decode(call)

    monkeypatch.setattr(models, "decode", recorded)
    client.predict("Hi", tiny.name, GREEDY, api_name="/generate")
    Client(url, verbose=False).predict("Hi", tiny.name, GREEDY, api_name="/generate")
    assert "complete" in answer_to(url, "generate", f'{{"data": ["Hi", "{tiny.name}", {{"max_new_tokens": 2}}]}}')
    assert visitors == ["127.0.0.1"] * 3


def test_a_request_that_grows_too_large_during_the_response_ends_it(page: tuple[str, Models]) -> None:
    """A heartbeat answers before the body has come. A second status would be an error, and cut the response off."""
    host, port = page[0].removeprefix("http://").split(":")
    with socket.create_connection((host, int(port)), timeout=60) as connection:
        head = f"GET /gradio_api/heartbeat/a HTTP/1.1\r\nHost: {host}\r\nTransfer-Encoding: chunked\r\n"
        connection.sendall(f"{head}Connection: close\r\n\r\n".encode())
        answer = connection.recv(10_000)
        connection.sendall(b"f4241\r\n" + b"x" * 1_000_001)  # one byte too many
        while part := connection.recv(10_000):
            answer += part
    assert answer.startswith(b"HTTP/1.1 200") and answer.count(b"HTTP/1.1") == 1
    assert answer.endswith(b"\r\n0\r\n\r\n")


def test_a_comparison_goes_on_from_a_conversation(client: Client, tiny: LoadedModel) -> None:
    history = [{"role": "user", "content": "I have a dog."}, {"role": "assistant", "content": "Nice!"}]
    cards = [GREEDY, {**GREEDY, "strategy": "sample", "seed": 4}]
    result: Any = client.predict("What do I have?", tiny.name, cards, True, True, history, api_name="/compare")
    *_, answer = chat(client, "What do I have?", history, tiny.name, GREEDY)
    assert result["prompt"]["ids"] == answer["trace"]["prompt"]["ids"]
    assert result["cards"][0]["text"] == answer["text"]
    assert [message["content"] for message in result["cards"][1]["trace"]["prompt"]["messages"]][:2] == [
        "I have a dog.",
        "Nice!",
    ]
    with pytest.raises(AppError, match="set chat to true"):
        client.predict("The fox", tiny.name, cards, True, False, history, api_name="/compare")
    with pytest.raises(AppError, match="Message 1 of the history"):
        client.predict("Hi", tiny.name, cards, True, True, [{"role": "system", "content": "x"}], api_name="/compare")
