"""Shared fixtures: small checkpoints with random weights, and a free port."""

from __future__ import annotations

import gc
import io
import itertools
import os
import random
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import hypothesis
import numpy as np
import pytest
import sentencepiece
import torch

from model import catalog, threads
from model.loaded import LoadedModel
from model.text.sentencepiece_tokenizer import ASSISTANT, BEGIN, END, USER, Tokenizer
from model.transformer import checkpoint
from model.transformer.config import TransformerConfig
from model.transformer.decoder import Transformer
from model.transformer.encoder_decoder import build
from tests import compiling
from tests.browser.chromium import HINT, REASON
from tests.helpers.paths import ROOT
from training.vocabulary import train_pairs_vocabulary
from ui.runs.models import Models

pytest_plugins = ("tests.helpers.hub_stage",)

hypothesis.settings.register_profile("same examples every time", derandomize=True, deadline=None, database=None)
hypothesis.settings.load_profile("same examples every time")


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup() -> None:
    """Every test begins with the same global random numbers, whatever ran before it in its process."""
    random.seed(1)
    np.random.seed(1)
    torch.manual_seed(1)


@pytest.fixture(autouse=True)
def said_seed(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A test fails if one of its runs leaves the seed to chance, since it would pass on some days only.

    A test that is about such runs asks for `counted_seeds`.
    """
    left_to_chance: list[str] = []

    def refuse() -> int:
        left_to_chance.append("a run's seed was left to chance: give it one, or ask for counted_seeds")
        raise AssertionError(left_to_chance[-1])  # which another thread may handle

    if "counted_seeds" not in request.fixturenames:
        monkeypatch.setattr(DRAW_SEED, refuse)
    yield
    assert not left_to_chance, left_to_chance[0]


@pytest.fixture
def counted_seeds(monkeypatch: pytest.MonkeyPatch) -> None:
    """Runs whose settings leave the seed to chance get 1, 2, 3 and so on."""
    monkeypatch.setattr(DRAW_SEED, itertools.count(1).__next__)


@pytest.fixture(scope="session", autouse=True)
def compiled_once() -> None:
    """No test waits for the compiler, except a few that need a precision which another process is still compiling."""
    several = "PYTEST_XDIST_WORKER" in os.environ
    compiling.compile_for(*(compiling.DTYPES[:1] if several else compiling.DTYPES))


def pytest_configure(config: pytest.Config) -> None:
    """Where several processes run the tests, another one compiles while they collect them."""
    if config.getoption("numprocesses", None) and not hasattr(config, "workerinput"):
        command = [sys.executable, "-m", compiling.__name__]
        process = subprocess.Popen(command, cwd=ROOT, stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        config.add_cleanup(lambda: process.__exit__(None, None, None))  # which waits for its end


DRAW_SEED = "decoding.settings.decoding_settings.draw_seed"
_TEXT = (
    "Hi! How are you today? I am doing well, thank you. What do you like to do on weekends?",
    "The quick brown fox jumps over the lazy dog, and the dog sleeps.",
    "I feel a bit tired this evening. Do you want to talk about it?",
    "Once upon a time there was a small fox who lived in a big forest.",
)
_ADJECTIVES = ("grand", "petit", "noir", "vieux")


def make_checkpoint(folder: Path, *, chat: bool = True, context_length: int = 128) -> Path:
    """A complete checkpoint folder: a throw-away tokenizer and a tiny decoder with fixed random weights."""
    roles = [END, USER, ASSISTANT] if chat else [END]
    written = io.BytesIO()
    sentencepiece.SentencePieceTrainer.Train(
        sentence_iterator=iter(_TEXT * 20),
        model_writer=written,
        model_type="bpe",
        vocab_size=400,
        character_coverage=1.0,
        byte_fallback=True,
        normalization_rule_name="identity",
        add_dummy_prefix=False,
        remove_extra_whitespaces=False,
        control_symbols=roles,
        bos_piece=BEGIN,
        eos_id=-1,
        pad_id=-1,
        hard_vocab_limit=False,
        minloglevel=2,
    )
    folder.mkdir(parents=True, exist_ok=True)
    (folder / checkpoint.TOKENIZER).write_bytes(written.getvalue())
    pieces = sentencepiece.SentencePieceProcessor(model_proto=written.getvalue())
    torch.manual_seed(7)
    config = TransformerConfig(
        vocabulary_size=len(pieces),
        context_length=context_length,
        width=32,
        layers=2,
        heads=4,
        key_value_heads=2,
        feed_forward_width=64,
    )
    checkpoint.save(Transformer(config), folder)
    return folder


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> Iterator[None]:
    """One line at the end says what no browser has tested, and how to get one."""
    yield
    skipped = sum(REASON in str(report.longrepr) for report in terminalreporter.stats.get("skipped", ()))
    if skipped:
        terminalreporter.write_line(f"{skipped} tests were skipped, since {REASON}: {HINT}.", yellow=True)


def pytest_collection_finish() -> None:
    """Models are garbage-collected often; freezing what is imported by now keeps that fast."""
    gc.freeze()


@pytest.fixture(scope="session", autouse=True)
def one_thread() -> Iterator[None]:
    """Commands under test neither measure the fastest number of threads nor leave more than one set."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(threads, "available_processors", lambda: 1)
        yield


@pytest.fixture(scope="session")
def tiny_checkpoint(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_checkpoint(tmp_path_factory.mktemp("checkpoints") / "tiny-chat")


@pytest.fixture(scope="session")
def tiny(tiny_checkpoint: Path) -> LoadedModel:
    return catalog.load(str(tiny_checkpoint))


@pytest.fixture(scope="session")
def tiny_writer(tmp_path_factory: pytest.TempPathFactory) -> LoadedModel:
    """A model without a chat format."""
    return catalog.load(str(make_checkpoint(tmp_path_factory.mktemp("checkpoints") / "tiny-writer", chat=False)))


def make_translator(folder: Path) -> Path:
    """The same for an untrained encoder-decoder."""
    sentences = [
        f"Le {noun} {number} est {adjective}."
        for noun in ("chat", "chien")
        for number in range(9)
        for adjective in _ADJECTIVES
    ]
    vocabulary = train_pairs_vocabulary([*sentences, *_TEXT], 360)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / checkpoint.TOKENIZER).write_bytes(vocabulary)
    size = Tokenizer.load(folder / checkpoint.TOKENIZER, padded=True).vocabulary_size
    torch.manual_seed(7)
    config = TransformerConfig(
        vocabulary_size=size,
        context_length=128,
        width=32,
        layers=2,
        encoder_layers=3,
        heads=4,
        key_value_heads=4,
        feed_forward_width=64,
        positions="sinusoidal",
        norm="layer",
        norm_place="after",
        activation="relu",
        biases="all",
    )
    checkpoint.save(build(config), folder)
    return folder


@pytest.fixture(scope="session")
def tiny_translator(tmp_path_factory: pytest.TempPathFactory) -> LoadedModel:
    """An encoder-decoder."""
    return catalog.load(str(make_translator(tmp_path_factory.mktemp("checkpoints") / "tiny-translate")))


def unused_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@pytest.fixture(scope="module")
def free_port() -> int:
    return unused_port()


@pytest.fixture
def models(tiny: LoadedModel, tiny_writer: LoadedModel) -> Models:
    """The models of a page with two: one that chats, and one that can only continue a text."""
    loaded = {tiny.name: tiny, tiny_writer.name: tiny_writer}
    return Models(tuple(loaded), lambda name, _: loaded[name])
