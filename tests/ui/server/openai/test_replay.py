"""The requests of open-webui, mikupad and SillyTavern, byte by byte, and what these programs read of our answers.

The files in `requests/` are our own: each has the fields that a program sends, in its order, with values of ours. The
fields were read in these places, and the header lines recorded from the libraries that send them:

- open-webui 0.12.4: `backend/open_webui/routers/openai.py`, `routers/tasks.py`, `main.py`, `utils/payload.py`,
  `utils/headers.py` and `utils/middleware.py`; sent by aiohttp 3.14.5.
- mikupad, commit 000327c168e1baa7aecfe044662bdb6f153e5fb9: `mikupad.html`; sent by `fetch` of Chromium 156 from a page
  that was opened from a file.
- SillyTavern 1.19.0, its source "Generic": `src/endpoints/backends/text-completions.js` and
  `public/scripts/textgen-settings.js`; sent by node-fetch 3.
"""

from __future__ import annotations

import json
import math
import socket
from collections.abc import Iterator
from http.client import HTTPMessage, HTTPResponse
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import httpx
import pytest

import attend
from decoding.settings import parameters
from model.loaded import LoadedModel
from tests.helpers.paths import ROOT
from tests.helpers.served import models_of, served
from tests.helpers.waiting import LONGEST
from ui.page.layout import build
from ui.server.hosts import own_names

REQUESTS = ROOT / "tests/ui/server/openai/requests"
ALLOWED_ORIGIN = "access-control-allow-origin"


class Answer(NamedTuple):
    status: int
    headers: HTTPMessage
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def events(self) -> list[Any]:
        """What a stream holds before its [DONE]."""
        lines = [line.removeprefix("data:").strip() for line in self.body.decode().splitlines() if line]
        assert lines[-1] == "[DONE]"
        return [json.loads(line) for line in lines[:-1]]


def replay(address: str, name: str) -> Answer:
    """Send the bytes of a file, as they are, and read the answer."""
    sent = (REQUESTS / f"{name}.http").read_bytes()
    url = urlsplit(address)
    with socket.create_connection((url.hostname, url.port), timeout=LONGEST) as connection:
        connection.sendall(sent)
        response = HTTPResponse(connection, method=sent.split(b" ", 1)[0].decode())
        response.begin()
        return Answer(response.status, response.headers, response.read())


def body_of(name: str) -> Any:
    """The fields that a file sends."""
    return json.loads((REQUESTS / f"{name}.http").read_bytes().partition(b"\r\n\r\n")[2])


def settings_in(sent: dict[str, Any]) -> dict[str, Any]:
    """What the fields of a request ask for, as the settings of a run without a server."""
    names = {parameter.name for parameter in parameters()}
    return {
        **{name: value for name, value in sent.items() if name in names},
        "logit_bias": [[int(token), bias] for token, bias in sent.get("logit_bias", {}).items()],
        "stop_texts": sent.get("stop", []),
        "max_new_tokens": sent["max_tokens"],
    }


@pytest.fixture(scope="module", params=[False, True], ids=["local", "public"])
def opened(request: pytest.FixtureRequest, chat: LoadedModel) -> Iterator[str]:
    """A page that answers pages opened from files: `--allow-origin null`."""
    names = None if request.param else own_names("127.0.0.1")
    with served(build(models_of(chat)), origins=frozenset({"null"}), names=names) as address:
        yield address


@pytest.mark.parametrize("program", ["open_webui", "sillytavern"])
def test_a_program_lists_the_models(server: str, program: str) -> None:
    answer = replay(server, f"{program}_models")
    assert answer.status == 200 and answer.json["data"][0]["id"] == "attend-chat"


def test_open_webui_reads_a_streamed_answer_and_its_usage(server: str, chat: LoadedModel) -> None:
    sent = body_of("open_webui_chat")
    answer = replay(server, "open_webui_chat")
    assert answer.status == 200 and answer.headers["content-type"].startswith("text/event-stream")
    assert answer.headers["x-attend-ignored"] == "repeat_penalty, num_ctx, reasoning_effort, tools"
    text, reasons, usage = "", [], {}
    for event in answer.events:
        usage |= event.get("usage", {}) or {}
        for choice in event.get("choices", []):
            text += (choice.get("delta", {}) or {}).get("content") or ""
            reasons += [choice["finish_reason"]] if choice.get("finish_reason") else []
    run = attend.Model(chat).chat(sent["messages"], **settings_in(sent))
    assert text == run.text and len(reasons) == 1
    assert (usage["prompt_tokens"], usage["completion_tokens"]) == (len(run.context), len(run.tokens))


@pytest.mark.usefixtures("counted_seeds")
def test_open_webui_reads_the_title_of_a_chat(server: str) -> None:
    answer = replay(server, "open_webui_title")
    assert answer.status == 200 and "x-attend-ignored" not in answer.headers
    assert answer.json["choices"][0]["message"]["content"]


def _allowed(answer: Answer) -> bool:
    """Whether a browser gives the answer to a page opened from a file: it must name its origin exactly once."""
    return answer.headers.get_all(ALLOWED_ORIGIN) in (["null"], ["*"])


@pytest.mark.parametrize("name", ["mikupad_models_preflight", "mikupad_completion_preflight"])
def test_a_browser_lets_mikupad_ask(opened: str, name: str) -> None:
    answer = replay(opened, name)
    assert answer.status in (200, 204) and _allowed(answer)
    headers = {each.strip().lower() for each in answer.headers["access-control-allow-headers"].split(",")}
    assert {"authorization", "content-type"} <= headers, "Authorization is not covered by *"


