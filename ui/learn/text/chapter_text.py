"""A chapter's text, as its `.md` file has it: read once, checked against what the chapter computes, and sent as trees.

The text begins with a few lines between `---`: title, aim, minutes. Below, beside plain Markdown:

- `$…$` is a formula; a paragraph of formulas alone stands by itself, and so does a list whose items begin with one.
- `{{name}}` is a slot, see `ui/learn/text/slots.py`; a paragraph with fields, tables or drawings is a row of them.
- A list `- case: sentence` under a slot is what is said there, case by case; a list with `+` stands in columns.
- `> …` is a side note. `## ▾ …` can be folded, and `## ▸ …` begins folded, as does a paragraph that begins with `▸`.
- `{{code: lesson/vocabulary.py learn}}`, in a paragraph of its own, names the code of what was said: a file, then a
  function or class. It is shown to readers who turn on “Show code”.
- `## Exercises` ends the chapter: under `### {{name}}` stand the question and a list of `Hint`, `Explanation`,
  `Answer`, `Mistake NAME`, and `Option`, each with its `Feedback`. `On the page` names the part of the chapter without
  which an exercise can't be solved, for the printed sheet. A prediction's slot stands in the text, too: what follows
  there, until the next heading, is hidden until the reader has guessed.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from markdown_it.tree import SyntaxTreeNode

from ui.learn.exercises.exercise_text import ExerciseText, read_exercises
from ui.learn.text.code_reference import code_reference
from ui.learn.text.markdown import PARSER, SLOT, TextError, UnknownMarkupError, line_of
from ui.learn.text.slots import Slot

Node = dict[str, Any]  # of a tree, as `ui/learn/text/chapter_text.js` draws it

_INSIDE = re.compile(r"\{([\w.]+)\}")  # a value within a label or a look
_CODE = "code"  # the slot of a reference to code
_CASE = re.compile(r"([\w. -]+): ")


@dataclass(frozen=True, slots=True)
class ChapterText:
    """A chapter's words."""

    title: str
    aim: str  # what a reader can do afterwards
    minutes: int  # what it takes to read it and to try its examples
    blocks: list[Node]
    slots: Mapping[str, Slot]
    exercises: Mapping[str, ExerciseText]


def read_text(path: Path, slots: Mapping[str, Slot], facts: Mapping[str, str], exercises: Sequence[str]) -> ChapterText:
    """A chapter's text; `TextError` if it isn't whole.

    Args:
        slots: all that must stand in it, once or more.
        facts: values that never change, which are put in the place of their slots before anything is read.
        exercises: the names of all that must be asked.
    """

    def fact_of(slot: re.Match[str]) -> str:
        # The name of an exercise may be that of a fact.
        is_heading = slot.string.endswith("### ", 0, slot.start())
        return slot[0] if is_heading else facts.get(slot[1], slot[0])

    source = SLOT.sub(fact_of, path.read_text(encoding="utf-8"))
    head = re.match(r"---\ntitle: (.+)\naim: (.+)\nminutes: (\d+)\n---\n", source)
    if head is None:
        raise TextError(f"{path.name} must begin with the lines ---, title, aim, minutes and ---.")
    body, _, end = source[head.end() :].partition("\n## Exercises\n")
    written = _slots_as_written(path.name, body, slots)
    try:
        blocks = _Blocks(path.name, written).parts(SyntaxTreeNode(PARSER.parse(body)).children)
        exercise_texts = read_exercises(path.name, SyntaxTreeNode(PARSER.parse(end)).children, exercises)
    except UnknownMarkupError as markup:
        raise TextError(f"{path.name} has something that no chapter can show: {markup}.") from markup
    return ChapterText(head[1], head[2], int(head[3]), blocks, written, exercise_texts)


def _slots_as_written(file: str, body: str, slots: Mapping[str, Slot]) -> dict[str, Slot]:
    """The slots of a text, each as it is written there; `TextError` for one that is unknown or missing."""
    written: dict[str, Slot] = {}
    used: set[str] = set()
    for name, label, looks in SLOT.findall(body):
        if name == _CODE:
            continue
        used |= {name, *_INSIDE.findall(label + looks)}
        if name in slots:
            try:
                written[name] = slots[name].as_written(label, looks.replace("\n", " ").split(" | ")[1:])
            except TextError as error:
                raise TextError(f"{file} has a slot {{{{{name}}}}} that {error}.") from error
    for name in sorted(used - slots.keys()):
        raise TextError(f"{file} has a slot {{{{{name}}}}}, but its chapter has nothing of this name.")
    for name in slots.keys() - used:
        raise TextError(f"{file} has no slot {{{{{name}}}}}, but its chapter has something to put there.")
    return written


