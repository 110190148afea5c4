"""Pages of recorded runs, each in one file that needs no model: the examples that the tabs show, as shared files.

A document of an example comes without its attention, and the inspector's value of the same run has it.
"""

from __future__ import annotations

import base64
import json
import zlib
from typing import Any

from ui.kit import assets
from ui.share import bundle

EXAMPLES = {"chat": "run", "write": "run", "translate": "translation"}  # their modes, and the kinds of shared files


def pages() -> dict[str, str]:
    """The pages by the modes of the examples."""
    return {
        mode: bundle.template(kind).replace("{document}", bundle.inside_script(run_of(mode)))
        for mode, kind in EXAMPLES.items()
    }


def run_of(mode: str) -> dict[str, Any]:
    """The last run of an example, as a document with its attention."""
    packed = list(_recorded(f"{mode}_document")["runs"].values())[-1]
    run = json.loads(zlib.decompress(base64.b64decode(packed)))["run"]
    value = _recorded(mode)["runs"][-1]
    return {**run, "attention": {name: value[name] for name in ("layers", "heads", "rows")}}


def _recorded(name: str) -> Any:
    """The value of a module of ui/examples, which `docs/examples.py` has written as JSON."""
    source = assets.template(f"examples/{name}.js")
    return json.loads(source.partition(" = ")[2].strip().removesuffix(";"))
