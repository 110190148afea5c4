"""Hugging Face folders: both engines agree with transformers, and unreadable folders are refused in one sentence."""

from __future__ import annotations

import json
import math
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file, save_file
from transformers import (
    AutoModelForCausalLM,
    AutoTokenizer,
    GPTNeoXConfig,
    GPTNeoXForCausalLM,
    OPTConfig,
    OPTForCausalLM,
)

import generate
from model import catalog
from model.errors import AttendError
from model.huggingface.architectures import check_config
from model.huggingface.causal import HuggingFaceModel
from model.huggingface.folder import load_model
from model.huggingface.weights import CheckpointFiles
from model.loaded import LoadedModel
from model.transformer.decoder import Transformer
from tests.helpers.folders import byte_level, change_json, gpt2, llama, sentence_piece
from tests.helpers.paths import ROOT
from ui.chat import chat_actions as chat
from ui.runs.models import Models
from ui.runs.session import Session
from ui.write import history
from ui.write import write_actions as write

CHECKPOINTS = ROOT.parent / "shared" / "checkpoints"
START = "Once upon a time"
FAMILIES: dict[str, Callable[..., Path]] = {"gpt2": gpt2, "llama": llama}
ENGINES = {"native": Transformer, "adapter": HuggingFaceModel}


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    return {name: make(tmp_path_factory.mktemp("folders") / name) for name, make in FAMILIES.items()}


