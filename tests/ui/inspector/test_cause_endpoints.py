"""`/inspect`, `/attribute` and `/patch` as programs use them, and runs with a part of the model switched off."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest
from gradio_client import Client
from gradio_client.exceptions import AppError

import attend
from model.loaded import LoadedModel
from tests.ui.server.test_endpoints import chat, client, page
from ui.inspector.endpoints import cause_endpoints
from ui.limits import Limits
from ui.runs.models import Models

__all__ = ["client", "page"]  # fixtures
LOUD = {"layer": 0, "part": "feed_forward", "action": "scale", "factor": 40.0}


def as_json(record: Any) -> Any:
    return json.loads(json.dumps(record.document(), allow_nan=False))


def test_they_answer_what_attend_answers(client: Client, tiny: LoadedModel) -> None:
    model, text = attend.Model(tiny), "The quick brown fox. The quick"
    inspected = client.predict(text, tiny.name, "", [LOUD], True, api_name="/inspect")
    assert inspected == as_json(model.inspect(text, interventions=[LOUD], sublayers=True))
    assert inspected["columns"] == ["0", "1 attention", "1", "2 attention", "2"]
    assert inspected != as_json(model.inspect(text, sublayers=True)) and inspected["head"] is None
    compared = client.predict(text, tiny.name, "", [LOUD], False, [1, 0], api_name="/inspect")["head"]
    assert compared == as_json(model.inspect(text, interventions=[LOUD], head=(1, 0)))["head"]
    last = [sum(a * b for a, b in zip(compared["queries"][-1], key, strict=True)) for key in compared["keys"]]
    shares = [math.exp(compared["scale"] * product) for product in last]
    assert compared["attention"][-1] == pytest.approx([share / sum(shares) for share in shares], abs=1e-5)
    ids = list(tiny.prompt(text))
    rival = inspected["tokens"][3]["text"]
    assert client.predict(ids, tiny.name, None, rival, "", 4, api_name="/attribute") == as_json(
        model.attribute(text, None, rival, steps=4)
    )
    clean, corrupted = [1, 5, 9, 12], [1, 5, 8, 12]
    assert client.predict(clean, corrupted, tiny.name, 7, 8, api_name="/patch") == as_json(
        model.patch(clean, corrupted, 7, 8)
    )


def test_a_text_is_generated_with_a_part_switched_off(client: Client, tiny: LoadedModel) -> None:
    settings = {"temperature": 1.5, "seed": 5, "max_new_tokens": 8}
    off = {**settings, "without": "feed-forward 1 x 40"}
    trace = client.predict("The quick", tiny.name, off, api_name="/generate")
    expected = attend.Model(tiny).generate("The quick", interventions=[LOUD], **settings).document()
    assert trace == json.loads(json.dumps(expected)) and trace["interventions"] == [LOUD]
    answer = chat(client, "Hi!", [], tiny.name, off)[-1]["trace"]
    assert answer["interventions"] == [LOUD]
    assert answer["ids"] != chat(client, "Hi!", [], tiny.name, settings)[-1]["trace"]["ids"]
    compared = client.predict("The quick", tiny.name, [off, settings], api_name="/compare")["cards"]
    assert compared[0]["trace"]["ids"] == trace["ids"] != compared[1]["trace"]["ids"]
    assert "interventions" not in compared[1]["trace"]


@pytest.mark.parametrize(
    ("endpoint", "arguments", "sentence"),
    [
        ("/inspect", [" "], "The text is empty: enter at least one character."),
        ("/inspect", [[1] * 600], "The text has 600 tokens, but at most 512 are explained: shorten it."),
        ("/inspect", ["The", "tiny-chat", "", [{"layer": 9, "part": "layer"}]], "There is no layer 10"),
        ("/inspect", ["The", "tiny-chat", "Le"], "tiny-chat has no encoder: leave the source out."),
        ("/attribute", ["The", "tiny-chat", 10**9], "There is no token 1000000000"),
        ("/attribute", ["The", "tiny-chat", "The quick brown"], "'The quick brown' is "),
        ("/attribute", ["The", "tiny-chat", None, None, "", 101], "steps is 101, but must be between 0 and 100."),
        ("/inspect", ["Hi", "tiny-chat", "", [], False, [1, "0"]], "head is "),
        ("/inspect", ["Hi", "tiny-chat", "", [], False, [1, 99]], "There is no head 100"),
        ("/patch", [[1, 5, 9], [1, 5], "tiny-chat", 7, 8], "The texts have 3 and 2 tokens, but a patch needs"),
        ("/patch", [[1, 5, 9], [1, 5, 8], "tiny-chat", 7, 7], "Both texts lead to"),
        ("/patch", [[1] * 129, [1] * 129], "The text has 129 tokens, but at most 128 are explained"),
    ],
)
def test_what_cannot_be_is_refused_in_a_sentence(
    client: Client, endpoint: str, arguments: list[Any], sentence: str
) -> None:
    with pytest.raises(AppError) as refused:
        client.predict(*arguments, api_name=endpoint)
    assert str(refused.value).startswith(sentence) and "\n" not in str(refused.value)


def test_the_time_limit_holds_between_passes_and_the_lock_is_free_again(tiny: LoadedModel) -> None:
    models = Models((tiny.name,), lambda name, _: tiny, limits=Limits(run_seconds=0.0))
    with pytest.raises(attend.AttendError, match="This took more than 0 seconds: choose a shorter text"):
        cause_endpoints(models)["patch"]([1, 5, 9], [1, 5, 8], tiny.name, 7, 8)
    assert not tiny.lock.locked()
