"""GGUF files that cannot be run, damaged and hostile ones: refused in one sentence, before anything is dequantized."""

from __future__ import annotations

import random
import re
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from gguf import GGMLQuantizationType, GGUFReader

from model import catalog, device
from model.errors import AttendError
from model.huggingface.trial import reading
from tests.helpers.folders import refusal as refused
from tests.model.gguf.test_gguf import llama, written

COUNTS = 8  # the byte at which a file says how many tensors and keys it has
KEYS = 24  # and the one at which the first key begins


def refusal(path: Path, engine: str = "auto") -> str:
    """The one sentence in which a file is refused."""
    return refused(catalog.load, str(path), engine)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """A good file."""
    return written(tmp_path_factory.mktemp("gguf") / "m.gguf", llama()).read_bytes()


@pytest.fixture
def spoilt(whole: bytes, tmp_path: Path) -> Path:
    """A copy of it to be changed."""
    path = tmp_path / "spoilt.gguf"
    path.write_bytes(whole)
    return path


def is_refused(load: Callable[[], object]) -> bool:
    """Whether a call ends in one sentence; any other end is a failure."""
    try:
        load()
    except AttendError as error:
        assert "\n" not in str(error)
        return True
    return False


def overwrite(path: Path, offset: int, content: bytes) -> None:
    with path.open("r+b") as file:
        file.seek(offset)
        file.write(content)


