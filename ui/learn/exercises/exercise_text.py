"""What the exercises of a chapter say, at the end of its text."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from markdown_it.tree import SyntaxTreeNode

from ui.learn.text.markdown import SLOT, TextError, plain

_MISTAKE = re.compile(r"Mistake (\w+)")
_LABELS = ("Hint", "Explanation", "Option", "Feedback", "Mistake NAME", "Answer", "On the page")


@dataclass(frozen=True, slots=True)
class Option:
    """One answer to choose, and what a reader who chose it wrongly is told."""

    text: str
    feedback: str = ""


@dataclass(frozen=True, slots=True)
class ExerciseText:
    """What an exercise says."""

    question: str
    explanation: str
    hint: str = ""
    options: tuple[Option, ...] = ()
    mistakes: Mapping[str, str] = field(default_factory=dict, hash=False)  # what is said of a typical one, by its name
    answer: str = ""  # of one that is solved by a change: the change, in words
    on_page: str = ""  # the part of the chapter that it can't be solved without, for a printed sheet


def read_exercises(file: str, nodes: Sequence[SyntaxTreeNode], names: Sequence[str]) -> dict[str, ExerciseText]:
    """What every exercise says; `TextError` if one is missing or isn't whole.

    Args:
        nodes: what stands below the heading of the exercises.
        names: of those that must be there.
    """
    nodes_by_name: dict[str, list[SyntaxTreeNode]] = {}
    for node in nodes:
        if node.type == "heading":
            slot = SLOT.fullmatch(plain(node))
            if slot is None or slot[1] not in names:
                raise TextError(f"{file} has an exercise “{plain(node)}”, but its chapter has none of this name.")
            nodes_by_name[slot[1]] = []
        elif nodes_by_name:
            nodes_by_name[list(nodes_by_name)[-1]].append(node)
    for name in names:
        if name not in nodes_by_name:
            raise TextError(f"{file} doesn't ask the exercise {{{{{name}}}}}.")
    return {name: _exercise(file, name, nodes_by_name[name]) for name in names}


def _exercise(file: str, name: str, nodes: list[SyntaxTreeNode]) -> ExerciseText:
    texts = [_line(node) for node in nodes if node.type == "paragraph"]
    items = [_line(item.children[0]) for node in nodes if node.type == "bullet_list" for item in node.children]
    if slot := SLOT.search(" ".join([*texts, *items])):
        raise TextError(
            f"{file} has a slot {{{{{slot[1]}}}}} in an exercise, but its chapter has nothing of this name."
        )
    lines: dict[str, list[str]] = {"Hint": [], "Explanation": [], "Answer": [], "On the page": []}
    options: list[Option] = []
    mistakes: dict[str, str] = {}
    for item in items:
        label, _, text = item.partition(": ")
        if label in lines:
            lines[label].append(text)
        elif label == "Option":
            options.append(Option(text))
        elif label == "Feedback" and options and not options[-1].feedback:
            options[-1] = Option(options[-1].text, text)
        elif mistake := _MISTAKE.fullmatch(label):
            mistakes[mistake[1]] = text
        elif label == "Feedback":
            raise TextError(f"{file} has a line “Feedback” in the exercise {{{{{name}}}}} that follows no “Option”.")
        else:
            known = ", ".join(_LABELS)
            raise TextError(f"{file} has a line “{label}” in the exercise {{{{{name}}}}}: it must be one of {known}.")
    if len(texts) != 1 or len(lines["Explanation"]) != 1 or len(lines["Hint"]) > 1:
        raise TextError(
            f"{file} must have one question, one explanation and at most one hint in the exercise {{{{{name}}}}}."
        )
    hint, answer, on_page = (" ".join(lines[label]) for label in ("Hint", "Answer", "On the page"))
    return ExerciseText(texts[0], lines["Explanation"][0], hint, tuple(options), mistakes, answer, on_page)


def _line(node: SyntaxTreeNode) -> str:
    return plain(node).replace("\n", " ")
