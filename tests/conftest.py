"""What several test files share: checkpoints with random weights, made in a moment, and a port that is free."""

from __future__ import annotations

import io
import socket
from pathlib import Path

import pytest
import sentencepiece
import torch

from model import catalog, checkpoint
from model.config import TransformerConfig
from model.loaded import LoadedModel
from model.tokenizer import ASSISTANT, BEGIN, END, USER
from model.transformer import Transformer
from ui.models import Models

pytest_plugins = ("tests.stage", "tests.browsing", "tests.hub_stage")

_TEXT = (
    "Hi! How are you today? I am doing well, thank you. What do you like to do on weekends?",
    "The quick brown fox jumps over the lazy dog, and the dog sleeps.",
    "I feel a bit tired this evening. Do you want to talk about it?",
    "Once upon a time there was a small fox who lived in a big forest.",
)


def make_checkpoint(folder: Path, *, chat: bool = True, context_length: int = 128) -> Path:
    """A whole checkpoint folder: a throw-away tokenizer and a tiny decoder whose weights are random but fixed."""
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


@pytest.fixture(scope="session")
def tiny_checkpoint(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_checkpoint(tmp_path_factory.mktemp("checkpoints") / "tiny-chat")


@pytest.fixture(scope="session")
def tiny(tiny_checkpoint: Path) -> LoadedModel:
    return catalog.load(str(tiny_checkpoint))


@pytest.fixture(scope="session")
def tiny_writer(tmp_path_factory: pytest.TempPathFactory) -> LoadedModel:
    """A model that knows no conversations."""
    return catalog.load(str(make_checkpoint(tmp_path_factory.mktemp("checkpoints") / "tiny-writer", chat=False)))


def unused_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@pytest.fixture(scope="module")
def free_port() -> int:
    return unused_port()


@pytest.fixture
def models(tiny: LoadedModel, tiny_writer: LoadedModel) -> Models:
    """What a page of two models has: one that chats and one that can only write."""
    loaded = {tiny.name: tiny, tiny_writer.name: tiny_writer}
    return Models(tuple(loaded), lambda name, _: loaded[name])
