"""What a stranger's checkpoint makes a library compute is computed in a process with limits first, in every format."""

from __future__ import annotations

import json
import math
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from transformers import PreTrainedTokenizerFast

from model import catalog, device
from model.huggingface.trial import limits, reading
from tests.helpers.folders import bert, change_json, gpt2
from tests.helpers.folders import refusal as refused
from tests.helpers.waiting import LONGEST
from tests.model.gguf.test_gguf import llama as llama_model
from tests.model.gguf.test_gguf import written


def refusal(path: Path, load: Callable[[str], object] = catalog.load) -> str:
    return refused(load, str(path))


def test_a_long_token_without_merges_is_refused_by_its_size(tmp_path: Path) -> None:
    """transformers recovers the merges in the square of its length."""
    tokens = [f"<t{number}>" for number in range(299)]
    keys = {
        "tokenizer.ggml.tokens": [*tokens, "a" * 4_000_000],
        "tokenizer.ggml.merges": None,
        "tokenizer.ggml.scores": [0.0] * 300,
        "tokenizer.ggml.token_type": [1] * 300,
    }
    path = written(tmp_path / "m.gguf", llama_model(), keys=keys)
    assert "has a token of 4,000,000 characters, but a token may have at most 10,000: choose another" in refusal(path)


def test_more_tokens_than_the_model_has_are_refused_before_a_tokenizer_is_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("model.huggingface.gguf.GgufCheckpoint.tokenizer", None)
    path = written(tmp_path / "m.gguf", llama_model(), keys={"tokenizer.ggml.tokens": [f"<{n}>" for n in range(9_000)]})
    assert refusal(path).startswith("The tokenizer has 9,000 tokens, but its model has ")


def test_a_vocabulary_file_that_is_too_large_for_its_model_is_not_read(tmp_path: Path) -> None:
    folder = gpt2(tmp_path / "large")
    for name in ("added_tokens.json", "vocab.json", "tokenizer.json"):
        (folder / name).write_bytes(b" " * 9_000_000)
        assert f"{name} has 9,000,000 bytes, which is too much for the " in refusal(folder)
        (folder / name).unlink()


def test_a_config_that_asks_for_a_billion_labels_or_all_pairs_of_positions_makes_none(tmp_path: Path) -> None:
    """GPT-Neo makes a table of them in each layer, even before any weight is read, and none of them is stored."""
    kinds: dict[str, tuple[Callable[[Path], Path], Callable[[str], object]]] = {
        "gpt2": (gpt2, catalog.load),
        "bert": (bert, catalog.load_encoder),
    }
    for kind, (make, load) in kinds.items():
        folder = make(tmp_path / kind)
        change_json(folder / "config.json", num_labels=10**9)
        said = refusal(folder, load)
        assert f"The config.json of {kind} says num_labels 1,000,000,000, more than the model can have" in said
    folder = gpt2(tmp_path / "pairs")
    sizes = {"vocab_size": 400, "hidden_size": 32, "num_layers": 2, "num_heads": 4, "max_position_embeddings": 100_000}
    kind = {"model_type": "gpt_neo", "architectures": ["GPTNeoForCausalLM"], "attention_types": [[["global"], 2]]}
    (folder / "config.json").write_text(json.dumps(kind | sizes))
    assert refusal(folder).startswith(
        "The config.json of pairs asks for tables of 20.0 GB beside the weights, but at most 1.1 GB are allowed: copy "
    )


def test_what_takes_too_long_ends_in_its_own_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """transformers takes minutes to add so many tokens one by one; however long the process takes to start, a second
    of that is too short."""
    folder = gpt2(tmp_path / "slow")
    change_json(folder / "tokenizer_config.json", extra_special_tokens=[f"<a{number}>" for number in range(400_000)])
    monkeypatch.setattr(limits, "SECONDS", 1.0)
    assert refusal(folder, lambda path: limits.try_out(Path(path), "slow", ends=math.inf)) == (
        "slow crashed or took too long when it was tried out without its weights: copy it again, or choose another "
        "model."
    )


