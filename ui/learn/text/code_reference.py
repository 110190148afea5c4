"""References to the code behind a chapter: `{{code: lesson/vocabulary.py learn}}`, in a paragraph of its own.

The page shows them with their source to readers who turn on “Show code”.
"""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path
from typing import Any

from ui.learn.text.markdown import TextError

_ROOT = Path(__file__).resolve().parents[3]
_MAX_LINES = 60  # of the source that is shown


def code_reference(file: str, written: str) -> dict[str, Any]:
    """What the page shows of a file, and of a function or class in it; `TextError` if it isn't there.

    Args:
        file: the chapter's, for the error.
        written: a path below the root of the code, then maybe a name, such as `Block.forward`.
    """
    path, _, name = written.partition(" ")
    if not (_ROOT / path.partition("/")[0]).is_dir():  # an installation may leave out folders that serve no page
        return {"path": path, "name": name, "source": ""}
    if not (_ROOT / path).is_file():
        raise TextError(f"{file} names the code {path}, but there is no such file.")
    source = _source(path, name) if name else ""
    if source is None:
        raise TextError(f"{file} names the code {written}, but {path} doesn't define {name}.")
    return {"path": path, "name": name, "source": source}


@cache
def _source(path: str, name: str) -> str | None:
    """The lines of a definition; None if there is none of this name."""
    text = (_ROOT / path).read_text(encoding="utf-8")
    node: ast.AST | None = ast.parse(text)
    for part in name.split("."):
        inner = ast.iter_child_nodes(node) if node else ()
        node = next((one for one in inner if getattr(one, "name", None) == part), None)
    if not isinstance(node, ast.FunctionDef | ast.ClassDef | ast.AsyncFunctionDef):
        return None
    lines = text.splitlines()[node.lineno - 1 : node.end_lineno]
    indent = len(lines[0]) - len(lines[0].lstrip())
    lines = [line[indent:] for line in lines]
    return "\n".join(lines if len(lines) <= _MAX_LINES else [*lines[:_MAX_LINES], "…"])
