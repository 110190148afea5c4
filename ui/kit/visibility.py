"""Components that come and go without leaving the page.

Gradio's page mounts what is not `visible` only once it is to be seen. On rare occasions it then waits for good, and
what the same event changes stays as it was: Stop does not appear. What is "hidden" is always there.
"""

from __future__ import annotations

from typing import Any, Literal

import gradio as gr


def visibility(shown: bool) -> bool | Literal["hidden"]:
    """The `visible` of a new component."""
    return shown or "hidden"


def show(shown: bool) -> dict[str, Any]:
    """The update that shows a component, or hides it."""
    return gr.update(visible=visibility(shown))
