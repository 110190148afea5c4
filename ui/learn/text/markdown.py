"""Markdown with formulas and slots, of which a chapter's text is written."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.rules_inline import StateInline
from markdown_it.tree import SyntaxTreeNode

from model.errors import AttendError

_WORDS = r"(?:[^{}|]|\{[\w.]+\})+?"
SLOT = re.compile(rf"\{{\{{([\w.]+)(?:: ({_WORDS}))?((?:\s\|\s{_WORDS})*)\}}\}}")  # name, label, looks
_FORMULA = re.compile(r"\$((?:[^$])+)\$")
_INLINE = {"slot": SLOT, "formula": _FORMULA}


class TextError(AttendError):
    """What a teacher has to correct in a chapter's text, in one sentence."""


class UnknownMarkupError(Exception):
    """Something that no chapter can show, such as an image."""


def _inline(state: StateInline, silent: bool) -> bool:
    """Formulas and slots, in which nothing else is markup."""
    for kind, pattern in _INLINE.items():
        if match := pattern.match(state.src, state.pos):
            if not silent:
                token = state.push(kind, "", 0)
                token.content = match[1]
                token.meta = {"label": (match[2] or "").replace("\n", " ")} if kind == "slot" else {}
            state.pos = match.end()
            return True
    return False


PARSER = MarkdownIt("commonmark", {"html": False}).enable("table")
PARSER.inline.ruler.before("escape", "attend", _inline)


def line_of(node: SyntaxTreeNode) -> list[Any]:
    """The words of a paragraph, heading or cell: strings, and objects for all else."""
    merged: list[Any] = []
    for part in _inline_nodes(node):
        if isinstance(part, str) and merged and isinstance(merged[-1], str):
            merged[-1] += part
        else:
            merged.append(part)
    return merged


def _inline_nodes(node: SyntaxTreeNode) -> Iterator[Any]:
    for child in node.children:
        match child.type:
            case "inline":
                yield from _inline_nodes(child)
            case "text":
                if child.content:
                    yield child.content
            case "softbreak":
                yield " "
            case "code_inline":
                yield {"code": child.content}
            case "formula":
                yield {"formula": child.content}
            case "slot":
                yield {"slot": child.content, "label": child.meta["label"]}
            case "strong" | "em":
                yield {child.type: line_of(child)}
            case "link":
                yield {"link": str(child.attrs["href"]), "parts": line_of(child)}
            case _:
                raise UnknownMarkupError(child.type.replace("_", " "))


def plain(node: SyntaxTreeNode) -> str:
    """The words of a node as they were written."""
    return node.children[0].content if node.children else ""
