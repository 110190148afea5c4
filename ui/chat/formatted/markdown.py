"""Markdown as a tree of plain elements, which the page draws without markup.

Parsed by markdown-it-py as CommonMark with tables and strikethrough. Raw HTML, images and links to anything but web
pages and mail addresses stay the text that they were written as. Knows nothing of conversations or of gradio.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import get_args

from markdown_it import MarkdownIt
from markdown_it.tree import SyntaxTreeNode

from model.errors import AttendError
from ui.chat.chat_contract import FormattedNode, FormattedTag
from ui.kit.validation import checked_text

MAX_TEXTS = 500  # as many as ui/chat/formatted/requests.js keeps
_LINK = re.compile("(?:https?|mailto):", re.IGNORECASE)
_TAGS = frozenset(get_args(FormattedTag))


class _Parser(MarkdownIt):
    def validateLink(self, url: str) -> bool:
        """Whether the text of a link becomes one; see the base class."""
        return _LINK.match(url) is not None


_PARSER = _Parser("commonmark", {"html": False}).enable(["table", "strikethrough"])


def trees(texts: list[object]) -> list[list[FormattedNode]]:
    """The blocks of each text; `AttendError` for too many texts, or if they are longer together than one may be."""
    if len(texts) > MAX_TEXTS:  # even an empty one takes time
        raise AttendError(f"There are {len(texts):,} answers, but at most {MAX_TEXTS} are formatted at once.")
    read = [checked_text(text, "The answer") for text in texts]
    checked_text("".join(read), "All answers together")
    return [formatted(text) for text in read]


def formatted(text: str) -> list[FormattedNode]:
    """The blocks of a text; none if it is nested too deeply, and then the page shows its tokens."""
    try:
        return _nodes(SyntaxTreeNode(_PARSER.parse(text)).children)
    except RecursionError:
        return []


def _nodes(nodes: Iterable[SyntaxTreeNode]) -> list[FormattedNode]:
    """The nodes, without those that only hold others, such as the paragraphs of a dense list."""
    formatted: list[FormattedNode] = []
    for node in nodes:
        if node.type == "inline" or node.hidden:
            formatted += _nodes(node.children)
        else:
            formatted.append(_node(node))
    return formatted


def _node(node: SyntaxTreeNode) -> FormattedNode:
    match node.type:
        case "text":
            return {"tag": "text", "text": node.content}
        case "softbreak":  # line breaks are meant, in poems and addresses
            return {"tag": "br"}
        case "code_inline":
            return {"tag": "code", "text": node.content}
        case "fence" | "code_block":
            return {"tag": "pre", "text": node.content, "language": node.info.partition(" ")[0]}
        case "image":
            return {"tag": "text", "text": f"![{node.content}]({node.attrs['src']})"}
    if node.tag not in _TAGS:
        raise ValueError(f"Markdown has a <{node.tag}> that the page does not draw.")
    formatted: FormattedNode = {"tag": node.tag, "children": _nodes(node.children)}  # pyright: ignore[reportAssignmentType]
    if "href" in node.attrs:
        formatted["href"] = str(node.attrs["href"])
    if "start" in node.attrs:
        formatted["start"] = int(node.attrs["start"])
    return formatted
