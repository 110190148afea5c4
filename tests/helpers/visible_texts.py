"""Prints every text that a visitor of the page or a user of the terminal may see.

    python -m tests.helpers.visible_texts [FILE or FOLDER …]

Read from the sources: strings of Python but docstrings, strings of the scripts, and the words of the HTML. Braces hold
what is filled in at run time.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from html.parser import HTMLParser

from tests.helpers.paths import ROOT

SOURCES = ("app.py", "attend.py", "generate.py", "decoding", "lesson", "model", "training", "ui")
SPOKEN_ATTRIBUTES = {"alt", "aria-label", "placeholder", "title"}
# A comment, or a string; a template's holes may hold strings of their own, two deep.
_HOLE = r"\$\{(?:[^{}`]|`[^`]*`|\{[^{}]*\})*\}"
_SCRIPT = re.compile(
    rf"""//[^\n]*|/\*.*?\*/|"((?:\\.|[^"\\\n])*)"|'((?:\\.|[^'\\\n])*)'|`((?:\\.|{_HOLE}|[^`\\])*)`""", re.DOTALL
)
# Names of things in a program: identifiers, classes, selectors, addresses, events.
_CODE = re.compile(r"[\w.#:/@*$%()\[\]{}=>,;+&-]*|[a-z_.#-][\w.#:-]*( [a-z_.#-][\w.#:-]*)?|https?://\S+")


def visible(text: str) -> bool:
    """Whether a string reads like words: it holds a space between them, or is one word with a capital."""
    return bool(re.search(r"[A-Za-z]{2}", text)) and (
        not _CODE.fullmatch(text.strip()) or bool(re.fullmatch(r"[A-Z][a-z]+", text))
    )


def of_python(source: str) -> Iterator[tuple[int, str]]:
    tree = ast.parse(source)
    skipped: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            skipped.add(id(node.value))  # a docstring
        elif isinstance(node, ast.JoinedStr):
            skipped.update(id(part) for part in ast.walk(node) if isinstance(part, ast.Constant))
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            yield node.lineno, ast.unparse(node)[2:-1]
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in skipped:
            yield node.lineno, node.value


def of_script(source: str) -> Iterator[tuple[int, str]]:
    for found in _SCRIPT.finditer(source):
        if text := next(filter(None, found.groups()), None):
            yield source.count("\n", 0, found.start()) + 1, text


def of_html(source: str) -> Iterator[tuple[int, str]]:
    texts: list[tuple[int, str]] = []

    class Reader(HTMLParser):
        def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
            texts.extend((self.getpos()[0], value) for name, value in attrs if value and name in SPOKEN_ATTRIBUTES)

        def handle_data(self, data: str) -> None:
            if data.strip():
                texts.append((self.getpos()[0], data.strip()))

    Reader().feed(source)
    yield from texts


READERS = {".py": of_python, ".js": of_script, ".html": of_html}


def visible_texts(*paths: str) -> Iterator[tuple[str, int, str]]:
    """File, line and text, in the order of the files."""
    for path in (ROOT / name for name in paths or SOURCES):
        for file in sorted(path.rglob("*")) if path.is_dir() else [path]:
            for line, text in READERS[file.suffix](file.read_text(encoding="utf-8")) if file.suffix in READERS else ():
                if visible(text):
                    yield file.relative_to(ROOT).as_posix(), line, " ".join(text.split())


if __name__ == "__main__":
    for file, line, text in visible_texts(*sys.argv[1:]):
        print(f"{file}:{line}: {text}")
