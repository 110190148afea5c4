"""What every part of the page is to its handlers: some components, and the values that an update gives them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import gradio as gr
from gradio.blocks import Block, BlockContext
from gradio.components import Component
from gradio.utils import is_prop_update

from ui.page_update import PageUpdate

Output = Component | BlockContext
Changes = dict[Block, Any]  # new values of components


@dataclass(frozen=True, slots=True)
class Part:
    """What a component shows of one field of an update."""

    field: str
    component: Output
    value: Callable[[Any], Any] = lambda field: field  # what the component is given
    beside: Sequence[str] = ()  # other fields that its value has, too


class View:
    """Some components, and what they show of an update."""

    shows: ClassVar[type[PageUpdate]] = PageUpdate  # the updates that it is for

    @property
    def parts(self) -> Sequence[Part]:
        """What its components show. If two parts give a component a value, the later one wins, and keeps the properties
        that were set before it."""
        return ()

    @property
    def outputs(self) -> Sequence[Output]:
        """Everything that its functions change: each costs the browser a little with every update."""
        return list(dict.fromkeys(part.component for part in self.parts))

    def render(self, update: PageUpdate) -> Changes:
        """The new values of its components; nothing of an update that is another's."""
        if not isinstance(update, self.shows):
            return {}
        changes: Changes = {}
        for part in self.parts:
            if (field := getattr(update, part.field)) is not None:
                beside = {other: getattr(update, other) for other in part.beside}
                change, before = part.value({**field, **beside} if beside else field), changes.get(part.component, {})
                if is_prop_update(before):
                    change = before | (change if is_prop_update(change) else {"value": change})
                changes[part.component] = change
        return changes


def visible(value: object) -> Any:
    """Show a component, or hide it."""
    return gr.update(visible=bool(value))


def hidden(value: object) -> Any:
    """Hide a component, or show it."""
    return visible(not value)


def disabled(value: object) -> Any:
    """Disable a component, or enable it."""
    return gr.update(interactive=not value)
