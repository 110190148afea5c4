"""The page's styles: its own, and those of every tab with the rules that follow from what it declares."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ui.encoder.view import STYLE as ENCODER
from ui.frame import Tab
from ui.tabs import TABS

_FOLDER = Path(__file__).parent
_SETTINGS = "#attend-form, #attend-seed-used, #attend-code"


def styles(tabs: Sequence[type[Tab]] = TABS) -> str:
    """One style sheet."""
    settings = (f"settings/{part}" for part in ("system_prompt", "panel", "advanced", "method_list", "preview", "code"))
    common = ("page/page", "page/header", "page/connection", "models/languages", *settings)
    files = [*(_FOLDER / f"{name}.css" for name in common), ENCODER, *(file for tab in tabs for file in tab.styles)]
    return "\n".join([*(file.read_text(encoding="utf-8") for file in files), visibility(tabs)])


def visibility(tabs: Sequence[type[Tab]]) -> str:
    """Rules that hide what does not belong to the chosen tab, so that a click needs no reply from the server.

    `ui/page/switch.js` sets `data-tab` on the body. `:has()` would need no script, but with it the browser spends most
    of its time on styles while a text streams. Gradio adds the style sheet a second time, scoped to its container,
    which has no body inside: so these rules only work outside media queries.
    """
    rules = []
    for tab in tabs:
        chosen = f'[data-tab="{tab.name}"]'
        hidden = [f"body:not({chosen}) #{tab.element}"]
        if tab.mode is None:
            hidden.append(f"body{chosen} :is(#attend-right, #attend-meter)")
        if not tab.takes_system_prompt:
            hidden.append(f"body{chosen} :is(#attend-system, #attend-system-examples)")
        if not tab.takes_settings:
            hidden.append(f"body{chosen} :is({_SETTINGS})")
        rules.append(f"{', '.join(hidden)} {{ display: none; }}")
    return "\n".join(rules)
