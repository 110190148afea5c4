"""What the exercises of a chapter say, at the end of its text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

from markdown_it.tree import SyntaxTreeNode

from ui.learn.text.markdown import SLOT, TextError, plain


@dataclass(frozen=True, slots=True)
class ExerciseText:
    """What an exercise says."""

    question: str
    hint: str
    explanation: str
    options: tuple[str, ...] = ()
    answer: str = ""  # of one that is solved by a change: the change, in words

    def filled(self, facts: Mapping[str, str]) -> ExerciseText:
        def fill(text: str) -> str:
            return SLOT.sub(lambda slot: facts[slot[1]], text)

        options = tuple(map(fill, self.options))
        return ExerciseText(fill(self.question), fill(self.hint), fill(self.explanation), options, fill(self.answer))


def read_exercises(
    file: str, nodes: Sequence[SyntaxTreeNode], names: Sequence[str], facts: Sequence[str]
) -> dict[str, ExerciseText]:
    """What every exercise says; `TextError` if one is missing or isn't whole.

    Args:
        nodes: what stands below the heading of the exercises.
        names: of those that must be there; `facts` may stand in them.
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
    return {name: _exercise(file, name, nodes_by_name[name], facts) for name in names}


def _exercise(file: str, name: str, nodes: list[SyntaxTreeNode], facts: Sequence[str]) -> ExerciseText:
    texts = [plain(node).replace("\n", " ") for node in nodes if node.type == "paragraph"]
    lines: dict[str, list[str]] = {"Hint": [], "Explanation": [], "Option": [], "Answer": []}
    for node in nodes:
        for item in node.children if node.type == "bullet_list" else ():
            label, _, text = plain(item.children[0]).replace("\n", " ").partition(": ")
            if label not in lines:
                raise TextError(
                    f"{file} has a line “{label}” in the exercise {{{{{name}}}}}: it must be one of {', '.join(lines)}."
                )
            lines[label].append(text)
    if len(texts) != 1 or len(lines["Hint"]) != 1 or len(lines["Explanation"]) != 1:
        raise TextError(f"{file} must have one question, one hint and one explanation in the exercise {{{{{name}}}}}.")
    for slot in (slot for text in [*texts, *chain.from_iterable(lines.values())] for slot in SLOT.findall(text)):
        if slot[0] not in facts:
            raise TextError(
                f"{file} has a slot {{{{{slot[0]}}}}} in an exercise, but its chapter has nothing of this name."
            )
    answer = " ".join(lines["Answer"])
    return ExerciseText(texts[0], lines["Hint"][0], lines["Explanation"][0], tuple(lines["Option"]), answer)
