"""Writes the notebooks of this folder from the scripts of the same names.

    python -m docs.notebooks

A script is divided into cells by lines that begin with `# %%`, as several editors show it. In a notebook, what stands
right of a line marked `# SOLUTION` is left out for the reader to fill in.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).resolve().parent
NAMES = ("transformer_in_numpy", "attention_exercises")
_CELL = re.compile(r"^# %%(.*)\n", re.MULTILINE)
_SOLUTION = re.compile(r"^(\s*(?:return|\w+ =)) .*  # SOLUTION$", re.MULTILINE)


def cells(script: str) -> list[tuple[bool, str]]:
    """The cells of a script: whether each is Markdown, and its text."""
    _, *parts = _CELL.split(script)
    pairs = zip(parts[::2], parts[1::2], strict=True)
    return [
        (True, re.sub(r"^# ?", "", text, flags=re.MULTILINE).strip()) if "markdown" in kind else (False, text.strip())
        for kind, text in pairs
    ]


def blanked(code: str) -> str:
    """The code as a reader gets it, without the solutions."""
    return _SOLUTION.sub(r"\1 ...  # your line", code)


def notebook(script: str) -> dict[str, Any]:
    """The script as a notebook of version 4.4, not yet run."""
    return {
        "cells": [_cell(is_text, text if is_text else blanked(text)) for is_text, text in cells(script)],
        "metadata": {
            "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
            "language_info": {"name": "python"},
        },
        "nbformat": 4,
        "nbformat_minor": 4,
    }


def _cell(is_text: bool, text: str) -> dict[str, Any]:
    common = {"metadata": {}, "source": text.splitlines(keepends=True)}
    if is_text:
        return {"cell_type": "markdown", **common}
    return {"cell_type": "code", **common, "execution_count": None, "outputs": []}


def written(name: str) -> str:
    """What the file of a notebook holds."""
    script = (FOLDER / f"{name}.py").read_text(encoding="utf-8")
    return json.dumps(notebook(script), indent=1, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    for name in NAMES:
        (FOLDER / f"{name}.ipynb").write_text(written(name), encoding="utf-8")
