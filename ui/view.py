"""What every part of the page is to its handlers: some components, and the values that a screen gives them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

import gradio as gr
from gradio.blocks import Block, BlockContext
from gradio.components import Component

from ui.screen import Screen

Output = Component | BlockContext
Changes = dict[Block, Any]  # new values of components


class View(Protocol):
    """Some components, and what they show of a screen."""

    @property
    def outputs(self) -> Sequence[Output]:
        """Everything that its functions change: each costs the browser a little with every update."""
        ...

    def render(self, screen: Screen) -> Changes:
        """The new values of its components; nothing of a screen that is another's."""
        ...


Parts = Mapping[str, tuple[Block, Callable[[Any], Any]]]  # a component and what makes its value, by a screen's field


def changes_of(screen: Screen, parts: Parts) -> Changes:
    """The new values of the components whose fields the screen sets; of two fields of a component the last counts."""
    values = ((component, value, getattr(screen, name)) for name, (component, value) in parts.items())
    return {component: value(field) for component, value, field in values if field is not None}


def as_it_is(value: Any) -> Any:
    """The value of a component that shows the field itself."""
    return value


def visible(value: bool) -> Any:
    """The change of a component that is there or not."""
    return gr.update(visible=value)
