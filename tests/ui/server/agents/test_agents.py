"""The tools for agents, called by the protocol's own client."""

from __future__ import annotations

import json
import logging
import re
import threading
from collections.abc import Awaitable, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from http.client import HTTPConnection
from typing import Any, get_args

import anyio
import anyio.to_thread
import httpx
import httpx2
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.server.mcpserver.exceptions import ToolError

import app
from decoding.run.score import score_text
from decoding.settings import parameters
from model.errors import AttendError
from model.loaded import LoadedModel
from tests.helpers.served import models_of, served
from tests.helpers.waiting import Gate, eventually
from ui.limits import Limits
from ui.page.layout import build
from ui.runs.models import Models
from ui.server.accounts import Accounts
from ui.server.agents.protocol import Agents
from ui.server.agents.tools import Settings
from ui.server.callers import ConcurrencyLimiter

TEXT = "My dog is called Tom. My dog is called"


@contextmanager
def serving(models: Models, **options: Any) -> Iterator[str]:
    """The address of the tools of a page."""
    with served(build(models), agents=True, **options) as page:
        yield f"{page}/mcp"


@pytest.fixture(scope="module")
def address(chat: LoadedModel, tiny_writer: LoadedModel) -> Iterator[str]:
    with serving(models_of(chat, tiny_writer)) as address:
        yield address


def ask(address: str, question: Callable[[Client], Awaitable[Any]], **headers: str) -> Any:
    async def run() -> Any:
        async with (
            httpx2.AsyncClient(headers=headers, timeout=120) as http,
            Client(streamable_http_client(address, http_client=http)) as client,
        ):
            return await question(client)

    return in_thread(run)


