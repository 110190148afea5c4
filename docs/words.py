"""Prints every text that a visitor of the page or a user of the terminal may see, by folder, to be read aloud.

    python -m docs.words [FILE or FOLDER …]

Read from the sources: strings of Python but docstrings, strings of the scripts, the texts of the course, and the words
of the HTML. Braces hold what is filled in at run time. Some of what is printed is code that reads like words; a single
word in small letters is missed unless it stands where a text must, as after `text:` or `label=`.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from itertools import groupby
from pathlib import Path, PurePath

ROOT = Path(__file__).resolve().parents[1]
SOURCES = ("app.py", "attend.py", "generate.py", "decoding", "lesson", "model", "training", "ui")
SHOWN_ATTRIBUTES = {"alt", "aria-label", "placeholder", "title"}
SHOWN_ARGUMENTS = {"info", "label", "placeholder", "title"}
# A comment, or a string; a template's holes may hold strings of their own, two deep.
_HOLE = r"\$\{(?:[^{}`]|`[^`]*`|\{[^{}]*\})*\}"
_SCRIPT = re.compile(
    rf"""//[^\n]*|/\*.*?\*/|(?P<shown>\b(?:alt|aria-label|label|placeholder|text|title|textContent)'?\s*[:=]\s*)?"""
    rf"""(?:"(?P<double>(?:\\.|[^"\\\n])*)"|'(?P<single>(?:\\.|[^'\\\n])*)'|`(?P<template>(?:\\.|{_HOLE}|[^`\\])*)`)""",
    re.DOTALL,
)
# Names of things in a program: identifiers, selectors, addresses, events, lengths, classes of our own.
_CODE = re.compile(r"[\w.#:/@*$%()\[\]{}=>,;+&…-]*|[a-z_.#-][\w.#:-]*( [a-z_.#-][\w.#:-]*)?|https?://\S+|at-.*")


def visible(text: str) -> bool:
    """Whether a string reads like words: it holds a space between them, or is one word with a capital."""
    text = re.sub(_HOLE, "…", text).strip()
    return bool(re.search(r"[A-Za-z]{2}", text)) and (
        not _CODE.fullmatch(text) or bool(re.fullmatch(r"[A-Z][a-z]+(-\w+)*", text))
    )


def of_python(source: str) -> list[tuple[int, str]]:
    tree = ast.parse(source)
    skipped: set[int] = set()
    shown: set[int] = set()
    texts: list[tuple[int, str]] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            skipped.add(id(node.value))  # a docstring
        elif isinstance(node, ast.JoinedStr):
            skipped.update(id(part) for part in ast.walk(node) if isinstance(part, ast.Constant))
        elif isinstance(node, ast.keyword) and node.arg in SHOWN_ARGUMENTS:
            shown.add(id(node.value))
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            text = ast.unparse(node)[2:-1]
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in skipped:
            text = node.value
        else:
            continue
        if visible(text) or (id(node) in shown and text):
            texts.append((node.lineno, text))
    return sorted(texts)


def of_script(source: str) -> Iterator[tuple[int, str]]:
    """A sentence that is written over several lines, with a plus between them, comes in one piece."""
    line, text, shown, end = 0, "", False, 0
    for match in _SCRIPT.finditer(source):
        part = match["double"] or match["single"] or match["template"]
        if part and text and re.fullmatch(r"\s*\+\s*", source[end : match.start()]):
            text += part
        elif part:
            if text and (shown or visible(text)):
                yield line, text
            line, text, shown = source.count("\n", 0, match.start()) + 1, part, bool(match["shown"])
        end = match.end()
    if text and (shown or visible(text)):
        yield line, text


def of_html(source: str) -> list[tuple[int, str]]:
    texts: list[tuple[int, str]] = []

    class Reader(HTMLParser):
        def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
            texts.extend((self.getpos()[0], value) for name, value in attrs if value and name in SHOWN_ATTRIBUTES)

        def handle_data(self, data: str) -> None:
            if data.strip():
                texts.append((self.getpos()[0], data.strip()))

    Reader().feed(source)
    return [(line, text) for line, text in texts if visible(text)]


def of_markdown(source: str) -> Iterator[tuple[int, str]]:
    """The paragraphs, headings and lists of a chapter's text, with its slots."""
    line = 1
    for block in source.split("\n\n"):
        if visible(re.sub(r"\{\{[^{}]*\}\}", "…", block)):
            yield line, block
        line += block.count("\n") + 2


RECORDED = "Recorded by `python -m docs.examples`"
READERS = {".py": of_python, ".js": of_script, ".html": of_html, ".md": of_markdown}


def visible_texts(*paths: str) -> Iterator[tuple[str, int, str]]:
    """File, line and text, in the order of the files."""
    for path in (ROOT / name for name in paths or SOURCES):
        for file in sorted(path.rglob("*")) if path.is_dir() else [path]:
            source = file.read_text(encoding="utf-8") if file.suffix in READERS else ""
            for line, text in READERS[file.suffix](source) if source and RECORDED not in source[:100] else ():
                yield file.relative_to(ROOT).as_posix(), line, " ".join(text.split())


if __name__ == "__main__":
    for folder, texts in groupby(visible_texts(*sys.argv[1:]), lambda found: PurePath(found[0]).parent):
        print(f"\n{folder}" if folder.name else "\nprograms")
        for file, line, text in texts:
            print(f"  {PurePath(file).name}:{line}: {text}")
