"""Markdown becomes elements of a fixed list; what could run, load or lead elsewhere stays text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from model.errors import AttendError
from ui.chat.chat_contract import FormattedNode, FormattedTag
from ui.chat.formatted.markdown import formatted, trees
from ui.kit.validation import MAX_CHARACTERS


def outline(nodes: Sequence[FormattedNode]) -> str:
    """The elements as a text: `p(Hi em(you))`."""
    texts = [node.get("text", "") + outline(_below(node)) for node in nodes]
    return "".join(
        text if node["tag"] == "text" else f"{node['tag']}({text})" for node, text in zip(nodes, texts, strict=True)
    )


def _below(node: FormattedNode) -> list[FormattedNode]:
    return node.get("children", [])


def everything(nodes: Sequence[FormattedNode]) -> Iterator[FormattedNode]:
    for node in nodes:
        yield node
        yield from everything(_below(node))


@pytest.mark.parametrize(
    ("text", "drawn"),
    [
        ("Hi *you*, **hey** ~~no~~ `x < y`", "p(Hi em(you), strong(hey) s(no) code(x < y))"),
        ("One\ntwo\\\nthree", "p(Onebr()twobr()three)"),
        ("- a\n- b\n  1. c", "ul(li(a)li(bol(li(c))))"),
        ("- a\n\n- b", "ul(li(p(a))li(p(b)))"),
        ("## T\n> q\n\n***", "h2(T)blockquote(p(q))hr()"),
        ("```py x\na < b\n```", "pre(a < b\n)"),
        ("|a|b|\n|-|-|\n|1|2|", "table(thead(tr(th(a)th(b)))tbody(tr(td(1)td(2))))"),
        ("[a *b*](https://example.org/?x=1)", "p(a(a em(b)))"),
        ("", ""),
    ],
)
def test_what_people_write(text: str, drawn: str) -> None:
    assert outline(formatted(text)) == drawn


@pytest.mark.parametrize(
    "text",
    [
        "<script>alert(1)</script>",
        "a <b onclick=alert(1)>b</b>",
        "![alt](http://example.org/x.png)",
        "[a](javascript:alert(1))",
        "[a](JaVaScRiPt:alert(1))",
        "[a](data:text/html;base64,PHNjcmlwdD4=)",
        "[a](vbscript:x)",
        "[a](file:///etc/passwd)",
        "[a](//example.org)",
        "[a](/gradio_api/info)",
        "<javascript:alert(1)>",
    ],
)
def test_what_could_run_or_load_or_lead_elsewhere_stays_text(text: str) -> None:
    (paragraph,) = formatted(text)
    texts = _below(paragraph)
    assert {node["tag"] for node in texts} == {"text"}
    assert outline(texts) == text


@pytest.mark.parametrize(
    "text", ["[a](&#106;avascript:alert(1))", "[a]( \u0001javascript:alert(1))", "[a]: javascript:x\n\n[a]"]
)
def test_disguises_make_no_links(text: str) -> None:
    assert not any("href" in node for node in everything(formatted(text)))


@pytest.mark.parametrize(
    ("text", "href"),
    [
        ("[a](HTTPS://example.org)", "HTTPS://example.org"),
        ("<https://example.org>", "https://example.org"),
        ("<a@example.org>", "mailto:a@example.org"),
        ('[a](<http://e.org/"onclick=x> "t")', "http://e.org/%22onclick=x"),
    ],
)
def test_links_to_pages_and_mail_addresses(text: str, href: str) -> None:
    assert [node["href"] for node in everything(formatted(text)) if "href" in node] == [href]


def test_a_list_counts_on_from_its_number_and_code_has_its_language() -> None:
    numbered, block = formatted("7. a\n8. b\n\n```python title\nx\n```")
    assert numbered.get("start") == 7 and block.get("language") == "python"


@given(st.lists(st.sampled_from([*"*_`~[]()<>!|-#&\\\n\t 1.:", "a", "http://", "javascript:", "```", "<img ", "&lt;"])))
def test_whatever_is_written_is_drawn_from_the_list(pieces: list[str]) -> None:
    for node in everything(formatted("".join(pieces))):
        assert node["tag"] in get_args(FormattedTag)
        assert ("text" in node) == (node["tag"] in ("text", "code", "pre"))
        assert node.get("href", "http:").lower().startswith(("http:", "https:", "mailto:"))


@pytest.mark.parametrize("mark", ["[", "> ", "- ", "*a_ ", "![", "1. "])
def test_deep_nesting_ends(mark: str) -> None:
    formatted(mark * (MAX_CHARACTERS // len(mark)))


def test_a_text_that_is_nested_too_deeply_is_left_to_its_tokens() -> None:
    deep = "*a " * 1000 + "b" + " a*" * 1000
    assert [bool(nodes) for nodes in trees([deep, "*a*"])] == [False, True]


@pytest.mark.parametrize("texts", [[1], ["a" * (MAX_CHARACTERS + 1)], ["a" * MAX_CHARACTERS, "b"], [""] * 501])
def test_other_questions_are_refused(texts: list[Any]) -> None:
    with pytest.raises(AttendError):
        trees(texts)