def test_a_file_of_another_format_version_or_order_is_refused(spoilt: Path, tmp_path: Path) -> None:
    path = tmp_path / "m.gguf"
    for content in (b"", b"GGU", b"PK\x03\x04" * 50, b"ggml" * 20):
        path.write_bytes(content)
        assert refusal(path) == f"{path} is not a GGUF file, whatever its name: choose another file."
    path.write_bytes(b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 98362432\n")
    assert refusal(path) == f"{path} is a Git LFS pointer without weights: run git lfs pull in its folder."
    overwrite(spoilt, 4, struct.pack("<I", 1))
    assert "is GGUF version 1, but only versions 2 and 3 can be read: download it again" in refusal(spoilt)
    overwrite(spoilt, 4, struct.pack(">I", 3))
    assert "is in big-endian order, which can't be read" in refusal(spoilt)


def test_counts_that_no_file_holds_are_refused_at_once(spoilt: Path) -> None:
    """Of keys, tensors, the length of a text, and of a list: each is checked before it is counted to, which would
    never end."""
    for tensors, keys in ((0, 10**6), (2**60, 5), (2**64 - 1, 2**64 - 1)):
        overwrite(spoilt, COUNTS, struct.pack("<QQ", tensors, keys))
        assert f"claims {keys:,} keys and {tensors:,} tensors, which no model has" in refusal(spoilt)
    overwrite(spoilt, COUNTS, struct.pack("<QQ", 1, 3))
    overwrite(spoilt, KEYS, struct.pack("<Q", 2**63))
    assert "is damaged or incomplete (it claims a text of 9,223,372,036,854,775,808 bytes)" in refusal(spoilt)
    for kind, count in ((4, 2**60), (8, 2**40), (8, 10**6), (9, 1)):
        overwrite(spoilt, KEYS, struct.pack("<Q1sIIQ", 1, b"k", 9, kind, count))
        assert "is damaged" in refusal(spoilt)


def test_a_file_that_ends_too_early_is_refused_wherever_it_ends(whole: bytes, tmp_path: Path) -> None:
    path = tmp_path / "m.gguf"
    rng = random.Random(5)
    ends = [*range(5, 60), *rng.sample(range(60, len(whole) - 1), 60), len(whole) - 40]
    for end in ends:
        path.write_bytes(whole[:end])
        message = reading.refusal({"path": str(path), "name": "m", "engine": "native"})  # as in a process of its own
        assert message is not None and ("damaged" in message or "incomplete" in message)
    assert "damaged" in (message := refusal(path)) or "incomplete" in message
    path.write_bytes(b"GGUF")
    assert refusal(path) == f"{path} is damaged or incomplete: download it again."


def test_a_file_with_wrong_bytes_loads_or_is_refused(whole: bytes, tmp_path: Path) -> None:
    """Wherever a byte of the header is another one."""
    path = tmp_path / "m.gguf"
    header = min(tensor.data_offset for tensor in GGUFReader(written(path, llama())).tensors)
    rng, refused = random.Random(6), 0
    for _ in range(40):
        content = bytearray(whole)
        content[rng.randrange(4, header)] = rng.choice((0, 1, 9, 127, 255))
        path.write_bytes(content)
        refused += is_refused(lambda: catalog.load(str(path), "native"))
    assert 4 < refused < 40


def test_a_tensor_beyond_the_end_or_of_strange_blocks_is_refused(spoilt: Path) -> None:
    tensor = GGUFReader(spoilt, "r+").tensors[3]
    tensor.field.parts[5][0] = 10**9
    assert "is incomplete (its " in refusal(spoilt)
    tensor.field.parts[5][0] = 0
    tensor.field.parts[4][0] = 99
    assert "in a way unknown here (type 99)" in refusal(spoilt)
    tensor.field.parts[4][0] = GGMLQuantizationType.I32
    assert "stores weights as I32, which can't be dequantized: choose another quantization" in refusal(spoilt)
    tensor.field.parts[4][0] = GGMLQuantizationType.Q4_K
    assert "in blocks of 256" in refusal(spoilt)


@pytest.mark.parametrize(
    ("keys", "words"),
    [
        (
            {"general.architecture": "gemma3"},
            "of the architecture 'gemma3', and only llama, qwen2, qwen3, gpt2 can be run from one: choose another",
        ),
        ({"llama.expert_count": 8}, "since its llama.expert_count is 8: choose another model, or its checkpoint"),
        (
            {"llama.attention.head_count_kv": [2, 4]},
            r"since its layers differ \(llama.attention.head_count_kv is \[2, 4\]",
        ),
        ({"llama.attention.head_count": 0}, "since its llama.attention.head_count is 0"),
        ({"llama.attention.head_count_kv": 3}, "can't run as Attend's own transformer, since 4 heads cannot share 3"),
        ({"llama.attention.head_count": 2**31}, "not 17,179,869,184 wide"),
        ({"llama.attention.key_length": "8"}, "since its llama.attention.key_length is '8'"),
        ({"llama.context_length": None}, "since it has no llama.context_length"),
        ({"llama.context_length": 2**32 - 1}, "a context of 4,294,967,295 tokens, which no model of its size has"),
        ({"llama.block_count": 2**31}, "claims 2,147,483,648 layers"),
        ({"llama.block_count": 3}, "has no weight model.layers.2"),
        ({"llama.embedding_length": 64}, "belong to different models"),
        ({"llama.rope.scaling.type": "yarn"}, "since its positions are scaled as 'yarn'"),
        ({"llama.rope.scaling.type": "linear", "llama.rope.scaling.factor": -1.0}, "since rotary_scaling holds"),
        ({"llama.rope.dimension_count": 4, "llama.attention.key_length": None}, "since 4 of the 8 dimensions of each"),
        ({"llama.attention.value_length": 4}, "since its keys have 8 dimensions, but its values 4"),
        ({"llama.a\nnewline": 3}, "has a name that can't be printed"),
        ({"llama.a": "\x1b[31m"}, r"its llama.a is '\\x1b\[31m'"),
        ({"split.count": 3}, "is one part of a model that was split into several files: join them with"),
        ({"general.type": "mmproj"}, "is a vision projector"),
        ({"tokenizer.ggml.model": "gpt2", "tokenizer.ggml.pre": "mine"}, "in a way that Attend doesn't know .'mine'."),
        ({"tokenizer.ggml.tokens": ["a", "b"]}, "The tokenizer in .* can't be read: choose another GGUF file"),
        ({"tokenizer.chat_template": "{% if %}"}, "The chat template of this model is damaged"),
    ],
)
def test_what_cannot_be_run_is_named_with_the_way_out(keys: dict[str, Any], words: str, tmp_path: Path) -> None:
    path = written(tmp_path / "m.gguf", llama(), keys=keys)
    for engine in ("auto", "adapter"):
        assert re.search(words, refusal(path, engine))


def test_a_key_of_the_wrong_kind_loads_or_is_refused(spoilt: Path, tmp_path: Path) -> None:
    model, refused = llama(), 0
    keys = [key for key in GGUFReader(spoilt).fields if not key.startswith("GGUF.")]
    others = ["general.alignment", "general.type", "split.count", "llama.rope.scaling.type", "tokenizer.ggml.pre"]
    for number, key in enumerate((*keys, *others)):
        for value in ((7, float("nan")), ("x", [1]))[number % 2]:
            path = written(tmp_path / "m.gguf", model, keys={key: value})
            refused += is_refused(lambda path=path: catalog.load(str(path)).prompt("Hi"))
    assert refused > 30


def test_weights_of_unknown_parts_are_refused(tmp_path: Path) -> None:
    sinks = {"blk.0.attn_sinks.weight": np.zeros(4)}
    file = written(tmp_path / "m.gguf", llama(), tensors=sinks)
    assert "since it has the weight blk.0.attn_sinks.weight: choose another model" in refusal(file)
    bias = written(tmp_path / "b.gguf", llama(), tensors={"blk.0.attn_output.bias": np.zeros(32)})
    for engine in ("auto", "adapter"):  # transformers would leave it out
        assert "since it has the weight model.layers.0.self_attn.o_proj.bias" in refusal(bias, engine)
    factors = written(tmp_path / "f.gguf", llama(), tensors={"rope_freqs.weight": np.array([1.0, 3.0, 2.0, 8.0])})
    assert "since its rotations are scaled by factors that are not Llama 3's" in refusal(factors)
    other = written(tmp_path / "o.gguf", llama(), tensors={"rope_freqs.weight": np.ones(8)})  # of another width
    assert "since its rotations are scaled by factors that are not Llama 3's" in refusal(other)


def test_what_does_not_fit_in_memory_is_refused_before_it_is_dequantized(
    spoilt: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Four bytes a parameter, and never offloaded."""

    def unexpected(*_: object) -> None:
        raise AssertionError("a tensor was read")

    parameters = sum(tensor.n_elements for tensor in GGUFReader(spoilt).tensors)
    monkeypatch.setattr(device, "free_memory", lambda _: 4 * parameters - 1)
    monkeypatch.setattr("model.gguf.weights.read_tensor", unexpected)
    for engine in ("auto", "native", "adapter"):
        message = refusal(spoilt, engine)
        assert message.startswith("spoilt needs about ") and "is free: choose a smaller model" in message
