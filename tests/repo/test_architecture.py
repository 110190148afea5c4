"""The house stays as it was drawn: who may import whom, no circles, small rooms, readable files.

Imports are read from the source, those inside functions too; nothing is run. The page's scripts are held to the same in
`tests/repo/test_scripts.py`.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator, Mapping
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path

from tests.helpers.paths import ROOT

LONGEST, LONGEST_TEST = 350, 500  # lines of a file
LARGEST = 15  # modules of a folder

# Room → what it may import of Attend besides itself. The most specific room that holds a module counts.
ROOMS: dict[str, tuple[str, ...]] = {
    "app": ("attend", "ui", "web", "decoding", "model"),
    "generate": ("terminal", "attend", "decoding", "model"),
    "terminal": ("attend", "decoding", "model"),
    "terminal.attend_command": ("app", "generate", "terminal", "model"),
    "attend": ("decoding", "model"),
    "model": (),
    "model.interface": (),
    "model.errors": (),
    "model.lazy": (),
    "model.jit": (),
    "model.inspection": ("model.interface", "model.errors", "model.threads"),
    "model.inspection.intervention": ("model.errors",),
    "model.transformer": ("model.inspection", "model.interface", "model.errors", "model.limits"),
    "model.compiled": ("model.transformer", "model.interface", "model.errors", "model.jit", "model.device"),
    "model.recurrent": ("model.transformer.checkpoint", "model.interface", "model.errors", "model.limits"),
    "model.text": ("model.errors", "model.limits"),
    "model.huggingface": ("model",),
    "model.gguf": ("model.errors",),
    "model.sandbox": ("model.errors",),
    "model.hub": ("model.gguf.choice", "model.errors", "model.progress", "model.device"),
    "decoding": ("model.inspection.intervention", "model.interface", "model.errors", "model.lazy", "model.jit"),
    "decoding.parameters": ("model.errors",),
    "decoding.processors": (
        *("decoding.parameters", "decoding.request", "decoding.stop", "decoding.uniform"),
        *("model.errors", "model.lazy"),
    ),
    "lesson": ("decoding", "model"),
    "ui": ("lesson", "decoding", "model"),
    "ui.limits": ("model.errors",),
    "ui.kit": ("decoding", "model.errors"),
    "ui.runs": ("ui.kit", "ui.limits", "decoding", "model"),
    "ui.inspector": ("ui.runs", "ui.kit", "decoding", "model"),
    "ui.inspector.*.*_events": ("ui.frame", "ui.inspector", "ui.runs", "ui.kit", "decoding", "model"),
    "ui.examples": ("ui.inspector.inspector_contract", "ui.runs.runs_contract"),
    "ui.settings": ("ui.runs", "ui.kit", "decoding", "model"),
    "ui.page.page_contract": (),
    "ui.page_update": (
        "ui.page.page_contract",
        "ui.history.history_contract",
        "ui.inspector.inspector_contract",
        "ui.runs.runs_contract",
    ),
    "ui.view": ("ui.page_update",),
    "ui.frame": ("ui.view", "ui.page_update", "ui.settings", "ui.runs", "ui.kit", "decoding", "model"),
    **{
        f"ui.{feature}": (
            *("ui.frame", "ui.view", "ui.page_update", "ui.examples", "ui.inspector", "ui.settings", "ui.runs"),
            *("ui.kit", "lesson", "decoding", "model"),
        )
        for feature in ("chat", "write", "translate", "compare", "learn", "encoder", "models")
    },
    "ui.history": ("ui.models", "ui.frame", "ui.view", "ui.page_update", "ui.runs", "ui.kit", "decoding", "model"),
    "ui.history.history_contract": (),
    "ui.tour": (),
    "ui.classroom": ("decoding.parameters", "model.errors"),
    "ui.server": ("ui", "decoding", "model"),
    "web": ("decoding", "model"),
    "web.static": ("ui.kit", "ui.share", "web", "model"),
    "web.gallery": ("ui.kit", "ui.share"),
    "web.recorded_course": ("ui.kit", "ui.learn", "ui.runs", "web", "model"),
    "web.forms": ("ui.chat", "ui.compare", "ui.settings", "ui.translate", "web", "decoding", "model"),
    "ui.share": ("ui.kit", "ui.theme", "decoding"),
    "ui.theme": (),
    "serve": ("app", "ui", "decoding", "model", "benchmarks.flags", "benchmarks.timing"),
    "serve.settings": ("model",),
    "serve.wire": (),
    "training": ("decoding", "model"),
    "benchmarks": ("training.translation.translate", "ui.tour", "web", "attend", "decoding", "model"),
    "benchmarks.load.evaluation": ("benchmarks", "training.blimp", "ui", "decoding", "model"),
    "benchmarks.updates": ("benchmarks", "ui.chat", "ui.runs", "ui.kit", "decoding", "model"),
    "benchmarks.why": ("benchmarks", "ui.inspector", "decoding", "model"),
    "experiments": ("lesson.recurrence.translation", "training", "benchmarks.timing", "decoding", "model"),
}

# Parts that a reader can skip, and what may import them.
OPTIONAL = {"serve": ("tests.serve",), "ui.server.zero_gpu": ("app", "tests.ui.server.test_zero_gpu")}

# Library → the only modules that may import it.
LIBRARIES = {
    "gradio": ("app", "ui"),
    "spaces": ("app", "ui"),
    "transformers": ("model.huggingface", "benchmarks"),
    "gguf": ("model.gguf",),
    "huggingface_hub": ("model.hub",),
    "httpx2": ("model.hub",),
    "prometheus_client": ("ui.server.metrics",),
    "psutil": ("model.device", "benchmarks", "serve.benchmark"),
    "ray": ("serve.deploy", "serve.local_nodes", "serve.remote"),
    "threadpoolctl": ("model.threads",),
    "numba": ("model.jit", "model.compiled", "benchmarks"),
    "accelerate": ("training", "experiments", "model.huggingface"),
    "matplotlib": ("training", "experiments"),
    "sentencepiece": ("model.text.sentencepiece_tokenizer", "model.huggingface", "model.sandbox", "training", "web"),
    "safetensors": ("model", "training", "experiments", "web"),
    "playwright": ("benchmarks",),
    "markdown_it": ("ui.chat", "ui.learn"),
}

TOPS = {room.split(".")[0] for room in ROOMS}
SOURCES = sorted(
    path
    for top in TOPS
    for path in ([ROOT / f"{top}.py"] if (ROOT / f"{top}.py").is_file() else (ROOT / top).rglob("*.py"))
)
TESTS = sorted((ROOT / "tests").rglob("*.py"))


def module_name(path: Path) -> str:
    return ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


MODULES = {module_name(path): path for path in SOURCES}


def imports(source: str, *, lazy: bool = True) -> Iterator[str]:
    """Dotted names that a source imports; `from a import b` gives a.b, since b may be a module.

    Args:
        lazy: whether to look inside functions and `if TYPE_CHECKING`, too.
    """
    tree = ast.parse(source)
    for node in ast.walk(tree) if lazy else tree.body:
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from (f"{'.' * node.level}{node.module or ''}.{alias.name}" for alias in node.names)


def under(name: str, parents: Collection[str]) -> bool:
    return any(fnmatchcase(name, pattern) for parent in parents for pattern in (parent, f"{parent}.*"))


def room(module: str) -> str:
    """The most specific room that holds a module."""
    return max((name for name in ROOMS if under(module, (name,))), key=len)


def faults(module: str, source: str) -> list[str]:
    """What a module imports that its room does not allow."""
    mine = room(module)
    lines = []
    for name in imports(source):
        top = name.split(".")[0]
        if name.startswith("."):
            lines.append(f"{module} imports {name} relatively: name the package")
        elif top in TOPS and room(name) != mine and not under(name, (*ROOMS[mine], mine)):
            lines.append(f"{module} imports {name}, but {mine} may import only {', '.join(ROOMS[mine]) or 'itself'}")
        elif top in LIBRARIES and not under(module, LIBRARIES[top]):
            lines.append(f"{module} imports {top}, which belongs to {', '.join(LIBRARIES[top])}")
        leaf = name.split(".")[-1]
        if top in TOPS and leaf.startswith("_") and not leaf.startswith("__"):
            lines.append(f"{module} imports the private {name}")
    return lines


@cache
def graph() -> Mapping[str, frozenset[str]]:
    """Module → the modules of Attend that it imports as it is loaded."""
    known = {}
    for module, path in MODULES.items():
        named = imports(path.read_text(encoding="utf-8"), lazy=False)
        known[module] = frozenset(
            target
            for name in named
            for target in [name if name in MODULES else name.rpartition(".")[0]]
            if target in MODULES and target != module
        )
    return known


def circle(edges: Mapping[str, Collection[str]]) -> list[str]:
    """One circle of a graph, its first node repeated last; empty where there is none."""
    done: set[str] = set()

    def visit(node: str, path: list[str]) -> list[str]:
        if node in path:
            return [*path[path.index(node) :], node]
        if node in done:
            return []
        for target in sorted(edges.get(node, ())):
            if path_back := visit(target, [*path, node]):
                return path_back
        done.add(node)
        return []

    return next((cycle for node in sorted(edges) if (cycle := visit(node, []))), [])


def test_imports_go_one_way() -> None:
    assert [fault for name, path in MODULES.items() for fault in faults(name, path.read_text(encoding="utf-8"))] == []


def test_optional_parts_can_be_skipped() -> None:
    forbidden = [
        f"{module} imports {name}"
        for path in [*SOURCES, *TESTS]
        for module in [module_name(path)]
        for name in imports(path.read_text(encoding="utf-8"))
        for part, importers in OPTIONAL.items()
        if under(name, (part,)) and not under(module, (part, *importers))
    ]
    assert forbidden == []


def test_no_module_and_no_room_imports_itself_around_a_corner() -> None:
    """Rooms are the folders below a package; what stands beside them in the package itself belongs to no room."""
    assert not circle(graph())
    rooms: dict[str, set[str]] = {}
    folders = {module.rpartition(".")[0] for module in MODULES}
    of = {
        module: max((folder for folder in folders if under(module, (folder,))), key=len, default="")
        for module in MODULES
    }
    for module, targets in graph().items():
        if of[module].count(".") == 1:
            rooms.setdefault(of[module], set()).update(
                of[target] for target in targets if of[target].count(".") == 1 and of[target] != of[module]
            )
    assert not circle(rooms)


def test_each_file_says_what_it_is_and_stays_readable() -> None:
    faulty = []
    for path in [*SOURCES, *TESTS]:
        source = path.read_text(encoding="utf-8")
        if source.strip() and not ast.get_docstring(ast.parse(source)):
            faulty.append(f"{path} has no docstring")
        if source.count("\n") > (LONGEST_TEST if path in TESTS else LONGEST):
            faulty.append(f"{path} holds more than one idea: split it")
    assert faulty == []


def test_rooms_stay_small() -> None:
    folders: dict[str, int] = {}
    for path in [*SOURCES, *TESTS, *(ROOT / "ui").rglob("*.js"), *(ROOT / "web").rglob("*.js")]:
        if path.name != "__init__.py":
            key = f"{path.parent.relative_to(ROOT).as_posix()}/*{path.suffix}"
            folders[key] = folders.get(key, 0) + 1
    assert {folder: count for folder, count in folders.items() if count > LARGEST} == {}


FORBIDDEN = {
    "decoding.strategies.beam": (
        "from model import transformer",
        "from model.interface import Want\nfrom model.transformer.cache import KeyValueCache",
        "def lazy():\n    import ui.kit",
    ),
    "model.transformer.layers": ("import decoding", "from model.compiled import linear", "import transformers.models"),
    "model.catalog": ("import transformers",),
    "generate": ("import gradio as gr",),
    "ui.page.layout": (
        "from . import header",
        "import matplotlib.pyplot as plt",
        "from ui.chat.chat_actions import _answer",
    ),
    "ui.chat.chat_actions": ("from ui.write import write_actions",),
    "ui.page": ("from serve.deploy import deploy",),
    "app": ("import serve.page",),
    "serve.page": ("import ray",),
    "ui.kit.component": ("from ui.runs import session",),
}
ALLOWED = {
    "decoding.strategies.beam": "import torch\nfrom model.interface import Want\nfrom model.errors import AttendError",
    "ui.page.layout": "import gradio as gr\nfrom decoding.settings import DecodingSettings",
    "ui.chat.chat_actions": "from ui.runs.session import Session",
    "model.huggingface.causal": "import transformers",
    "app": "import modelling",  # a foreign name that only begins like ours
}


def test_only_forbidden_imports_are_found() -> None:
    for module, sources in FORBIDDEN.items():
        assert [len(faults(module, source)) for source in sources] == [1] * len(sources), module
    assert [fault for module, source in ALLOWED.items() for fault in faults(module, source)] == []


def test_only_circles_are_found() -> None:
    assert circle({"a": {"b"}, "b": {"c"}, "c": {"b"}}) == ["b", "c", "b"]
    assert circle({"a": {"b", "c"}, "b": {"c"}, "c": ()}) == []
