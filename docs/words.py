"""Prints every text that a visitor of the page or a user of the terminal may see, by folder, to be read aloud.

    python -m docs.words [FILE or FOLDER …]

The texts are read from the sources: strings in Python except for docstrings, strings in scripts, the texts of the
course, and the words of the HTML. Braces contain what is filled in at run time. Some code that looks like words is
printed as well, and a single word in lower case is missed unless it follows something like `text:` or `label=`.
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
SOURCES = (
    *("app.py", "attend.py", "generate.py", "decoding", "lesson", "model"),
    *("serve", "terminal", "training", "ui", "web"),
)
TEXT_ATTRIBUTES = {"alt", "aria-label", "placeholder", "title"}
TEXT_ARGUMENTS = {"info", "label", "placeholder", "title"}
# A comment or a string; the placeholders of a template may contain strings, two levels deep.
_FIELD = r"\$\{(?:[^{}`]|`[^`]*`|\{[^{}]*\})*\}"
_SCRIPT = re.compile(
    rf"""//[^\n]*|/\*.*?\*/|(?P<text>\b(?:alt|aria-label|label|placeholder|text|title|textContent)'?\s*[:=]\s*)?"""
    rf"""(?:"(?P<double>(?:\\.|[^"\\\n])*)"|'(?P<single>(?:\\.|[^'\\\n])*)'|`(?P<template>(?:\\.|{_FIELD}|[^`\\])*)`)""",
    re.DOTALL,
)
# What is code and not words: identifiers, selectors, addresses, events, lengths, our own classes.
_CODE = re.compile(r"[\w.#:/@*$%()\[\]{}=>,;+&…-]*|[a-z_.#-][\w.#:-]*( [a-z_.#-][\w.#:-]*)?|https?://\S+|at-.*")


def visible(text: str) -> bool:
    """Whether a string looks like words: several with spaces between them, or one that begins with a capital."""
    text = re.sub(_FIELD, "…", text).strip()
    return bool(re.search(r"[A-Za-z]{2}", text)) and (
        not _CODE.fullmatch(text) or bool(re.fullmatch(r"[A-Z][a-z]+(-\w+)*", text))
    )


def of_python(source: str) -> list[tuple[int, str]]:
    tree = ast.parse(source)
    skipped: set[int] = set()
    arguments: set[int] = set()  # of parameters that are texts
    texts: list[tuple[int, str]] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            skipped.add(id(node.value))  # a docstring
        elif isinstance(node, ast.JoinedStr):
            skipped.update(id(part) for part in ast.walk(node) if isinstance(part, ast.Constant))
        elif isinstance(node, ast.keyword) and node.arg in TEXT_ARGUMENTS:
            arguments.add(id(node.value))
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            text = ast.unparse(node)[2:-1]
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in skipped:
            text = node.value
        else:
            continue
        if visible(text) or (id(node) in arguments and text):
            texts.append((node.lineno, text))
    return sorted(texts)


def of_script(source: str) -> Iterator[tuple[int, str]]:
    """Yield the line and text of each string; strings joined by a plus count as one."""
    line, text, is_text, end = 0, "", False, 0
    for match in _SCRIPT.finditer(source):
        part = match["double"] or match["single"] or match["template"]
        if part and text and re.fullmatch(r"\s*\+\s*", source[end : match.start()]):
            text += part
        elif part:
            if text and (is_text or visible(text)):
                yield line, text
            line, text, is_text = source.count("\n", 0, match.start()) + 1, part, bool(match["text"])
        end = match.end()
    if text and (is_text or visible(text)):
        yield line, text


def of_html(source: str) -> list[tuple[int, str]]:
    texts: list[tuple[int, str]] = []

    class Reader(HTMLParser):
        def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
            texts.extend((self.getpos()[0], value) for name, value in attrs if value and name in TEXT_ATTRIBUTES)

        def handle_data(self, data: str) -> None:
            if data.strip():
                texts.append((self.getpos()[0], data.strip()))

    Reader().feed(source)
    return [(line, text) for line, text in texts if visible(text)]


def of_markdown(source: str) -> Iterator[tuple[int, str]]:
    """Yield the paragraphs, headings and lists of a chapter's text, with its slots."""
    line = 1
    for block in source.split("\n\n"):
        if visible(re.sub(r"\{\{[^{}]*\}\}", "…", block)):
            yield line, block
        line += block.count("\n") + 2


RECORDED = "Recorded by `python -m docs.examples`"
READERS = {".py": of_python, ".js": of_script, ".html": of_html, ".md": of_markdown}


def visible_texts(*paths: str) -> Iterator[tuple[str, int, str]]:
    """Yield the file, line and content of each text, in the order of the files."""
    for path in (ROOT / name for name in paths or SOURCES):
        for file in sorted(path.rglob("*")) if path.is_dir() else [path]:
            source = file.read_text(encoding="utf-8") if file.suffix in READERS else ""
            for line, text in READERS[file.suffix](source) if source and RECORDED not in source[:100] else ():
                yield file.relative_to(ROOT).as_posix(), line, " ".join(text.split())


if __name__ == "__main__":
    for folder, texts in groupby(visible_texts(*sys.argv[1:]), lambda text: PurePath(text[0]).parent):
        print(f"\n{folder}" if folder.name else "\nprograms")
        for file, line, text in texts:
            print(f"  {PurePath(file).name}:{line}: {text}")
