"""Imports Gradio in half the time, by skipping its type stubs.

At every import, Gradio parses the source of each of its components, makes a type stub with all events written out, and
compares it with the stub beside the source. That takes a second, and only editors read the stubs.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from types import ModuleType

STUBS = "gradio.component_meta", "create_or_modify_pyi"  # the module, and its function that makes stubs


def import_gradio() -> None:
    """Import Gradio without type stubs; if a version of Gradio makes them elsewhere, the import is only slower."""
    finder = _Finder()
    sys.meta_path.insert(0, finder)
    try:
        importlib.import_module("gradio")
    finally:
        sys.meta_path.remove(finder)


class _Finder(MetaPathFinder):
    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        spec = PathFinder.find_spec(fullname, path, target) if fullname == STUBS[0] else None
        if spec is not None and isinstance(spec.loader, SourceFileLoader):
            spec.loader = _Loader(spec.loader.name, spec.loader.path)
        return spec


class _Loader(SourceFileLoader):
    def exec_module(self, module: ModuleType) -> None:
        super().exec_module(module)
        setattr(module, STUBS[1], lambda *_: None)