@pytest.fixture
def copied(folders: dict[str, Path], tmp_path: Path) -> Path:
    """A copy of a complete Llama, to be damaged."""
    return Path(shutil.copytree(folders["llama"], tmp_path / "spoilt"))


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("name", FAMILIES)
def test_logits_and_greedy_text_are_those_of_transformers(
    name: str,
    engine: str,
    folders: dict[str, Path],
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    loaded = catalog.load(str(folders[name]), engine)
    assert isinstance(loaded.model, ENGINES[engine])
    reference: Any = AutoModelForCausalLM.from_pretrained(folders[name])
    tokenizer = AutoTokenizer.from_pretrained(folders[name])
    fed = tokenizer(START, return_tensors="pt")
    ids = loaded.prompt(START)
    assert list(ids) == fed.input_ids[0].tolist()
    with torch.no_grad():
        expected = reference(**fed).logits[0]
        answer = reference.generate(**fed, do_sample=False, max_new_tokens=20, min_new_tokens=20)[0]
    assert torch.allclose(loaded.model.inspect(ids).logits, expected, atol=1e-4)

    monkeypatch.setattr("model.threads.fastest_threads", lambda model: 1)
    flags = ("--strategy", "greedy", "--max-new-tokens", "20", "--min-new-tokens", "20", "--engine", engine)
    assert generate.main([START, "--model", str(folders[name]), *flags]) == 0
    assert START + capsys.readouterr().out.removesuffix("\n") == tokenizer.decode(answer, skip_special_tokens=True)


def test_where_a_text_begins_and_ends(folders: dict[str, Path]) -> None:
    blank, marked = (catalog.load(str(folders[name])) for name in ("gpt2", "llama"))
    assert (blank.prefix_tokens, blank.end_tokens) == ((), {0})
    assert blank.chat is not None and blank.chat.manner == "plain transcript"
    assert (marked.prefix_tokens, marked.end_tokens) == ((1,), {2})
    assert marked.chat is not None


def test_all_ends_count(folders: dict[str, Path], tmp_path: Path) -> None:
    folder = gpt2(tmp_path / "chat", "{% for m in messages %}{{ m.content + '<|im_end|>' }}{% endfor %}")
    change_json(folder / "generation_config.json", eos_token_id=[5, 7, 10**9])
    tokenizer = byte_level()
    named: Any = tokenizer.convert_tokens_to_ids(["<|endoftext|>", "<|im_end|>"])
    loaded = catalog.load(str(folder))
    assert loaded.end_tokens == {5, 7, *named}
    assert [note for note in loaded.notes if "eos_token_id" in note] == [
        f"The eos_token_id of chat is {10**9}, which its vocabulary of {loaded.model.vocabulary_size:,} tokens lacks: "
        "Attend ignores it."
    ]


def test_shards_are_one_model(folders: dict[str, Path], tmp_path: Path) -> None:
    folder = llama(tmp_path / "shards", shard="20KB")
    assert len(list(folder.glob("*.safetensors"))) > 1
    single, parts = (catalog.load(str(path)) for path in (folders["llama"], folder))
    assert torch.equal(parts.model.inspect([1, 5, 9]).logits, single.model.inspect([1, 5, 9]).logits)


def test_a_family_without_a_layout_of_ours_is_adapted(tmp_path: Path) -> None:
    tokenizer = byte_level(None)
    sizes: dict[str, Any] = {"hidden_size": 32, "ffn_dim": 48, "word_embed_proj_dim": 32}
    layers: dict[str, Any] = {"num_hidden_layers": 2, "num_attention_heads": 4, "max_position_embeddings": 64}
    OPTForCausalLM(OPTConfig(vocab_size=len(tokenizer), **sizes, **layers)).save_pretrained(tmp_path)
    tokenizer.save_pretrained(tmp_path)
    loaded = catalog.load(str(tmp_path))
    assert isinstance(loaded.model, HuggingFaceModel)
    reference: Any = AutoModelForCausalLM.from_pretrained(tmp_path)
    with torch.no_grad():
        expected = reference(torch.tensor([loaded.prompt(START)])).logits[0]
    assert torch.allclose(loaded.model.inspect(loaded.prompt(START)).logits, expected, atol=1e-4)
    with pytest.raises(AttendError, match="leave --engine out"):
        catalog.load(str(tmp_path), "native")


def stripped(folder: Path) -> None:
    for path in folder.glob("*.safetensors"):
        path.rename(path.with_name("pytorch_model.bin"))


def cut_short(folder: Path) -> None:
    path = folder / "model.safetensors"
    path.write_bytes(path.read_bytes()[:-100])


def weights(change: Callable[[dict[str, torch.Tensor]], object]) -> Callable[[Path], None]:
    def spoil(folder: Path) -> None:
        stored = load_file(folder / "model.safetensors")
        change(stored)
        save_file(stored, folder / "model.safetensors", {"format": "pt"})

    return spoil


KEYS = "model.layers.0.self_attn.k_proj.weight"
lacking = weights(lambda stored: stored.pop("model.layers.1.mlp.up_proj.weight"))
with_more = weights(lambda stored: stored.update({"model.layers.0.mlp.up_proj.scale": torch.ones(48)}))
# Our transformer concatenates queries, keys and values, so these keys no longer fit.
narrowed = weights(lambda stored: stored.update({KEYS: stored[KEYS][:, 1:].contiguous()}))


def headless(folder: Path) -> None:
    """As `LlamaModel.save_pretrained` leaves it, with embeddings that are not tied."""

    def change(stored: dict[str, torch.Tensor]) -> None:
        del stored["lm_head.weight"]
        for name in [*stored]:
            stored[name.removeprefix("model.")] = stored.pop(name)

    weights(change)(folder)
    change_json(folder / "config.json", architectures=["LlamaModel"])


def index(**weight_map: object) -> Callable[[Path], None]:
    def spoil(folder: Path) -> None:
        (folder / "model.safetensors").unlink()
        (folder / "model.safetensors.index.json").write_text(json.dumps({"weight_map": weight_map}))

    return spoil


def another_tokenizer(folder: Path) -> None:
    tokenizer = sentence_piece()
    tokenizer.add_tokens(["fennec"])
    tokenizer.save_pretrained(folder)


UNEMBEDDING = r"The tokenizer has \d+ tokens, but its model has 900: they belong to different checkpoints"


def config(**changes: Any) -> Callable[[Path], None]:
    return lambda folder: change_json(folder / "config.json", **changes)


def six_thousand_digits(folder: Path) -> None:
    """Python reads an int of at most 4,300."""
    path = folder / "config.json"
    path.write_text(path.read_text().replace("{", '{"hidden_size": ' + "9" * 6000 + ",", 1))


def generation(**changes: Any) -> Callable[[Path], None]:
    return lambda folder: change_json(folder / "generation_config.json", **changes)


@pytest.mark.parametrize(
    ("spoil", "engine", "words"),
    [
        (stripped, "auto", r"only pickled weights \(pytorch_model\.bin\)"),
        (lambda folder: (folder / "model.safetensors").unlink(), "auto", r"has no model\.safetensors"),
        (cut_short, "adapter", r"model\.safetensors is damaged or incomplete"),
        (lacking, "native", r"has no weight model\.layers\.1\.mlp\.up_proj\.weight"),
        (lacking, "adapter", r"has no weight model\.layers\.1\.mlp\.up_proj\.weight"),
        (with_more, "native", "run it without these weights with --engine adapter"),
        (index(a="one.safetensors"), "auto", r"has no one\.safetensors"),
        (index(a="../one.safetensors"), "auto", "does not list the weight files"),
        (index(), "auto", "does not list the weight files"),
        (another_tokenizer, "auto", "belong to different checkpoints"),
        (config(model_type="mine", auto_map={"AutoModelForCausalLM": "modeling.Mine"}), "auto", "never run"),
        (config(architectures=["LlamaForSequenceClassification"]), "auto", "can't generate text"),
        (headless, "auto", r"has no output matrix \(lm_head\.weight\), without which it can't generate text"),
        (config(model_type="llava", architectures=["LlavaForConditionalGeneration"]), "auto", "which needs images"),
        (config(model_type="whisper", architectures=["WhisperForConditionalGeneration"]), "auto", "which needs sound"),
        (config(model_type=["llama"]), "auto", "has no model type"),
        (config(vocab_size=900), "native", UNEMBEDDING),
        (config(vocab_size=900), "adapter", UNEMBEDDING),
        (config(hidden_size=48), "native", "belong to different models"),
        (narrowed, "native", r"model\.layers\.0\.self_attn\.k_proj\.weight as 16 × 31, but .* 16 × 32"),
        (config(), "swift", "choose one of auto, native, adapter"),
        (config(architectures=5), "auto", "has architectures 5, which must be a list of names"),
        (
            config(max_position_embeddings=0),
            "adapter",
            "max_position_embeddings 0, which must be a whole number above 0 and",
        ),
        (
            config(max_position_embeddings=2**24 + 1),
            "auto",
            "max_position_embeddings 16777217, which must .* 16,777,216",
        ),
        (config(rope_scaling={"rope_type": "dynamic", "factor": 1e9}), "auto", "factor 1000000000.0, which must be a"),
        (config(text_config={"n_positions": "9"}), "auto", "n_positions 9, which must be a whole number"),
        (config(rope_theta=0), "adapter", "rope_theta 0, which must be a number above 0 and up to"),
        (config(rope_parameters={"rope_type": "default", "rope_theta": math.nan}), "auto", "rope_theta nan"),
        (six_thousand_digits, "auto", "cannot be read as JSON"),
        (generation(bad_words_ids=5), "auto", "has bad_words_ids 5, which must be a list of lists of token ids"),
        (config(hidden_act="relu"), "native", "transformer, since its hidden_act is 'relu': leave --engine out"),
        (config(rope_scaling={"rope_type": "yarn", "factor": 2.0}), "native", "since its rope_(scaling|parameters) is"),
        (config(brand_new=True), "native", "since its brand_new is 'True'"),
    ],
)
def test_what_cannot_be_read_is_refused_in_one_sentence(
    copied: Path, spoil: Callable[[Path], None], engine: str, words: str
) -> None:
    spoil(copied)
    with pytest.raises(AttendError, match=words) as refused:
        catalog.load(str(copied), engine)
    assert "\n" not in str(refused.value)


def test_weights_that_transformers_ignores_are_named(copied: Path) -> None:
    with_more(copied)
    loaded = catalog.load(str(copied))
    assert isinstance(loaded.model, HuggingFaceModel)
    assert (
        "transformers ignores weights of spoilt (model.layers.0.mlp.up_proj.scale): its results may differ from those "
        "of its authors' own code."
    ) in loaded.notes


@pytest.mark.parametrize(("field", "value"), [("brand_new", True), ("rope_interleaved", True), ("hidden_act", "relu")])
def test_a_field_that_transformers_ignores_is_named(copied: Path, field: str, value: object) -> None:
    change_json(copied / "config.json", **{field: value})
    loaded = catalog.load(str(copied))
    assert isinstance(loaded.model, HuggingFaceModel)
    note = (
        f"spoilt runs through transformers, which ignores a field of its config.json (its {field} is '{value}'): its "
        "results may differ from those of its authors' own code."
    )
    assert [each for each in loaded.notes if "ignores" in each] == ([note] if field != "hidden_act" else [])


def test_what_is_only_ever_a_decoder_writes_whatever_its_config_says_of_that(tmp_path: Path) -> None:
    """transformers writes `is_decoder: false` for a GPT-NeoX, which is how an encoder would look in other families."""
    sizes: dict[str, Any] = {"vocab_size": 40, "hidden_size": 32, "num_hidden_layers": 1, "num_attention_heads": 4}
    GPTNeoXForCausalLM(GPTNeoXConfig(**sizes, intermediate_size=32, is_decoder=False)).save_pretrained(tmp_path)
    files = CheckpointFiles.read(tmp_path, "a GPT-NeoX")
    check_config(files.config, files.name)
    with pytest.raises(
        AttendError, match="a GPT-NeoX can't run as Attend's own transformer, since its model_type is 'gpt_neox'"
    ):
        load_model(files, "native")


@pytest.fixture(params=FAMILIES)
def foreign(request: pytest.FixtureRequest, folders: dict[str, Path]) -> LoadedModel:
    return catalog.load(str(folders[request.param]))


def test_write_goes_on_in_the_text_that_was_typed(foreign: LoadedModel) -> None:
    session, models = Session(), Models((foreign.name,), lambda name, _: foreign)
    settings = generate.DecodingSettings(strategy="greedy", max_new_tokens=5, min_new_tokens=5)
    for typed in (START, "a fox 😀 sat"):
        update = list(write.write(session, models, foreign.name, typed, settings))[-1]
        run = session.run(session.draft.run)
        assert run.ids[:-5] == foreign.prompt(typed)
        assert run.first == max(1, len(foreign.prefix_tokens))  # the first token of all has nothing it was chosen from
        assert update.text is not None and update.text.startswith(typed)
        longer = f"{update.text} the cat"
        write.preview(session, models, foreign.name, longer)
        grown = session.run(session.draft.run)
        assert grown.ids[: len(run.ids)] == run.ids  # the model's own tokens stay as they were
        assert foreign.tokenizer.decode(grown.ids, begins=True) == longer
        history.clear(session, models, foreign.name)


def test_chat_answers_with_the_template(folders: dict[str, Path]) -> None:
    loaded = catalog.load(str(folders["llama"]))
    session, models = Session(), Models((loaded.name,), lambda name, _: loaded)
    settings = generate.DecodingSettings(strategy="greedy", max_new_tokens=4, min_new_tokens=4)
    for message in ("Hi! How are you?", "the cat </s> sat"):
        list(chat.send(session, models, loaded.name, message, settings))
    assert [turn.role for turn in session.turns] == ["user", "assistant"] * 2
    assert session.newest_answer is not None
    ids = session.newest_answer.ids[:-4]
    assert [piece for piece in ids if loaded.tokenizer.is_special(piece)] == [1, 2, 1]  # <s> … </s> <s> …


@pytest.mark.parametrize("name", ["stories260K", "stories260K-sharded"])
@pytest.mark.parametrize("engine", ENGINES)
def test_a_trained_checkpoint_continues_a_story(name: str, engine: str, capsys: pytest.CaptureFixture[str]) -> None:
    """The expected words stand in the checkpoint's NOTICE; karpathy/llama2.c, tinyllamas, stories260K."""
    if not (CHECKPOINTS / name).is_dir():
        pytest.skip("the checkpoint is not here")
    flags = ("--strategy", "greedy", "--max-new-tokens", "32", "--engine", engine)
    assert generate.main([START, "--model", str(CHECKPOINTS / name), *flags]) == 0
    output = capsys.readouterr().out
    assert output.startswith(", there was a little girl named Lily. She loved to play outside in the park.")