def in_thread(question: Callable[[], Awaitable[Any]]) -> Any:
    """Its answer, from a thread of its own: where a browser was driven, this one has a loop that never ends."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(anyio.run, question).result()


def call(address: str, tool: str, **arguments: Any) -> Any:
    """The answer of a tool; its sentence if it is a refusal."""
    result = ask(address, lambda client: client.call_tool(tool, arguments))
    return result.content[0].text if result.is_error else result.structured_content


def test_an_agent_is_told_what_each_tool_and_each_argument_is_for(address: str) -> None:
    tools = ask(address, lambda client: client.list_tools()).tools
    assert [tool.name for tool in tools] == ["generate", "chat", "score", "tokenize", "explain"]
    for tool in tools:
        assert tool.description.endswith(".") and "Args:" not in tool.description
        assert tool.input_schema["properties"]["model"]["description"]
    assert len(json.dumps([tool.input_schema for tool in tools])) < 6_000  # they fill an agent's prompt


def test_a_text_is_written_and_written_again_with_its_seed(address: str, counted_seeds: None) -> None:
    first = call(address, "generate", prompt="Once upon a time", max_new_tokens=12, settings={"temperature": 1.5})
    again = {"temperature": 1.5, "seed": first["seed"]}
    assert call(address, "generate", prompt="Once upon a time", max_new_tokens=12, settings=again) == first
    assert first["tokens"] == 12 and first["finish_reason"] == "length"


def test_the_length_is_that_of_the_argument_or_of_the_settings(address: str) -> None:
    greedy = {"strategy": "greedy", "max_new_tokens": 5}
    assert call(address, "generate", prompt="Once upon a time", settings=greedy)["tokens"] == 5
    assert call(address, "generate", prompt="Once upon a time", settings=greedy, max_new_tokens=7)["tokens"] == 7


def test_the_settings_that_an_agent_is_told_of_exist() -> None:
    listing = re.search(r"such as (.*?)\. What", get_args(Settings)[1].description)
    assert listing is not None
    names = re.findall(r"[a-z_]+", re.sub(r"\(.*?\)", "", listing[1]))
    assert set(names) <= {parameter.name for parameter in parameters()}


def test_the_log_stays_as_it_was(address: str) -> None:
    assert not any(
        "mcp" in type(handler).__module__ or "rich" in type(handler).__module__
        for handler in logging.getLogger().handlers
    )


def test_calls_of_one_address_are_limited(tiny: LoadedModel) -> None:
    limiter, limits = ConcurrencyLimiter(1), Limits()
    agents = Agents(models_of(tiny), limiter, limits)
    with limiter.acquire(""):
        tool = agents._limited(lambda: 1)
        with pytest.raises(ToolError, match="calls from your address are still running"):
            in_thread(tool)
    assert in_thread(tool) == 1


def test_a_chat_goes_on(address: str) -> None:
    history = [{"role": "user", "content": "My name is Tom."}, {"role": "assistant", "content": "Nice to meet you."}]
    settings = {"strategy": "greedy"}
    answer = call(address, "chat", message="What is my name?", history=history, settings=settings)
    assert "Tom" in answer["text"] and answer["seed"] is None and answer["finish_reason"] == "stop"


def test_a_score_names_what_is_surprising(address: str, chat: LoadedModel) -> None:
    text = "The cat sat on the mat."
    expected, scored = score_text(chat, text), call(address, "score", text=text)
    assert scored["perplexity"] == pytest.approx(expected.perplexity, rel=1e-3)
    tokens = expected.document()["tokens"]
    order = sorted(range(len(tokens)), key=lambda at: -tokens[at]["surprise"])[:5]
    most = scored["most_surprising"]
    assert [each["token"] for each in most] == [tokens[at]["text"] for at in order]
    assert [each["bits"] for each in most] == pytest.approx([tokens[at]["surprise"] for at in order], abs=0.01)
    assert most[0]["after"] == "".join(token["text"] for token in tokens[: order[0]])


def test_tokens_are_counted_and_the_first_are_listed(address: str, chat: LoadedModel) -> None:
    split = call(address, "tokenize", text="The cat. " * 200)
    assert split["count"] == len(chat.tokenizer.encode("The cat. " * 200, begins=True)) > len(split["ids"]) == 200
    assert "".join(split["texts"][:3]) == "The cat."


def test_a_token_is_explained_in_words(address: str, chat: LoadedModel) -> None:
    answer = call(address, "explain", text=TEXT)["result"]
    logits = chat.model.logits(chat.prompt(TEXT), chat.tokenizer.encode(" Tom")[:1])
    assert f"gives ' Tom' a probability of {float(logits.softmax(dim=-1).max()):.3g}. No token is more" in answer
    assert (
        re.search(r"It rests most on .*' Tom' after ' dog is called' \(-", answer)
        and re.search(r"from layer [1-6] on", answer)
        and re.search(r"head [1-6]\.[1-8] \(\+", answer)
    )


def test_a_rival_is_compared_with(address: str) -> None:
    answer = call(address, "explain", text=TEXT, token=" Max", instead_of=" Tom")["result"]
    assert "finds ' Tom' " in answer and "times as probable as ' Max'" in answer
    assert re.search(r"What speaks against it most is .*' Tom' after ' dog is called' \(\+", answer)


def test_an_answer_in_a_chat_is_explained(address: str) -> None:
    answer = call(address, "explain", text="Your name is", message="My name is Tom. What is my name?")["result"]
    assert "gives ' Tom' a probability of" in answer


REFUSED = [
    ("generate", {"prompt": "Hello", "model": "gpt-7"}, "There is no model 'gpt-7'"),
    ("generate", {"prompt": "Hello", "settings": {"temperature": -1}}, "temperature is -1"),
    ("generate", {"prompt": "Hello", "settings": {"warmth": 1}}, "warmth"),
    ("generate", {"prompt": "x" * 30_000}, "20,000"),
    ("chat", {"message": ""}, "message"),
    ("explain", {"text": TEXT, "token": " Tom and Max"}, " Tom and Max"),
    ("explain", {"text": TEXT, "message": "Hi!", "model": "tiny_writer"}, "is not a chat model"),
    ("score", {"text": ""}, "empty"),
    ("score", {}, "text is missing: give a text."),
    (
        "generate",
        {"prompt": "Hello", "max_tokens": 3},
        "There is no argument 'max_tokens': did you mean max_new_tokens?",
    ),
    ("generate", {"prompt": "Hello", "warmth": 3}, "there are prompt, model, max_new_tokens, settings."),
    (
        "generate",
        {"prompt": "Hello", "max_new_tokens": "many"},
        "max_new_tokens is 'many', but must be a whole number.",
    ),
    ("chat", {"message": "Hello", "history": [{"role": "tool"}]}, "but must be a list of {"),
    ("explain", {"text": TEXT, "token": " Tom", "instead_of": " Tom"}, "name two different tokens"),
]


@pytest.mark.parametrize(("tool", "arguments", "sentence"), REFUSED)
def test_a_wrong_call_is_answered_with_a_sentence(
    address: str, tiny_writer: LoadedModel, counted_seeds: None, tool: str, arguments: dict[str, Any], sentence: str
) -> None:
    if arguments.get("model") == "tiny_writer":
        arguments = {**arguments, "model": tiny_writer.name}
    answer = call(address, tool, **arguments)
    assert sentence in answer and "\n" not in answer and "pydantic" not in answer


def test_a_run_ends_when_its_agent_leaves(tiny: LoadedModel) -> None:
    params = {"name": "generate", "arguments": {"prompt": "The fox", "settings": {"strategy": "greedy"}}}

    async def leave(client: Client) -> None:
        async with anyio.create_task_group() as calls:
            calls.start_soon(client.call_tool, *params.values())
            await anyio.to_thread.run_sync(eventually, is_running)
            calls.cancel_scope.cancel()

    with serving(models_of(tiny, wrap=Gate())) as address:
        ask(address, leave)
        eventually(lambda: not is_running())
        body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}  # of an older protocol
        connection = HTTPConnection(address.split("/")[2])
        connection.request("POST", "/mcp", json.dumps(body), {"content-type": "application/json", "accept": "*/*"})
        eventually(is_running)
        connection.close()
        eventually(lambda: not is_running())


def is_running() -> bool:
    return any(thread.name == "attend-decoding" for thread in threading.enumerate())


def test_pages_of_other_websites_get_no_answer(address: str) -> None:
    foreign = httpx.post(address, headers={"origin": "https://evil.example"}, json={})
    assert foreign.status_code == 403 and "answers only under its own host names" in foreign.text


def test_a_page_with_accounts_asks_agents_for_a_key(tiny: LoadedModel) -> None:
    with serving(models_of(tiny), accounts=Accounts.read("", {"ATTEND_AUTH": "ann:secret"})) as address:
        assert httpx.post(address, json={}).status_code == 401
        tools = ask(address, lambda client: client.list_tools(), Authorization="Bearer ann:secret").tools
        assert len(tools) == 5


def test_without_the_package_the_way_out_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(app, "find_spec", lambda name: None)
    with pytest.raises(AttendError, match=r"--mcp needs the package mcp.*make mcp"):
        app.options(["--mcp"])
