"""The options with which the page's events are registered, and helpers to read what a script sent with one."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import wraps
from typing import Any

import gradio as gr

from model.errors import AttendError
from ui.kit.errors import for_people
from ui.kit.packing import packed

RUNS = "runs"  # the group of events that run a model; see `limit_runs`

# All events are hidden from programs and lack Gradio's signs of progress, which cost the browser milliseconds per
# token. Their kinds: events that are answered at once, those for which the model reads what is being typed (one pass
# each), those that load a model, and those that run one. Each kind has its own threads, so that none waits for another.
# Events with data are never "always_last": Gradio would repeat the first event's data instead of sending the last
# one's. "once", the default, drops events while one is pending; it suits buttons whose second press would refer to
# something that is gone.
QUIET: Any = {"show_progress": "hidden", "show_progress_on": [], "api_visibility": "private"}
QUICK: Any = {**QUIET, "concurrency_limit": 32, "concurrency_id": "quick"}
PREVIEW: Any = {**QUIET, "concurrency_limit": 8, "concurrency_id": "previews", "trigger_mode": "always_last"}
LOADING: Any = {**QUIET, "concurrency_limit": 32, "concurrency_id": "loading"}
# "multiple", because with "once" Gradio drops a press between the last token and the end of the event; a second run
# beside the first is refused with a sentence.
RUNNING: Any = {**QUIET, "trigger_mode": "multiple", "concurrency_limit": None, "concurrency_id": RUNS}


def limit_runs(page: gr.Blocks, limit: int) -> None:
    """Limit the runs of all visitors at the same time; runs of one model share its passes."""
    for function in page.fns.values():
        if function.concurrency_id == RUNS:
            function.concurrency_limit = limit


def field(event: gr.EventData, name: str, kind: type) -> Any:
    """One field of the data that the page's script sent; `AttendError` if it is missing or of another kind."""
    data: Mapping[str, Any] = event._data if isinstance(event._data, Mapping) else {}
    value = data.get(name)
    if not isinstance(value, kind) or (isinstance(value, bool) and kind not in (bool, object)):
        raise AttendError("This page is out of date: reload it.")
    return value


def reply(question: Callable[..., Any], key: str = "") -> Callable[..., Any]:
    """The handler of a script's question: its reply carries the question's number, by which the script recognises it.

    Args:
        question: takes the handler's arguments; if it refuses, the visitor sees a notice, and the reply is the number
            alone.
        key: the field of the reply that it returns; "" if it returns the reply.
    """

    @wraps(question)  # gradio reads the signature
    def handler(*arguments: Any) -> Any:
        with for_people():
            number, result = _number(arguments), {}
            with for_people():
                answer = question(*arguments)
                result = {key: answer} if key else answer
            return packed({**result, "number": number})
        return gr.skip()

    return handler


def replies(question: Callable[..., Iterator[Mapping[str, Any]]]) -> Callable[..., Iterator[Any]]:
    """The handler of a question whose answer takes long: several replies, each with the question's number.

    Args:
        question: yields what is said about its progress and, last, a reply with an "answer", or with why it is
            "refused"; if it raises, the visitor sees a notice, and the last reply is the number alone.
    """

    @wraps(question)
    def handler(*arguments: Any) -> Iterator[Any]:
        with for_people():
            number, is_answered = _number(arguments), False
            with for_people():
                for said in question(*arguments):
                    is_answered = "answer" in said or "refused" in said
                    yield packed({**said, "number": number})
            if not is_answered:
                yield packed({"number": number})

    return handler


def heard(action: Callable[..., None]) -> Callable[..., None]:
    """The handler of an event that changes nothing on the page."""

    @wraps(action)
    def handler(*arguments: Any) -> None:
        with for_people():
            action(*arguments)

    return handler


def _number(arguments: Sequence[object]) -> int:
    return field(next(each for each in arguments if isinstance(each, gr.EventData)), "number", int)
