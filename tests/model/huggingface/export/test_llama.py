"""Our decoder in the Llama layout, held against transformers itself: logits, text, tokenizer and chat template."""

from __future__ import annotations

import json
import random
import re
import shutil
from pathlib import Path
from typing import Any, cast

import pytest
import torch
import yaml
from transformers import AutoModelForCausalLM, AutoTokenizer, LlamaForCausalLM

import attend
import generate
from model import catalog, export, names
from model.errors import AttendError
from model.huggingface.export.llama import write_llama
from model.text.conversation import ChatFormat, Message
from model.text.sentencepiece_tokenizer import Tokenizer
from model.transformer import checkpoint
from model.transformer.config import TransformerConfig
from model.transformer.decoder import Transformer
from tests.helpers import folders
from training.vocabulary import train_vocabulary

VOCABULARY = 400
SHAPES = {
    "as many key/value heads as heads, tied": {},
    "grouped heads": {"key_value_heads": 2},
    "one key/value head": {"key_value_heads": 1},
    "untied": {"tied_embeddings": False},
    "biases": {"biases": "all"},
    "other constants": {"rotary_base": 500_000.0, "norm_epsilon": 1e-3, "feed_forward_width": 80},
}


@pytest.fixture(scope="module")
def tokenizer_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A throw-away vocabulary, trained as the embedded one is."""
    text = "The quick brown fox jumps over the lazy dog. Hello, how are you today?  I am fine, thanks. 1234567890 é"
    path = tmp_path_factory.mktemp("tokenizer") / "tokenizer.model"
    path.write_bytes(train_vocabulary([text] * 50, VOCABULARY))
    return path


def random_model(**options: object) -> Transformer:
    """Random weights far from their initial values, so that no norm is 1 and no bias is 0."""
    torch.manual_seed(0)
    shape = {"width": 64, "layers": 3, "heads": 4, "key_value_heads": 4, "feed_forward_width": 96, "context_length": 96}
    model = Transformer(TransformerConfig.from_dict({"vocabulary_size": VOCABULARY, **shape, **options})).eval()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter += 0.2 * torch.randn_like(parameter)
    return model


def llama(folder: Path) -> LlamaForCausalLM:
    """What transformers makes of a folder, with nothing missing and nothing left over."""
    model, report = cast(Any, AutoModelForCausalLM).from_pretrained(folder, output_loading_info=True)
    assert not any(report[kind] for kind in ("missing_keys", "unexpected_keys", "mismatched_keys"))
    return model


@pytest.mark.parametrize("options", SHAPES.values(), ids=SHAPES)
def test_logits_equal_those_of_transformers(options: dict[str, object], tmp_path: Path) -> None:
    model = random_model(**options)
    write_llama(model, tmp_path)
    reference = llama(tmp_path)
    tokens = torch.randint(VOCABULARY, (3, 90), generator=torch.Generator().manual_seed(1))
    with torch.no_grad():
        ours, expected = model(tokens), reference(tokens).logits
    assert expected.std() > 0.5  # or the comparison would say little
    torch.testing.assert_close(ours, expected, rtol=0, atol=1e-4)


def test_half_precision_weights_are_written_in_full(tmp_path: Path) -> None:
    """transformers computes in the precision of the file, and half of it would cost the equality of the logits."""
    write_llama(random_model().half(), tmp_path)
    assert {p.dtype for p in llama(tmp_path).parameters()} == {torch.float32}


TEXTS = [
    "Hello, how are you today?",
    " led by a space, ending in two  ",
    "two  spaces\tand a tab\n\nand lines\r\n",
    "é, ü and ß; 你好; שלום; e\u0301; 👩🏽‍🚀 \U0001f9ff \u0000",
    "12 345 678.90",
    "",
]
SPELT = ["<s>", "a <user> b", "Hi.<end><user>I obey.<end><assistant>", " <assistant> ", "</s><unk><0x41>"]


@pytest.fixture(scope="module")
def ours(tokenizer_file: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A checkpoint folder of our own, with random weights."""
    folder = tmp_path_factory.mktemp("checkpoints") / "ours"
    checkpoint.save(random_model(), folder, dtype=torch.float32)
    shutil.copy(tokenizer_file, folder / checkpoint.TOKENIZER)
    return folder


