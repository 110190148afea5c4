"""A model's modules as a printed tree: names, classes and the shapes of their parameters."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby

from torch import nn

MAX_LINES = 400


def module_tree(network: nn.Module) -> str:
    """One line for each module; those in a row that are alike, such as layers, stand together. A parameter that stood
    in an earlier module is marked as shared."""
    total = sum(parameter.numel() for parameter in network.parameters())
    lines = [f"{type(network).__name__}: {total:,} parameters", *_lines(network, set())]
    return "\n".join(lines if len(lines) <= MAX_LINES else [*lines[:MAX_LINES], "…"])


def _lines(module: nn.Module, seen: set[int]) -> Iterator[str]:
    branches = [(name, [*_branch(child, seen)]) for name, child in module.named_children()]
    for _, group in groupby(branches, key=lambda branch: branch[1]):
        alike = list(group)
        names, lines = [name for name, _ in alike], alike[0][1]
        if len(names) == 1:
            yield f"  {names[0]}: {lines[0]}"
        else:
            yield f"  {names[0]}–{names[-1]}: {len(names)} × {lines[0]}"
        yield from (f"  {line}" for line in lines[1:])


def _branch(module: nn.Module, seen: set[int]) -> Iterator[str]:
    """A module with its own parameters, and what is inside of it."""
    shapes = []
    for name, parameter in module.named_parameters(recurse=False, remove_duplicate=False):
        shape = ", ".join(f"{size:,}" for size in parameter.shape)
        shapes.append(f"{name} ({shape}){' shared' if id(parameter) in seen else ''}")
        seen.add(id(parameter))
    kind = type(module).__name__.removeprefix("Packed")  # of ours, whose numbers lie in the order of the processor
    yield "  ".join([kind, *shapes])
    yield from _lines(module, seen)
