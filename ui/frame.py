"""What a tab is, and what stands around every tab: the settings, the inspector, the meter.

A tab is a folder of ui/ with a file such as `chat/chat_tab.py`; `ui/tabs.py` lists them. It says what its model must be
for, lays out its components, joins them with its functions, and shows the updates that these return. Tabs do not know
each other.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from functools import wraps
from types import MappingProxyType
from typing import Any, ClassVar, get_origin

import gradio as gr
from gradio.components import Component
from gradio.events import Dependency
from gradio.utils import is_prop_update

from model.loaded import LoadedModel
from model.names import Task
from ui.kit.errors import for_people
from ui.kit.events import QUICK, heard, replies, reply
from ui.kit.events import field as field_of
from ui.kit.packing import packed
from ui.page_update import PageUpdate
from ui.runs.documents.kept_document import Document, OpenedDocument
from ui.runs.models import Models
from ui.runs.prompts import task_of
from ui.runs.runs_contract import RunMode
from ui.runs.session import Session, SessionsByHash
from ui.settings import panel as settings_panel
from ui.settings.code import Reproduction
from ui.settings.methods import settings_of, shared_settings_of
from ui.settings.panel import Panel
from ui.view import Changes, Output, Part, View

Boxes = Mapping[str, Component]  # by the names of the parameters that take their values
NO_BOXES: Boxes = MappingProxyType({})
_QUESTION: Mapping[str, Any] = {**QUICK, "trigger_mode": "multiple"}
Endpoint = Callable[..., Any]


@dataclass(frozen=True, slots=True)
class Frame(View):
    """The components that every tab may read and change."""

    models: Models
    session: gr.State
    system: gr.Textbox  # the system prompt
    panel: Panel
    inspector: gr.HTML
    meter: gr.HTML
    sessions_by_hash: SessionsByHash = field(default_factory=SessionsByHash)

    @property
    def parts(self) -> Sequence[Part]:
        return [
            Part("inspector", self.inspector, packed, beside=("number",)),
            Part("meter", self.meter),
            Part("seed", self.panel.used, settings_panel.seed_button),
            Part("seed", self.panel.seed),
        ]

    def bound(
        self, action: Callable[..., Any], boxes: Boxes = NO_BOXES, *, event: bool | None = None
    ) -> tuple[Callable[..., Any], list[Component]]:
        """An action as a function of the session, Gradio's request, the event and the inputs; and these inputs.

        The action's parameters say by their names what they take: `session`, `models`, the visitor's model (`loaded`)
        or its `name`, the panel's `settings` (with a definite seed), `unseeded` settings or those `shared` by cards,
        the `system` prompt in its box, a box of `boxes`. Any other one without a default is a field of the event's
        data.

        Args:
            event: whether the function takes the event; by default, it does if the action takes fields of its data.

        Raises `TypeError` for a parameter that is only a field's name where there is no event.
        """
        known: dict[str, Callable[[Session], Any]] = {
            "session": lambda session: session,
            "models": lambda session: self.models,
            "name": self.models.current,
            "loaded": lambda session: self.models.get(self.models.current(session)),
        }
        readers: dict[str, Callable[[object], Any]] = {
            "settings": lambda form: settings_of(form).seeded(),
            "unseeded": settings_of,
            "shared": shared_settings_of,
        }
        sources = {**dict.fromkeys(readers, self.panel.form), "system": self.system, **boxes}
        signature = inspect.signature(action, eval_str=True)  # of a partial function, too
        names = [name for name, each in signature.parameters.items() if name in sources or each.default is each.empty]
        inputs = [name for name in names if name in sources]
        kinds = {name: signature.parameters[name].annotation for name in names if name not in sources}
        fields = {name: get_origin(kind) or kind for name, kind in kinds.items() if name not in known}

        def of_values(session: Session, request: gr.Request, *values: object, **arguments: Any) -> Any:
            if request.session_hash:  # so that the models are freed when the visitor leaves
                self.sessions_by_hash[request.session_hash] = session
            arguments |= {name: take(session) for name, take in known.items() if name in names}
            for name, value in zip(inputs, values, strict=True):
                arguments[name] = readers[name](value) if name in readers else value
            return action(**arguments)

        def of_event(session: Session, request: gr.Request, event: gr.EventData, *values: object) -> Any:
            data = {name: field_of(event, name, kind) for name, kind in fields.items()}
            return of_values(session, request, *values, **data)

        if fields and event is False:
            raise TypeError(f"{action} has parameters that nothing is bound to: {', '.join(fields)}")
        bound = of_event if fields or event else of_values
        bound.__name__ = f"on_{getattr(action, 'func', action).__name__}"  # Gradio's: an endpoint may have the action's
        return bound, [self.session, *(sources[name] for name in inputs)]

    def bind(
        self,
        event: Callable[..., Any] | Sequence[Callable[..., Any]],
        action: Callable[..., Any],
        views: Sequence[View],
        kind: Mapping[str, Any] = QUICK,
        *,
        boxes: Boxes = NO_BOXES,
        shows: str = "",
        tab: str = "",
        in_turn: bool = True,
        **options: Any,
    ) -> Dependency:
        """Let an action of the session answer an event, or several: a generator gives one update after another.

        Args:
            views: what its updates change.
            kind: of the event; see `ui/kit/events.py`.
            boxes: components whose values the action takes; see `bound`.
            shows: the field of an update that the action returns; "" if it returns the update.
            tab: whose action it is: no other tab shows what it says of the meter. "" if any may.
            in_turn: whether the first update of a generator waits until the visitor's earlier events are answered.

        Returns:
            The listener of the last event, whose `then` adds what follows it.
        """
        function, inputs = self.bound(action, boxes)
        outputs = list(dict.fromkeys(component for view in views for component in view.outputs))
        if inspect.isgeneratorfunction(action):
            handler = self._run_handler(views, outputs, function, tab, in_turn=in_turn)
        else:
            handler = self._handler(views, outputs, function, tab, shows)
        events = [event] if callable(event) else event
        return [each(handler, inputs, outputs, **{**kind, **options}) for each in events][-1]

    def ask(self, component: gr.HTML, event: str, question: Callable[..., Any], key: str = "", **options: Any) -> None:
        """Let a function reply to a question of a component's script: a generator gives one reply after another.

        Args:
            event: the question, as the script triggers it.
            key: the field of the reply that the function returns; "" if it returns the reply.
        """
        function, inputs = self.bound(question, event=True)
        handler = replies(function) if inspect.isgeneratorfunction(question) else reply(function, key)
        getattr(component, event)(handler, inputs, component, **{**_QUESTION, **options})

    def hear(self, event: Callable[..., Dependency], action: Callable[..., None], **options: Any) -> None:
        """Let an action hear of an event that changes nothing on the page."""
        function, inputs = self.bound(action)
        event(heard(function), inputs, None, **{**_QUESTION, **options})

    def _run_handler(
        self,
        views: Sequence[View],
        outputs: Sequence[Output],
        function: Callable[..., Iterator[PageUpdate]],
        tab: str,
        *,
        in_turn: bool,
    ) -> Callable[..., Any]:
        """The handler of a function that takes the session first and yields one update after another."""

        @wraps(function)  # gradio reads the signature, to know who wants the event
        def handler(session: Session, *arguments: Any) -> Iterator[Changes]:
            properties: Changes = {}
            with for_people():
                for update in _numbered(session, function(session, *arguments), in_turn=in_turn):
                    changes = _changes(views, update, outputs, tab)
                    # Gradio sends the difference from the update before, and its page changes that one in place, even
                    # if it has not shown it yet. What this update left out would be lost: Stop would not appear.
                    properties = _properties(properties | changes)
                    yield properties | changes
                return
            yield _changes(views, PageUpdate(), outputs, tab)  # a run that yields nothing would empty every component

        return handler

    def _handler(
        self, views: Sequence[View], outputs: Sequence[Output], function: Callable[..., Any], tab: str, shows: str
    ) -> Callable[..., Any]:
        """The handler of a function that takes the session first and returns one update, or its field `shows`."""

        @wraps(function)
        def handler(session: Session, *arguments: Any) -> Changes:
            update = PageUpdate()  # where something goes wrong, nothing changes
            with for_people(), session.lock:
                number = session.next_update()
                result = function(session, *arguments)
                update = replace(PageUpdate(**{shows: result}) if shows else result, number=number)
            return _changes(views, update, outputs, tab)

        return handler


def _numbered(session: Session, updates: Iterator[PageUpdate], *, in_turn: bool) -> Iterator[PageUpdate]:
    """Number each update before its token is computed, so that what the visitor does meanwhile is newer."""
    with session.lock if in_turn else nullcontext():  # all that a run is made of, and its claim of the session
        number, update = session.next_update(), next(updates, None)
    while update is not None:
        yield replace(update, number=number)
        number, update = session.next_update(), next(updates, None)


def _changes(views: Sequence[View], update: PageUpdate, outputs: Sequence[Output], tab: str) -> Changes:
    """The new values of these components; those that are not named stay as they are."""
    if tab and update.meter is not None:  # the visitor may be looking at another tab by then
        update = replace(update, meter={**update.meter, "tab": tab})
    changes = {component: value for view in views for component, value in view.render(update).items()}
    return changes or {outputs[0]: gr.skip()}


def _properties(changes: Changes) -> Changes:
    """The changes of properties without a new value, such as whether a button is visible."""
    return {name: change for name, change in changes.items() if is_prop_update(change) and "value" not in change}


class Tab(View):
    """One side of the page, shown when its entry of the switch is chosen. Most members are optional."""

    name: ClassVar[str]  # its entry of the switch
    element: ClassVar[str]  # the id of the element that holds all of it; hidden while another tab is shown
    task: ClassVar[Task | None] = None  # what its model must be for; its entry brings one. None: any model will do
    fallback_task: ClassVar[Task | None] = None  # without a task: what replaces the model that the tab before brought
    keeps_documents: ClassVar[bool] = False  # whether the visitor's browser keeps what it shows
    mode: ClassVar[RunMode | None] = None  # of its runs, which the inspector beside it shows; None: it has none
    takes_system_prompt: ClassVar[bool] = False
    takes_settings: ClassVar[bool] = True
    # Functions, as `staticmethod`s. The tab's current state, with the visitor's model of this name:
    overview: Callable[[Session, Models, str], PageUpdate] = staticmethod(lambda session, models, name: PageUpdate())
    # The document for the visitor's browser to keep (None: nothing yet), under this name from now on ("": the name it
    # has); and what opens one in place of what is in view, or raises `AttendError` if the tab did not write it.
    document: Callable[[Session, str], Document | None] = staticmethod(lambda session, key: None)
    open_document: Callable[[Session, OpenedDocument], None] = staticmethod(lambda session, document: None)
    # Removes what is in view, once its document was deleted, so that nothing brings it back:
    discard: Callable[[Session], None] = staticmethod(lambda session: None)
    # Makes a function for programs, with a docstring and annotations, which raises `AttendError`:
    endpoint: Callable[[Models], Endpoint] | None = None
    # What "Copy as code" repeats; None if the tab has no run of its own. Its parameters are bound as an action's:
    reproduction: Callable[..., Reproduction | None] = staticmethod(lambda: None)

    def suits(self, loaded: LoadedModel) -> bool:
        """Whether the model is for what the tab does."""
        return self.task in (None, task_of(loaded))

    def unusable(self, loaded: LoadedModel) -> str:
        """Why its entry leads to the next tab while this model is chosen; "" if it doesn't."""
        return ""

    def lay_out(self, models: Models, *, first: bool) -> None:
        """Put its components where the caller stands.

        Args:
            first: whether the page begins with it.
        """
        raise NotImplementedError

    def wire(self, frame: Frame) -> None:
        """Say which function answers which of its events."""

    @property
    def boxes(self) -> Boxes:
        """The boxes whose values `reproduction` takes."""
        return NO_BOXES

    def reopened(self, session: Session, models: Models, name: str) -> PageUpdate:
        """The overview, with the boxes that visitors type into as they were kept."""
        return self.overview(session, models, name)

    def bind(
        self,
        frame: Frame,
        event: Callable[..., Any] | Sequence[Callable[..., Any]],
        action: Callable[..., Any],
        kind: Mapping[str, Any] = QUICK,
        **options: Any,
    ) -> Dependency:
        """`Frame.bind`, for actions that change the tab and the frame."""
        return frame.bind(event, action, (self, frame), kind, tab=self.name, **options)
