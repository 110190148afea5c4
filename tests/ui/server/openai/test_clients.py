"""Programs that people point at the page: lm-evaluation-harness and LangChain. `make test-clients` installs them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

import attend
from model.loaded import LoadedModel
from training.blimp import accuracy, log_probability

NEEDS_LM_EVAL = pytest.mark.skipif(find_spec("lm_eval") is None, reason="lm_eval is not installed: make test-clients")
NEEDS_LANGCHAIN = pytest.mark.skipif(
    find_spec("langchain_openai") is None, reason="langchain-openai is not installed: make test-clients"
)

NOUNS = ("dog", "cat", "girl", "boy", "bird", "tree")
PAIRS = [
    (f"The {noun} {good}.", f"The {noun} {bad}.")
    for noun in NOUNS
    for good, bad in (("is big", "are big"), ("has", "have"))
]
QUESTIONS = [
    ("The sun is very", [" hot", " dog"]),
    ("She went to the", [" park", " is"]),
    ("He ate an", [" apple", " went"]),
]
HELLO = "Hello! How are you?"


def evaluate(
    folder: Path, address: str, task: dict[str, Any], documents: list[dict[str, Any]], *flags: str
) -> list[Any]:
    """The samples that lm-eval writes, in their order, of one task of these documents."""
    (folder / "documents.jsonl").write_text("".join(json.dumps(each) + "\n" for each in documents), encoding="utf-8")
    data = {"dataset_path": "json", "dataset_kwargs": {"data_files": {"test": str(folder / "documents.jsonl")}}}
    declared = {"task": "ours", "test_split": "test", "num_fewshot": 0, **data, **task}
    (folder / "task.yaml").write_text(json.dumps(declared), encoding="utf-8")  # which is YAML, too
    command = [sys.executable, "-m", "lm_eval", "--tasks", "ours", "--include_path", str(folder), "--log_samples"]
    offline = {
        "HF_HUB_OFFLINE": "1",
        "HF_DATASETS_OFFLINE": "1",
        "OPENAI_API_KEY": "none",
        "HF_HOME": str(folder / "home"),
    }
    model = [
        "--model_args",
        f"model=attend-chat,base_url={address},max_length=512",
        "--output_path",
        str(folder / "out"),
    ]
    ran = subprocess.run(
        [*command, *model, *flags],
        env={**os.environ, **offline},
        capture_output=True,
        text=True,
        cwd=folder,
        timeout=300,
    )
    assert ran.returncode == 0, ran.stderr[-3000:]
    (written,) = (folder / "out").rglob("samples_*.jsonl")
    samples = [json.loads(line) for line in written.read_text(encoding="utf-8").splitlines()]
    return sorted(samples, key=lambda sample: sample["doc_id"])


def multiple_choice(text: str, choices: str) -> dict[str, Any]:
    """A task whose first choice is the right one."""
    scored = {"output_type": "multiple_choice", "target_delimiter": "", "metric_list": [{"metric": "acc"}]}
    return {**scored, "doc_to_text": text, "doc_to_choice": choices, "doc_to_target": 0}


@NEEDS_LM_EVAL
def test_lm_eval_scores_minimal_pairs_as_training_evaluate_does(server: str, chat: LoadedModel, tmp_path: Path) -> None:
    task = multiple_choice("", "{{[good, bad]}}")
    documents = [{"good": good, "bad": bad} for good, bad in PAIRS]
    flags = ("--model", "local-completions", "--batch_size", "8")
    samples = evaluate(tmp_path, f"{server}/v1/completions", task, documents, *flags)
    for sample, pair in zip(samples, PAIRS, strict=True):
        measured = [float(response[0][0]) for response in sample["resps"]]
        assert measured == pytest.approx([log_probability(chat, sentence) for sentence in pair], abs=1e-4)
    assert sum(sample["acc"] for sample in samples) / len(PAIRS) == accuracy(chat, PAIRS)


@NEEDS_LM_EVAL
def test_lm_eval_scores_choices_behind_a_question(server: str, chat: LoadedModel, tmp_path: Path) -> None:
    task = multiple_choice("{{question}}", "{{choices}}")
    documents = [{"question": question, "choices": choices} for question, choices in QUESTIONS]
    samples = evaluate(tmp_path, f"{server}/v1/completions", task, documents, "--model", "local-completions")
    for sample, (question, choices) in zip(samples, QUESTIONS, strict=True):
        before = chat.tokenizer.encode(question, begins=True)
        for response, choice in zip(sample["resps"], choices, strict=True):
            ids = chat.tokenizer.encode(question + choice, begins=True)[len(before) :]
            logits = chat.model.logits(before, ids).log_softmax(dim=-1)  # (T, V)
            assert float(response[0][0]) == pytest.approx(float(logits[range(len(ids)), ids].sum()), abs=1e-4)


@NEEDS_LM_EVAL
def test_lm_eval_chats(server: str, chat: LoadedModel, tmp_path: Path) -> None:
    task = {
        "output_type": "generate_until",
        "doc_to_text": "{{question}}",
        "doc_to_target": "{{question}}",
        "generation_kwargs": {"until": ["never"], "max_gen_toks": 20, "do_sample": False, "temperature": 0},
        "metric_list": [{"metric": "exact_match"}],
    }
    questions = [HELLO, "What is your name?"]
    flags = ("--model", "local-chat-completions", "--apply_chat_template")
    documents = [{"question": question} for question in questions]
    samples = evaluate(tmp_path, f"{server}/v1/chat/completions", task, documents, *flags)
    ours = [attend.Model(chat).chat(question, temperature=0, max_new_tokens=20).text for question in questions]
    assert [sample["resps"][0][0] for sample in samples] == ours


@NEEDS_LANGCHAIN
def test_langchain_answers_streams_and_reads_log_probabilities(server: str, chat: LoadedModel) -> None:
    from langchain_openai import ChatOpenAI  # type: ignore[import-not-found]  # make test-clients installs it

    model = ChatOpenAI(model=chat.name, base_url=f"{server}/v1", api_key="none", temperature=0, max_tokens=20)
    run = attend.Model(chat).chat(HELLO, temperature=0, max_new_tokens=20)
    answer = model.bind(logprobs=True, top_logprobs=2).invoke(HELLO)
    assert answer.content == run.text
    logprobs = [each["logprob"] for each in answer.response_metadata["logprobs"]["content"]]
    assert logprobs == pytest.approx([token.log_probability for token in run.tokens], abs=1e-4)
    assert "".join(chunk.content for chunk in model.stream(HELLO)) == run.text
