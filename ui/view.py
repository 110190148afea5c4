"""What every part of the page is to its handlers: some components, and the values that an update gives them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import gradio as gr
from gradio.blocks import Block, BlockContext
from gradio.components import Component

from ui.page_update import PageUpdate

Output = Component | BlockContext
Changes = dict[Block, Any]  # new values of components


@dataclass(frozen=True, slots=True)
class Part:
    """A component that shows one field of an update."""

    component: Output
    value: Callable[[Any], Any] = lambda field: field  # what the component is given
    beside: Sequence[str] = ()  # other fields that its value has, too


class View:
    """Some components, and what they show of an update."""

    shows: ClassVar[type[PageUpdate]] = PageUpdate  # the updates that it is for

    @property
    def parts(self) -> Mapping[str, Part]:
        """Its components by the fields that they show; of two fields of a component the last counts."""
        return {}

    @property
    def outputs(self) -> Sequence[Output]:
        """Everything that its functions change: each costs the browser a little with every update."""
        return list(dict.fromkeys(part.component for part in self.parts.values()))

    def render(self, update: PageUpdate) -> Changes:
        """The new values of its components; nothing of an update that is another's."""
        if not isinstance(update, self.shows):
            return {}
        changes: Changes = {}
        for name, part in self.parts.items():
            if (field := getattr(update, name)) is not None:
                beside = {other: getattr(update, other) for other in part.beside}
                changes[part.component] = part.value({**field, **beside} if beside else field)
        return changes


def visible(value: bool) -> Any:
    """The change of a component that is there or not."""
    return gr.update(visible=value)