def test_mikupad_lists_the_models(opened: str) -> None:
    answer = replay(opened, "mikupad_models")
    assert answer.status == 200 and _allowed(answer)
    assert "attend-chat" in [each["id"] for each in answer.json["data"]]


IGNORED = (
    "penalize_nl, dry_penalty_last_n, dry_sequence_breakers, banned_tokens, dynamic_temperature, dynatemp_low, "
    "dynatemp_high, repetition_penalty_range, tfs, ban_eos_token"
)


def test_mikupad_reads_a_streamed_text_and_the_candidates_of_each_token(opened: str, chat: LoadedModel) -> None:
    sent = body_of("mikupad_completion")
    answer = replay(opened, "mikupad_completion")
    assert answer.status == 200 and _allowed(answer), answer.body
    assert answer.headers["x-attend-ignored"] == IGNORED
    choices = [event["choices"][0] for event in answer.events]
    written = [choice for choice in choices if choice["text"]]  # mikupad passes over the others
    run = attend.Model(chat).generate(sent["prompt"], **settings_in(sent))
    assert "".join(choice["text"] for choice in written) == run.text
    assert len(written) == len(run.tokens)
    for choice, token in zip(written, run.tokens, strict=True):
        probabilities = {text: math.exp(value) for text, value in choice["logprobs"]["top_logprobs"][0].items()}
        assert len(probabilities) in (10, 11) and sum(probabilities.values()) <= 1.0001
        assert probabilities[choice["text"]] == pytest.approx(math.exp(token.log_probability), abs=1e-4)


def test_mikupad_reads_a_whole_text_and_the_candidates_of_each_token(opened: str, chat: LoadedModel) -> None:
    sent = body_of("mikupad_completion_whole")
    answer = replay(opened, "mikupad_completion_whole")
    assert answer.status == 200 and _allowed(answer), answer.body
    logprobs = answer.json["choices"][0]["logprobs"]
    run = attend.Model(chat).generate(sent["prompt"], **settings_in(sent))
    assert "".join(logprobs["tokens"]) == run.text, "which mikupad puts together from the tokens"
    for token, best in zip(logprobs["tokens"], logprobs["top_logprobs"], strict=True):
        assert token in best


def test_mikupad_reads_a_chat_and_the_candidates_of_each_token(opened: str, chat: LoadedModel) -> None:
    sent = body_of("mikupad_chat")
    answer = replay(opened, "mikupad_chat")
    assert answer.status == 200 and _allowed(answer), answer.body
    assert answer.headers["x-attend-ignored"] == IGNORED
    choices = [event["choices"][0] for event in answer.events]
    written = [choice for choice in choices if choice["delta"].get("content")]
    run = attend.Model(chat).chat(sent["messages"], **settings_in(sent))
    assert "".join(choice["delta"]["content"] for choice in written) == run.text
    for choice, token in zip(written, run.tokens[: len(written)], strict=True):
        best = choice["logprobs"]["content"][0]["top_logprobs"]
        probabilities = {each["token"]: math.exp(each["logprob"]) for each in best}
        assert len(best) == 10 and sum(probabilities.values()) <= 1.0001
        expected = math.exp(token.log_probability)
        assert probabilities.get(choice["delta"]["content"], expected) == pytest.approx(expected, abs=1e-4)


def test_mikupad_counts_the_tokens_of_its_text(opened: str, chat: LoadedModel) -> None:
    answer, prompt = replay(opened, "mikupad_token_count"), chat.prompt(body_of("mikupad_token_count")["prompt"])
    assert answer.status == 200 and _allowed(answer)
    assert answer.json == {"tokens": [*prompt], "length": len(prompt)}


def test_what_mikupad_tries_on_other_servers_is_refused_so_that_it_goes_on(opened: str) -> None:
    answer = replay(opened, "mikupad_stop")
    assert answer.status == 404 and _allowed(answer)


@pytest.mark.parametrize("name", sorted(path.stem for path in REQUESTS.glob("mikupad_*.http")))
def test_a_page_that_is_not_named_gets_no_answer(server: str, name: str) -> None:
    """Nor is its browser's question in advance (the preflight) answered, after which the browser sends nothing."""
    answer = replay(server, name)
    assert answer.status == 403 and ALLOWED_ORIGIN not in answer.headers
    assert set(answer.json) == {"error"}


def test_sillytavern_reads_a_streamed_text(server: str, chat: LoadedModel) -> None:
    sent = body_of("sillytavern_completion")
    answer = replay(server, "sillytavern_completion")
    assert answer.status == 200 and "x-attend-ignored" not in answer.headers
    text = "".join(event["choices"][0]["text"] for event in answer.events)
    run = attend.Model(chat).generate(sent["prompt"], **settings_in(sent))
    assert text == run.text


def test_no_character_of_a_text_ends_a_line_of_a_stream(http: httpx.Client) -> None:
    """open-webui splits a stream at every line end that Unicode knows, such as U+2028."""
    prompt = "One\u2028two\u2029three\u0085four"
    body = {"model": "attend-chat", "prompt": prompt, "echo": True, "max_tokens": 0, "stream": True}
    events = Answer(200, HTTPMessage(), http.post("/v1/completions", json=body).content).events
    assert "".join(event["choices"][0]["text"] for event in events) == prompt