@pytest.fixture(scope="module")
def exported(ours: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What `python -m model.export` makes of it."""
    folder = tmp_path_factory.mktemp("exported") / "llama"
    assert export.main([str(ours), str(folder)]) == 0
    return folder


@pytest.fixture(scope="module", params=["tokenizer.model", "tokenizer.json"])
def read_back(request: pytest.FixtureRequest, exported: Path, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """What AutoTokenizer makes of the folder where only this file of the two is left."""
    folder = tmp_path_factory.mktemp("read") / "alone"
    shutil.copytree(exported, folder)
    (folder / ({"tokenizer.model", "tokenizer.json"} - {request.param}).pop()).unlink()
    return AutoTokenizer.from_pretrained(folder)


def test_tokenizer_gives_the_same_ids_and_text(read_back: Any, tokenizer_file: Path) -> None:
    ours = Tokenizer.load(tokenizer_file)
    for text in TEXTS:
        ids = ours.encode(text)
        assert read_back.encode(text, add_special_tokens=False) == ids
        assert read_back.encode(text) == [ours.special_token_id("<s>"), *ids]
        assert read_back.decode(ids) == text
    chance, signs = random.Random(0), [*"abcdefghij lmno  .,!\n\té界😀\u0301", *SPELT]
    chosen = ["".join(chance.choices(signs, k=chance.randint(1, 25))) for _ in range(200)]
    for text in (*SPELT, *chosen):  # typed special tokens stay text where transformers splits them
        assert read_back.encode(text, add_special_tokens=False, split_special_tokens=True) == ours.encode(text)
        assert read_back.decode(ours.encode(text)) == text


def test_the_folder_gives_the_same_in_transformers_and_in_attend(
    ours: Path, exported: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Greedily, from the folder alone: transformers' generate, and generate.py on it and on the checkpoint itself."""
    assert isinstance(catalog.load(str(exported)).model, Transformer)
    documents = []
    for folder in (ours, exported):
        flags = ("--strategy", "greedy", "--max-new-tokens", "40", "--min-new-tokens", "40", "--json", "-")
        assert generate.main(["The quick brown fox", "--model", str(folder), *flags]) == 0
        documents.append(json.loads(capsys.readouterr().out))
    assert (documents[0]["ids"], documents[0]["text"]) == (documents[1]["ids"], documents[1]["text"])
    assert len(documents[0]["ids"]) == 40

    reference: Any = llama(exported)
    tokenizer: Any = AutoTokenizer.from_pretrained(exported)
    inputs = tokenizer("The quick brown fox", return_tensors="pt")
    written = reference.generate(**inputs, max_new_tokens=40, min_new_tokens=40)[0].tolist()
    assert written == [*documents[0]["prompt"]["ids"], *documents[0]["ids"]]


def test_chat_template_writes_a_conversation_as_we_do(read_back: Any, tokenizer_file: Path) -> None:
    talk = [
        Message("user", "Hello, how are you?"),
        Message("assistant", " I am fine, thanks. "),
        Message("user", "fox\n"),
    ]
    ours = ChatFormat(Tokenizer.load(tokenizer_file)).prompt(talk, context_length=96, reserve=0)
    messages = [{"role": message.role, "content": message.text} for message in talk]
    template = read_back.apply_chat_template(messages, add_generation_prompt=True, return_dict=True)
    assert tuple(template["input_ids"]) == ours.ids


def test_what_is_no_llama_is_refused_and_nothing_is_written(tmp_path: Path) -> None:
    others = {"positions": ("learned", "sinusoidal"), "norm": ("layer",), "norm_place": ("after",)}
    for option, values in (others | {"activation": ("relu", "gelu")}).items():
        for value in values:
            with pytest.raises(AttendError, match=f"{option} is '{value}'"):
                write_llama(random_model(**{option: value}), tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_command_exports_a_checkpoint_folder(ours: Path, exported: Path) -> None:
    of_the_model = {"README.md", "config.json", "generation_config.json", "model.safetensors"}
    of_the_tokenizer = {"tokenizer.json", "tokenizer.model", "tokenizer_config.json"}
    assert {path.name for path in exported.iterdir()} == of_the_model | of_the_tokenizer
    tokens = torch.arange(5, 85)[None]  # (1, 80)
    with torch.no_grad():
        logits, expected = checkpoint.load(ours)(tokens), llama(exported)(tokens).logits
    torch.testing.assert_close(logits, expected, rtol=0, atol=1e-4)
    generation, tokenizer = (
        json.loads((exported / "generation_config.json").read_text()),
        Tokenizer.load(ours / checkpoint.TOKENIZER),
    )
    for field, token in (("bos_token_id", "<s>"), ("eos_token_id", "<end>")):
        assert generation[field] == tokenizer.special_token_id(token)


def test_command_says_in_one_sentence_what_is_wrong(
    ours: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    learned, file, out = (tmp_path / name for name in ("learned", "file", "out"))
    checkpoint.save(random_model(positions="learned"), learned)
    shutil.copy(ours / checkpoint.TOKENIZER, learned)
    file.write_text("in the way")
    foreign = folders.llama(tmp_path / "foreign")
    capsys.readouterr()  # what saving says
    for source, target, words in (
        (tmp_path / "no-such-model", out, "no-such-model"),
        (learned, out, "positions"),
        (ours, file, "file"),
        (ours, learned, "learned is not empty: choose a new folder, or add --force to overwrite its files."),
        (foreign, out, "not one of our own models"),  # it is in its own layout already
    ):
        assert export.main([str(source), str(target)]) == 2
        output = capsys.readouterr().err
        assert output.count("\n") == 1 and words in output


def test_only_force_writes_into_a_folder_that_is_not_empty(ours: Path, tmp_path: Path) -> None:
    (out := tmp_path / "out").mkdir()
    (out / "config.json").write_text("mine")
    assert export.main([str(ours), str(out)]) == 2
    assert (out / "config.json").read_text() == "mine" and len(list(out.iterdir())) == 1
    assert export.main([str(ours), str(out), "--force"]) == 0
    assert json.loads((out / "config.json").read_text())["model_type"] == "llama"
    assert "came without a card" in (out / "README.md").read_text(encoding="utf-8")


@pytest.mark.filterwarnings("ignore:Recommended. pip install sacremoses")
@pytest.mark.parametrize(
    ("name", "question", "credit"),
    [
        ("attend-chat", "Hi! How are you today?", "Jandaghi et al., arXiv:2312.10007"),
        ("attend-translate", "Le chat dort.", "CC BY 2.0 FR"),
    ],
)
def test_the_card_of_an_export_loads_it_and_passes_on_licence_and_credits(
    name: str, question: str, credit: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Its lines of Python are run, and say what Attend says: greedily or, the translator, with its four beams."""
    assert export.main([name, str(tmp_path / "out")]) == 0
    card = (tmp_path / "out" / "README.md").read_text(encoding="utf-8")
    original = (names.EMBEDDED / name / "README.md").read_text(encoding="utf-8")
    front = yaml.safe_load(card.split("---\n")[1])
    known = yaml.safe_load(original.split("---\n")[1])
    task = {"attend-chat": "text-generation", "attend-translate": "translation"}[name]
    assert front == {**known, "library_name": "transformers", "pipeline_tag": task}
    assert front["license"] == "apache-2.0"
    assert credit in card and "## Data\n" in card and "## What it cannot do\n" in card
    assert not re.search(r"\]\((?!https://)", card)  # no link to a file that is not there
    capsys.readouterr()
    exec(re.findall(r"```python\n(.*?)```", card, flags=re.DOTALL)[0], {"FOLDER": str(tmp_path / "out")})
    output = capsys.readouterr().out.splitlines()[-1]
    model = attend.load(name)
    expected = model.chat(question, strategy="greedy") if model.can_chat else model.generate(question)
    assert output == expected.text
