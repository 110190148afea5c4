"""The house stays as it was drawn: who may import whom, which library lives where, and that files stay readable.

Imports are read from the source, those inside functions too; nothing is run.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from fnmatch import fnmatchcase
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
LONGEST = 350  # lines

# Part of Attend → the parts it may import. `decoding` knows models by their interface alone.
OWN = {
    "app": ("ui", "decoding", "model"),
    "generate": ("decoding", "model"),
    "ui": ("ui", "lesson", "decoding", "model"),
    "lesson": ("lesson", "model"),
    "decoding": ("decoding", "model.interface", "model.errors"),
    "training": ("training", "decoding", "model"),
    "benchmarks": ("benchmarks", "training.translate", "decoding", "model"),
    "experiments": ("experiments", "training", "benchmarks.timing", "decoding", "model"),
    "model": ("model",),
}

# Library → the only modules that may import it; a star stands for any end of a name.
LIBRARIES = {
    "gradio": ("app", "ui"),
    "spaces": ("app", "ui"),
    "transformers": ("model.huggingface*", "model.export_llama", "benchmarks"),
    "huggingface_hub": ("model.hub*",),
    "httpx2": ("model.hub*",),
    "psutil": ("model.placement",),
    "threadpoolctl": ("model.threads",),
    "accelerate": ("training", "experiments", "model.huggingface*"),
    "matplotlib": ("training", "experiments"),
    "sentencepiece": ("model.tokenizer", "model.huggingface*", "training"),
    "safetensors": ("model", "training", "experiments"),
    "playwright": ("benchmarks",),
}

SOURCES = sorted(
    path
    for part in OWN
    for path in ([ROOT / f"{part}.py"] if part in ("app", "generate") else (ROOT / part).rglob("*.py"))
)
TESTS = sorted((ROOT / "tests").rglob("*.py"))


def imports(source: str) -> Iterator[str]:
    """Dotted names that a source imports; `from a import b` gives a.b, since b may be a module."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from (f"{'.' * node.level}{node.module or ''}.{alias.name}" for alias in node.names)


def under(name: str, parents: tuple[str, ...]) -> bool:
    patterns = (pattern for parent in parents for pattern in (parent, f"{parent}.*"))
    return any(fnmatchcase(name, pattern) for pattern in patterns)


def faults(module: str, source: str) -> list[str]:
    """What a module imports that its place does not allow."""
    allowed = OWN[module.split(".")[0]]
    found = []
    for name in imports(source):
        top = name.split(".")[0]
        if name.startswith("."):
            found.append(f"{module} imports {name} relatively: name the package")
        elif top in OWN and not under(name, allowed):
            found.append(f"{module} imports {name}, but may import only {', '.join(allowed)} of Attend")
        elif top in LIBRARIES and not under(module, LIBRARIES[top]):
            found.append(f"{module} imports {top}, which belongs to {', '.join(LIBRARIES[top])}")
    return found


def module_name(path: Path) -> str:
    return ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


@pytest.mark.parametrize("path", SOURCES, ids=module_name)
def test_imports_go_one_way(path: Path) -> None:
    assert not faults(module_name(path), path.read_text(encoding="utf-8"))


@pytest.mark.parametrize("path", [*SOURCES, *TESTS], ids=module_name)
def test_file_says_what_it_is_and_stays_readable(path: Path) -> None:
    source = path.read_text(encoding="utf-8")
    assert not source.strip() or ast.get_docstring(ast.parse(source)), "the module has no docstring"
    assert source.count("\n") <= LONGEST, "the file holds more than one idea: split it"


@pytest.mark.parametrize(
    ("module", "source"),
    [
        ("decoding.beam", "from model import transformer"),
        ("decoding.beam", "from model.interface import Want\nfrom model.cache import KeyValueCache"),
        ("decoding.beam", "def lazy():\n    import ui.views"),
        ("model.layers", "import decoding"),
        ("model.layers", "from transformers.models import llama"),
        ("model.catalog", "import transformers"),
        ("generate", "import gradio as gr"),
        ("ui.page", "from . import views"),
        ("ui.page", "import matplotlib.pyplot as plt"),
    ],
)
def test_a_forbidden_import_is_found(module: str, source: str) -> None:
    assert len(faults(module, source)) == 1


@pytest.mark.parametrize(
    ("module", "source"),
    [
        ("decoding.beam", "import torch\nfrom model.interface import Want\nfrom model.errors import AttendError"),
        ("ui.page", "import gradio as gr\nfrom decoding.settings import DecodingSettings"),
        ("model.huggingface", "import transformers"),
        ("model.huggingface_tokenizer", "import transformers"),
        ("app", "import modelling"),  # a foreign name that only begins like ours
    ],
)
def test_an_allowed_import_passes(module: str, source: str) -> None:
    assert not faults(module, source)