def test_all_processes_of_a_trial_share_its_time(tmp_path: Path) -> None:
    """The start of one counts as well, but is not the file's fault."""
    assert refusal(gpt2(tmp_path / "late"), lambda path: limits.try_out(Path(path), "late", time.monotonic() - 1)) == (
        "late was not tried out, since this machine is too busy to start a process for it in time: try again in a "
        "minute, or choose another model."
    )


def test_a_load_that_computes_holds_up_no_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Only the weights are read one model after the other."""
    slow, quick = gpt2(tmp_path / "slow"), gpt2(tmp_path / "quick")
    inside, released = threading.Event(), threading.Event()
    make = catalog.LoadedModel.__init__

    def waiting(loaded: Any, name: str, *rest: Any, **options: Any) -> None:
        if name == "slow":
            inside.set()
            assert released.wait(LONGEST)
        make(loaded, name, *rest, **options)

    monkeypatch.setattr(catalog.LoadedModel, "__init__", waiting)
    thread = threading.Thread(target=catalog.load, args=(str(slow),))
    thread.start()
    try:
        assert inside.wait(LONGEST) and not device._ALLOCATION.locked()
        assert catalog.load(str(quick)).name == "quick"
    finally:
        released.set()
        thread.join(LONGEST)


def test_an_index_of_a_million_files_opens_none(tmp_path: Path) -> None:
    folder = gpt2(tmp_path / "index")
    (folder / "model.safetensors").unlink()
    index = folder / "model.safetensors.index.json"
    index.write_text(json.dumps({"weight_map": {f"w{number}": f"{number}.safetensors" for number in range(5_000)}}))
    assert "index.json lists 5,000 weight files, but at most 1,000 are read: choose another model." in refusal(folder)
    for name in ("..", "", "a\0.safetensors", "x" * 300 + ".safetensors", "../index/m.safetensors", "config.json", 7):
        index.write_text(json.dumps({"weight_map": {"w": name}}))
        assert refusal(folder).endswith("does not list the weight files: copy the folder again.")


def test_a_header_of_a_million_weights_is_not_read_and_more_than_any_model_has_are_only_counted(tmp_path: Path) -> None:
    """transformers took 48 seconds to find a place for 270,000 of them, in the page's own process."""
    folder = gpt2(tmp_path / "many")
    (folder / "model.safetensors").write_bytes((30_000_000).to_bytes(8, "little") + b" " * 30_000_001)
    assert "has a header of 30,000,000 bytes, but at most 20,000,000 are read" in refusal(folder)
    empty = {"dtype": "U8", "shape": [0], "data_offsets": [0, 0]}
    header = json.dumps({f"w{number}": empty for number in range(150_001)}).encode()
    (folder / "model.safetensors").write_bytes(len(header).to_bytes(8, "little") + header)
    assert "has 150,001 weights or more, but at most 150,000 are read: choose another model." in refusal(folder)


@pytest.mark.parametrize("name", ["config.json", "generation_config.json"])
def test_json_that_is_too_deep_for_its_readers_is_refused(tmp_path: Path, name: str) -> None:
    """Python's parser takes 900 levels, but what then goes through them raised a RecursionError."""
    folder = gpt2(tmp_path / "deep")
    for depth in (100, 900, 100_000):
        for opened, closed in (('{"a":', "}"), ("[", "]")):
            (folder / name).write_text('{"model_type": "gpt2", "a": ' + opened * depth + "1" + closed * depth + "}")
            assert f"{name} is nested more than" in (said := refusal(folder)) or "cannot be read as JSON" in said


def test_what_needs_too_much_memory_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A library may hide it behind an error of its own."""
    monkeypatch.setattr(PreTrainedTokenizerFast, "from_pretrained", _without_memory)
    question = {"path": str(gpt2(tmp_path / "large")), "name": "large"}
    with pytest.raises(MemoryError):
        reading.refusal(question)


def _without_memory(*_: object, **options: object) -> None:
    raise MemoryError
