"""The search in the tree of words, as the chapter on how a text is generated shows it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from decoding.parameters.parameter import quoted
from lesson.generation.search import TreeSearch, greedy_path, search_tree
from lesson.generation.tree import END, ROOT, WEIGHTS, WORDS, TokenPath, WordTree
from model.errors import AttendError
from ui.learn.wording import counted, rounded, sent, short


def check_words(name: str, value: Any) -> tuple[str, ...]:
    """The words of the tree, without the spaces around them."""
    is_list = isinstance(value, list | tuple) and all(isinstance(word, str) for word in value)
    if not is_list or len(value) != len(WORDS):
        raise AttendError(
            f"The tree's {name} are {quoted(value)}, but must be {len(WORDS)} texts: reload the page to start again."
        )
    return tuple(word.strip() for word in value)


def word_search(tree: WordTree, beams: int) -> dict[str, Any]:
    """What greedy decoding and beam search find: `search`, which is drawn, and what the chapter says of it."""
    search, greedy = search_tree(tree, beams), greedy_path(tree)
    return {"search": _picture(tree, beams, search, greedy), **_words(tree, beams, search, greedy)}


def _picture(tree: WordTree, beams: int, search: TreeSearch, greedy: TokenPath) -> dict[str, Any]:
    def entry(path: TokenPath) -> dict[str, Any]:
        return {"path": path, "factors": sent(tree.factors(path)), "p": rounded(tree.probability(path))}

    return {
        "tree": tree.weights,
        "changes_others": any(tree.weights[row] != WEIGHTS[row] for row in (0, 1, 3)),  # than those after “dog”
        "words": tree.words,
        "beams": beams,
        "paths": [{**entry(path), "outcome": search.outcomes[path]} for path in tree.paths()],
        "steps": [[entry(path) for path in kept] for kept in search.kept],
        "found": entry(search.result),
        "greedy": entry(greedy),
        "best": entry(tree.most_probable()),
    }


def _words(tree: WordTree, beams: int, search: TreeSearch, greedy: TokenPath) -> dict[str, Any]:
    path, best = search.result, tree.most_probable()
    is_better = tree.probability(path) > tree.probability(greedy) * (1 + 1e-9)
    is_missed = tree.probability(best) > tree.probability(path) * (1 + 1e-9)

    def text_of(path: TokenPath) -> str:
        return f"“{' '.join(tree.words[token] for token in (ROOT, *path))}”"

    def product(path: TokenPath) -> str:
        return f"{' × '.join(short(factor, 3) for factor in tree.factors(path))} = {short(tree.probability(path), 3)}"

    def listed(paths: Sequence[TokenPath]) -> str:
        return ", ".join(
            f"{' '.join(tree.words[token] for token in path)} ({short(tree.probability(path), 3)})" for path in paths
        )

    uneven = [(sum(row), word) for row, word in zip(tree.weights, tree.words, strict=False) if abs(sum(row) - 1) > 1e-6]
    return {
        "sums": " ".join(
            f"The numbers after “{word}” add up to {short(total, 3)}, so each is divided by that."
            for total, word in uneven
        ),
        "greedy_text": text_of(greedy),
        "greedy_product": product(greedy),
        "searched": ["beams", "better" if is_better else "one beam" if beams == 1 else "same"],
        "beam_count": counted(beams, "beam"),
        "found_text": text_of(path),
        "found_product": product(path),
        "kept_first": listed(search.kept[0]),
        "kept_second": listed(search.kept[1]),
        "won": tree.words[path[0]],
        "lost": tree.words[greedy[0]],
        "missed": ["missed"] if is_missed else [],
        "best_text": text_of(best),
        "best_product": product(best),
    }


def tree_label(tree: WordTree, token: int) -> str:
    """A word of the tree as a tokenizer would show it, with the space before it."""
    if token == END:
        return "<end>"
    return tree.words[token] if token == ROOT else f" {tree.words[token]}"
