"""How `pip install .` and `python -m build` put Attend into one import package, `attend`.

The source has its rooms at the top, where a reader sees them: `model/`, `decoding/`, `ui/`. As top-level packages of an
environment these names would collide with other people's. So the wheel has all of them inside `attend/`, with
`attend.py` as its `__init__.py`, and every `from model.errors import …` becomes `from attend.model.errors import …`.
Nothing else in a file changes, line numbers neither; docs/architecture.md weighs this against other ways.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py

ROOT = Path(__file__).resolve().parent
PACKAGE = "attend"
FOLDERS = ("model", "decoding", "lesson", "ui", "web", "terminal", "checkpoints")
MODULES = ("app", "generate")
LEFT_OUT = ("/__pycache__/", "checkpoints/tokenizers/")
SUFFIXES_LEFT_OUT = (".csv", ".png", ".d.ts")


class BuildPackage(build_py):
    """Copies the rooms into the package."""

    def run(self) -> None:
        target = Path(self.build_lib) / PACKAGE
        for source, name in sources():
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            if source.suffix == ".py":
                (target / name).write_text(inside_package(source.read_text(encoding="utf-8")), encoding="utf-8")
            else:
                (target / name).write_bytes(source.read_bytes())


def sources() -> Iterator[tuple[Path, str]]:
    """The files of the wheel, each with its name in the package."""
    yield ROOT / f"{PACKAGE}.py", "__init__.py"
    for module in MODULES:
        yield ROOT / f"{module}.py", f"{module}.py"
    for folder in FOLDERS:
        for path in sorted((ROOT / folder).rglob("*")):
            name = path.relative_to(ROOT).as_posix()
            if path.is_file() and not name.endswith(SUFFIXES_LEFT_OUT) and not any(part in name for part in LEFT_OUT):
                yield path, name


def inside_package(source: str) -> str:
    """A module whose imports of Attend's rooms go through the package.

    Raises `ValueError` for `import model.errors`, which would bind another name inside the package.
    """
    lines = source.splitlines(keepends=True)
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            for alias in node.names:
                if _is_ours(alias.name):
                    raise ValueError(f"line {node.lineno} imports {alias.name}: write `from … import …`")
        elif isinstance(node, ast.ImportFrom) and not node.level and _is_ours(node.module or ""):
            line = lines[node.lineno - 1].encode()
            before, after = line[: node.col_offset], line[node.col_offset :]
            after = after.replace(b"from ", f"from {PACKAGE}.".encode(), 1)
            lines[node.lineno - 1] = (before + after).decode()
    return "".join(lines)


def _is_ours(module: str) -> bool:
    return module.partition(".")[0] in (*FOLDERS, *MODULES)


if __name__ == "__main__":
    setup(cmdclass={"build_py": BuildPackage})
