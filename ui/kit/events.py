"""The options with which the page's events are registered, and helpers to read what a script sent with one."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType
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


def reply(
    event: gr.EventData, answer: Callable[[], Mapping[str, Any]], otherwise: Mapping[str, Any] = MappingProxyType({})
) -> Any:
    """The reply to a script's question, with the question's number, by which the script recognises it.

    Args:
        answer: returns the reply; if it refuses, the visitor sees a notice.
        otherwise: the reply after a refusal.
    """
    with for_people():
        number = field(event, "number", int)
        result = otherwise
        with for_people():
            result = answer()
        return packed({**result, "number": number})
    return gr.skip()


def replies(event: gr.EventData, answer: Callable[[], Iterator[Mapping[str, Any]]]) -> Iterator[Any]:
    """The replies to a question whose answer takes long, each with the question's number.

    Args:
        answer: yields what is said about its progress and, last, a reply with an "answer", or with why it is "refused";
            if it raises, the visitor sees a notice, and the last reply is the number alone.
    """
    with for_people():
        number = field(event, "number", int)
        is_answered = False
        with for_people():
            for said in answer():
                is_answered = "answer" in said or "refused" in said
                yield packed({**said, "number": number})
        if not is_answered:
            yield packed({"number": number})