@dataclass(frozen=True, slots=True)
class _Blocks:
    """Makes the blocks of a chapter from Markdown's."""

    file: str
    slots: Mapping[str, Slot]

    def parts(self, nodes: Sequence[SyntaxTreeNode]) -> list[Node]:
        """The blocks under each heading, in a part of their own."""
        top: list[Node] = []
        blocks = top
        part: Node = {}
        for node in nodes:
            if node.type != "heading":
                self._add(blocks, node)
                continue
            title = line_of(node)
            if node.tag == "h2":
                fold = {"▾": "open", "▸": "closed"}.get(str(title[0])[:1], "")
                title = [str(title[0])[2:], *title[1:]] if fold else title
                part = {"kind": "part", "title": title, "fold": fold, "blocks": []}
                top.append(part)
                blocks = part["blocks"]
            else:
                step: Node = {"kind": "step", "title": title, "blocks": []}
                part["blocks"].append(step)
                blocks = step["blocks"]
        return top

    def _all(self, nodes: Sequence[SyntaxTreeNode]) -> list[Node]:
        blocks: list[Node] = []
        for node in nodes:
            self._add(blocks, node)
        return blocks

    def _add(self, blocks: list[Node], node: SyntaxTreeNode, *, quiet: bool = False) -> None:
        match node.type:
            case "blockquote":
                for child in node.children:
                    self._add(blocks, child, quiet=True)
            case "paragraph":
                blocks.append({**self._paragraph(line_of(node)), **({"quiet": True} if quiet else {})})
            case "heading":
                blocks.append({"kind": "heading", "tag": node.tag, "parts": line_of(node)})
            case "bullet_list" | "ordered_list":
                self._add_list(blocks, [self._all(item.children) for item in node.children], node)
            case "table":
                rows = [[line_of(cell) for cell in row.children] for group in node.children for row in group.children]
                blocks.append({"kind": "prose_table", "head": rows[0], "rows": rows[1:]})
            case _:
                raise UnknownMarkupError(node.type.replace("_", " "))

    def _add_list(self, blocks: list[Node], items: list[list[Node]], node: SyntaxTreeNode) -> None:
        if node.markup == "+":
            blocks.append({"kind": "columns", "columns": items})
            return
        before = blocks[-1] if blocks else {}
        lines = [item[0]["parts"] for item in items]
        slots = [part["slot"] for part in before.get("parts", ()) if _is_slot(part) and self._has_cases(part["slot"])]
        if len(slots) == 1:
            before["cases"] = self._cases(slots[0], lines)
        elif all(isinstance(line[0], dict) and "formula" in line[0] for line in lines):
            blocks.append({"kind": "equations", "items": lines})
        else:
            blocks.append({"kind": "list", "ordered": node.type == "ordered_list", "items": lines})

    def _has_cases(self, name: str) -> bool:
        return name in self.slots and bool(self.slots[name].cases)

    def _cases(self, name: str, lines: list[list[Any]]) -> dict[str, list[Any]]:
        """What stands under a slot, by the case."""
        sentences: dict[str, list[Any]] = {}
        for parts in lines:
            match = _CASE.match(parts[0]) if parts and isinstance(parts[0], str) else None
            if match is None:
                raise TextError(
                    f"{self.file} has a line under {{{{{name}}}}} that doesn't begin with a case and a colon."
                )
            rest = parts[0][match.end() :]
            sentences[match[1]] = [*([rest] if rest else []), *parts[1:]]
        needed = self.slots[name].cases if name in self.slots else ()
        for case in [
            *(case for case in needed if case not in sentences),
            *(case for case in sentences if case not in needed),
        ]:
            what = "doesn't say" if case in needed else "says"
            why = "but must" if case in needed else "which is never the case"
            raise TextError(f"{self.file} {what} under {{{{{name}}}}} what it is in the case “{case}”, {why}.")
        return sentences

    def _paragraph(self, parts: list[Any]) -> Node:
        code = [part["label"] for part in parts if _is_slot(part) and part["slot"] == _CODE]
        if code:
            if len(code) < sum(part != " " for part in parts):
                raise TextError(
                    f"{self.file} has {{{{code: {code[0]}}}}} beside other words: give it its own paragraph."
                )
            return {"kind": "code", "items": [code_reference(self.file, written) for written in code]}
        kinds = [self.slots[part["slot"]].kind for part in parts if _is_slot(part) and part["slot"] in self.slots]
        if any(kind not in ("text", "cases") for kind in kinds):
            folded = isinstance(parts[0], str) and parts[0].startswith("▸")
            return {"kind": "row", "fold": folded, "parts": parts[1:] if folded else parts}
        if parts and all(isinstance(part, dict) and "formula" in part for part in parts if part != " "):
            return {"kind": "equation", "parts": [part for part in parts if part != " "]}
        return {"kind": "text", "parts": parts}


def _is_slot(part: Any) -> bool:
    return isinstance(part, dict) and "slot" in part
