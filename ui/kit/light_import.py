"""Importing Gradio in half the time: without the type stubs that it makes.

For each of its components, Gradio parses the component's source, makes a type stub with all events written out and
compares it with the one beside the source, at every import. That takes a second; only an editor ever reads it.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from types import ModuleType

STUBS = "gradio.component_meta", "create_or_modify_pyi"  # the module and its function that makes them


def import_gradio() -> None:
    """Import Gradio, the first time without type stubs; a Gradio that makes them elsewhere takes its time, no more."""
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
