"""Writes the run document and every `*_contract.py` of ui/ as TypeScript, `.d.ts`, for the check of the scripts.

    python -m ui.kit.declarations

`make check` runs this first, so that the scripts are checked against what Python sends now.
"""

from __future__ import annotations

import ast
from os.path import relpath
from pathlib import Path

UI = Path(__file__).resolve().parent.parent
RUN = UI.parent / "decoding" / "run" / "run_document.py"
_NAMES = {"str": "string", "int": "number", "float": "number", "bool": "boolean", "Any": "any", "None": "null"}


def contracts() -> list[Path]:
    """The modules that declare the values sent to scripts."""
    return [RUN, *sorted(UI.rglob("*_contract.py"))]


def declarations(source: str, folder: Path = UI) -> str:
    """The TypedDicts and aliases of a module as TypeScript; ValueError for a type without a counterpart here.

    Args:
        folder: the folder of the module, to which the addresses of its imports are relative.
    """
    imports, parts = "", []
    for node in ast.parse(source).body:
        match node:
            case ast.ImportFrom(module=str(module), names=names) if module.startswith(("ui.", "decoding.run.")):
                address = relpath(UI.parent / module.replace(".", "/"), folder)
                imports += f"import type {{ {', '.join(name.name for name in names)} }} from '{address}';\n"
            case ast.ImportFrom(module="decoding.step" | "model.inspection.intervention" as module, names=names):
                parts += [_alias(module, name.name) for name in names if not name.name.isupper()]  # no constants
            case ast.ClassDef(name=name, bases=[ast.Name(id=base)], body=body) if base != "Exception":
                extends = "" if base == "TypedDict" else f" extends {base}"
                fields = "".join(f"  {field};\n" for statement in body for field in _field(statement))
                parts.append(f"export interface {name}{extends} {{\n{fields}}}\n")
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Subscript() | ast.Name() as value):
                parts.append(f"export type {name} = {typescript(value)};\n")
    return "\n".join(["// Made by `python -m ui.kit.declarations`.\n", *filter(None, [imports]), *parts])


def _alias(module: str, name: str) -> str:
    """An alias from a module that is not a contract."""
    source = (UI.parent / module.replace(".", "/")).with_suffix(".py").read_text(encoding="utf-8")
    for node in ast.parse(source).body:
        match node:
            case ast.Assign(targets=[ast.Name(id=target)], value=value) if target == name:
                return f"export type {name} = {typescript(value)};\n"
    raise ValueError(f"{module} has no alias {name}")


def _field(node: ast.stmt) -> list[str]:
    match node:
        case ast.AnnAssign(
            target=ast.Name(id=name), annotation=ast.Subscript(value=ast.Name(id="NotRequired"), slice=inner)
        ):
            return [f"{name}?: {typescript(inner)}"]
        case ast.AnnAssign(target=ast.Name(id=name), annotation=annotation):
            return [f"{name}: {typescript(annotation)}"]
    return []  # a docstring


def typescript(node: ast.expr) -> str:
    """One annotation."""
    match node:
        case ast.Constant(value=None):
            return "null"
        case ast.Name(id=name):
            return _NAMES.get(name, name)
        case ast.BinOp(left=left, op=ast.BitOr(), right=right):
            return f"{typescript(left)} | {typescript(right)}"
        case ast.Subscript(value=ast.Name(id="Annotated"), slice=ast.Tuple(elts=[value, *_])):
            return typescript(value)
        case ast.Subscript(value=ast.Name(id="Literal"), slice=inner):
            values = inner.elts if isinstance(inner, ast.Tuple) else [inner]
            return " | ".join(_literal(value) for value in values)
        case ast.Subscript(value=ast.Name(id="list"), slice=inner):
            return f"({typescript(inner)})[]" if isinstance(inner, ast.BinOp) else f"{typescript(inner)}[]"
        case ast.Subscript(value=ast.Name(id="dict"), slice=ast.Tuple(elts=[key, value])):
            return f"Record<{typescript(key)}, {typescript(value)}>"
        case ast.Subscript(value=ast.Name(id="tuple"), slice=ast.Tuple(elts=values)):
            return f"[{', '.join(typescript(value) for value in values)}]"
    raise ValueError(f"A contract has a type that has no TypeScript form: {ast.unparse(node)}")


def _literal(node: ast.expr) -> str:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return f"'{node.value}'"
    raise ValueError(f"A contract has a literal that is not a string: {ast.unparse(node)}")


if __name__ == "__main__":
    for module in contracts():
        text = declarations(module.read_text(encoding="utf-8"), module.parent)
        module.with_suffix(".d.ts").write_text(text, encoding="utf-8")
