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
    defined = definition(path, name) if name else ([], 0)
    if defined is None:
        raise TextError(f"{file} names the code {written}, but {path} doesn't define {name}.")
    lines = defined[0] if len(defined[0]) <= _MAX_LINES else [*defined[0][:_MAX_LINES], "…"]
    return {"path": path, "name": name, "source": "\n".join(lines)}


@cache
def definition(path: str, name: str) -> tuple[list[str], int] | None:
    """The lines of a function or class, the first not indented, and its number in the file; None if it isn't there."""
    text = (_ROOT / path).read_text(encoding="utf-8")
    node: ast.AST | None = ast.parse(text)
    for part in name.split("."):
        inner = ast.iter_child_nodes(node) if node else ()
        node = next((one for one in inner if getattr(one, "name", None) == part), None)
    if not isinstance(node, ast.FunctionDef | ast.ClassDef | ast.AsyncFunctionDef):
        return None
    lines = text.splitlines()[node.lineno - 1 : node.end_lineno]
    indent = len(lines[0]) - len(lines[0].lstrip())
    return [line[indent:] for line in lines], node.lineno
