"""Folders of encoder-decoders: sources, texts and attention equal those of transformers everywhere in Attend."""

from __future__ import annotations

import base64
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from transformers import AutoModelForSeq2SeqLM, AutoTokenizer

from decoding.settings import DecodingSettings
from model import catalog
from model.errors import AttendError
from model.text.conversation import Message
from tests.helpers.folders import marian, t5
from ui.chat import chat_actions as chat
from ui.compare.compare_endpoint import compare_endpoint
from ui.runs.attention_rows import restore_attention
from ui.runs.models import Models
from ui.runs.session import Session
from ui.write import write_actions as write
from ui.write.write_endpoint import generate_endpoint

FAMILIES: dict[str, Callable[[Path], Path]] = {"t5": t5, "marian": marian}
SOURCE = "the cat sat on the mat"
HOW = {"strategy": "beam", "num_beams": 3, "max_new_tokens": 12}


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    return {name: make(tmp_path_factory.mktemp("answering") / name) for name, make in FAMILIES.items()}


def reference(folder: Path, source: str, **options: Any) -> list[int]:
    """The output of transformers, without start, end and padding tokens."""
    tokenizer: Any = AutoTokenizer.from_pretrained(str(folder), local_files_only=True)
    model: Any = AutoModelForSeq2SeqLM.from_pretrained(str(folder), local_files_only=True).eval()
    inputs = tokenizer([source], return_tensors="pt")
    with torch.no_grad():
        output = model.generate(
            **{key: inputs[key] for key in ("input_ids", "attention_mask")}, do_sample=False, **options
        )
    ending = {tokenizer.eos_token_id, tokenizer.pad_token_id}
    return [piece for piece in output[0].tolist() if piece not in ending]


@pytest.mark.parametrize("name", FAMILIES)
@pytest.mark.parametrize("text", [SOURCE, "Hi! How are you?", "the </s> <pad> cat"])
def test_a_source_is_framed_as_in_transformers_and_never_parsed(folders: dict[str, Path], name: str, text: str) -> None:
    loaded = catalog.load(str(folders[name]))
    tokenizer: Any = AutoTokenizer.from_pretrained(str(folders[name]), local_files_only=True)
    assert loaded.chat is not None
    ids = loaded.chat.prompt([Message("user", "Hi"), Message("user", text)], context_length=64, reserve=8).ids
    assert ids == loaded.prompt(text)
    ends = [index for index, piece in enumerate(ids) if piece == tokenizer.eos_token_id]
    assert ends == [len(ids) - 1]  # the one that the tokenizer puts there
    if "<" not in text:
        assert list(ids) == tokenizer(text).input_ids


def test_suppressed_tokens_are_never_generated(folders: dict[str, Path]) -> None:
    loaded = catalog.load(str(folders["marian"]))
    padding = loaded.model.vocabulary_size - 1
    assert loaded.rules.suppress_tokens == {padding}
    document = generate_endpoint(Models([loaded.name], lambda *_: loaded))(SOURCE, loaded.name, {"strategy": "greedy"})
    assert "suppress_tokens" in document["steps"][0]["stages"]
    assert all(step["kept"][1] == step["kept"][0] - 1 for step in document["steps"])  # it alone is removed
    assert padding not in document["ids"]


@pytest.mark.parametrize("name", FAMILIES)
def test_the_page_answers_shows_and_compares(folders: dict[str, Path], name: str) -> None:
    loaded = catalog.load(str(folders[name]))
    models, session = Models([name], lambda *_: loaded), Session()
    settings = DecodingSettings.from_dict(HOW)
    for text in ("Hi!", SOURCE):  # the second message is a source of its own
        *_, last = chat.send(session, models, name, text, settings)
        assert last.answer and last.answer["state"] == "done"
    run = session.run(session.inspected_run)
    first = len(loaded.prompt(SOURCE)) + len(loaded.model.decoder_start)
    assert list(run.ids[:first]) == [*loaded.prompt(SOURCE), *loaded.model.decoder_start]
    assert [piece for piece in run.ids[first:] if piece not in loaded.end_tokens] == reference(
        folders[name], SOURCE, num_beams=3, max_new_tokens=12
    )
    assert run.length == len(run.ids) - len(loaded.prompt(SOURCE))  # what the meter shows
    rows = [token.row for token in run.tokens]
    assert all(rows[first:])
    run.tokens = [replace(token, row=None) for token in run.tokens]  # let go, as of a long conversation
    restore_attention(run, loaded.model, loaded.lock)
    for token, row in zip(run.tokens[first:], rows[first:], strict=True):
        assert token.row is not None and row is not None
        pairs = zip(base64.b64decode(token.row), base64.b64decode(row), strict=True)
        assert all(abs(now - before) <= 1 for now, before in pairs)  # a pass of one token rounds otherwise
    with pytest.raises(AttendError, match="use it in Translate"):
        list(write.write(session, models, name, SOURCE, settings))
    compared = compare_endpoint(models)(SOURCE, name, [{"strategy": "greedy"}, HOW], True, False, [])
    assert len(compared["cards"]) == 2
