"""How long Stop takes while many others type, and each keystroke is a preview that the model has to read.

    python -m benchmarks.load.abuse [--model attend-chat] [--typists 40] [--seconds 30]

The typists send the page's own events over HTTP, as fast as they are answered, with a text that fills half the context.
Meanwhile one visitor after another lets the model continue a text and presses Stop. Prints one JSON line.
"""

from __future__ import annotations

import json
import statistics
import sys
import time
import uuid
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx

from benchmarks.flags import add_counts, add_model, add_port
from benchmarks.load.page import serving
from benchmarks.timing import machine, percentile_95
from model.command_line import Parser, command

_TEXT = "Once upon a time there was a small dog who liked to play in the park with all of its friends. " * 9
_TIMEOUT = 120.0  # seconds


class OpenPage:
    """The page as a browser uses it: events with the values of their components, and one stream of replies."""

    def __init__(self, address: str) -> None:
        self._api = f"{address}/gradio_api"
        self._http = httpx.Client(timeout=_TIMEOUT)
        config = self._http.get(f"{address}/config").json()
        self._values = {each["id"]: each["props"].get("value") for each in config["components"]}
        self._names = {each["id"]: each["props"].get("elem_id") for each in config["components"]}
        self._events = {
            (self._names.get(component), event): dependency
            for dependency in config["dependencies"]
            for component, event in dependency["targets"]
        }
        self.session = uuid.uuid4().hex

    def body(self, element: str, event: str, **values: Any) -> dict[str, Any]:
        """What the browser sends for an event.

        Args:
            values: the values of components, by the ids of their elements; others have their initial values.
        """
        dependency = self._events[element, event]
        ids = dependency["inputs"]
        data = [values.get((self._names[each] or "").replace("-", "_"), self._values[each]) for each in ids]
        return {"fn_index": dependency["id"], "data": data, "session_hash": self.session, "event_data": None}

    def join(self, body: dict[str, Any]) -> None:
        self._http.post(f"{self._api}/queue/join", json=body).raise_for_status()

    def at_once(self, body: dict[str, Any]) -> None:
        self._http.post(f"{self._api}/run/predict", json=body).raise_for_status()

    def replies(self) -> Iterator[tuple[dict[str, Any], int]]:
        """Yield each message of the server with its size in bytes, until all events are answered."""
        with self._http.stream("GET", f"{self._api}/queue/data", params={"session_hash": self.session}) as stream:
            for line in stream.iter_lines():
                if line.startswith("data:"):
                    message = json.loads(line[5:])
                    yield message, len(line)
                    if message["msg"] == "close_stream":
                        return


def type_on(address: str, end: float) -> list[int]:
    """Type until `end`; returns the bytes of each preview."""
    page, sizes, typed = OpenPage(address), list[int](), _TEXT
    while time.perf_counter() < end:
        typed += "x"
        page.join(page.body("attend-text", "input", attend_text=typed))
        sizes.append(sum(size for _, size in page.replies()))
    return sizes


def stop_again_and_again(address: str, end: float) -> list[float]:
    """Continue a text and stop, until `end`; returns the seconds from each Stop to the end of its run."""
    seconds = []
    while time.perf_counter() < end:
        page, pressed = OpenPage(address), 0.0
        page.join(page.body("attend-continue", "click", attend_text="Once upon a time"))
        for message, _ in page.replies():
            if message["msg"] == "process_generating" and not pressed:
                stopper, pressed = httpx.Client(timeout=_TIMEOUT), time.perf_counter()
                stopper.post(f"{address}/gradio_api/run/predict", json=page.body("attend-halt", "click"))
            if message["msg"] == "process_completed":
                seconds.append(time.perf_counter() - pressed)
    return seconds


@command
def main(arguments: Sequence[str] | None = None) -> None:
    parser = Parser(prog="python -m benchmarks.load.abuse", description="Press Stop while many others type.")
    add_model(parser)
    add_counts(parser, typists=40, seconds=30)
    add_port(parser, 7864)
    options = parser.parse_args(arguments)
    with serving(options.model, options.port) as page, ThreadPoolExecutor(options.typists + 1) as threads:
        calm = stop_again_and_again(page.address, time.perf_counter() + 5)
        end = time.perf_counter() + options.seconds
        typing = [threads.submit(type_on, page.address, end) for _ in range(options.typists)]
        stopping = threads.submit(stop_again_and_again, page.address, end).result()
        sizes = [size for each in typing for size in each.result()]
    figures = {
        "typists": options.typists,
        "previews": len(sizes),
        "largest_preview": max(sizes, default=None),
        "median_preview": statistics.median(sizes) if sizes else None,
        "stops": len(stopping),
        "stop_alone_median": statistics.median(calm),
        "stop_median": statistics.median(stopping),
        "stop_p95": percentile_95(stopping),
    }
    print(json.dumps({"model": options.model, **figures, "machine": machine()}))


if __name__ == "__main__":
    sys.exit(main())
