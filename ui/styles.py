"""The rules that hide what is not in sight: until the page is whole, and what belongs to another tab."""

from __future__ import annotations

from collections.abc import Sequence

from ui.frame import Tab
from ui.tabs import TABS

_SETTINGS = "#attend-form, #attend-seed-used, #attend-code"
# The components come one after the other, and nothing shall move under a reader's eyes.
_UNREADY = """body:not([data-ready]) :is(.gradio-container, .sidebar-parent, .sidebar) {
  visibility: hidden;
  transition: none !important;
}"""


def styles(tabs: Sequence[type[Tab]] = TABS) -> str:
    """What the page's own HTML contains; all other styles are fetched (`ui/kit/assets.py`)."""
    return f"{_UNREADY}\n{visibility(tabs)}"


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
