"""The browser's cost of showing a text while it is written, and how fast the text appears.

    python -m benchmarks.streaming [--model attend-chat] [--tokens 128] [--cards 6] [--rounds 3] [--port 7862]

Chromium's counters give the main thread's time per token. A loop of animation frames records how many tokens are
visible at each moment, and the longest frame. The engine's rate is that of the same run without a page.
"""

from __future__ import annotations

import itertools
import json
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from playwright.sync_api import Page

import attend
from benchmarks.flags import add_counts, add_model, add_port
from benchmarks.page import chromium, open_page, served
from benchmarks.timing import machine, table
from model.command_line import Parser, command
from model.names import locate

OPENING = "Hi! How are you today?"
TEXT = "Once upon a time there was a little fox who"
COUNTERS = {
    "main thread": "TaskDuration",
    "style": "RecalcStyleDuration",
    "layout": "LayoutDuration",
    "script": "ScriptDuration",
}
NO_EXAMPLE = ":not(:has(:not([hidden]) > .at-example-note:not([hidden])))"  # and no opened file
STOP_AFTER, STOPPED_LENGTH = 20, 400  # tokens when Stop is clicked, and tokens that there would be without it

# Records in every frame how many tokens of the run the page shows, and adds up the layout shifts that no input caused.
_WATCH = """(selector) => {
  const seen = { frames: [], shift: 0 };
  window.seen = seen;
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) if (!entry.hadRecentInput) seen.shift += entry.value;
  }).observe({ type: 'layout-shift' });
  const look = (now) => {
    seen.frames.push([now, document.querySelectorAll(selector).length]);
    requestAnimationFrame(look);
  };
  requestAnimationFrame(look);
}"""


@dataclass(frozen=True, slots=True)
class Scene:
    """A place on the page where a text is written."""

    tab: str
    tokens: str  # the selector of the generated tokens
    start: Callable[[Page], None]
    stop: str  # the selector of the button that is visible while the text is written
    runs: int = 1


@dataclass(frozen=True, slots=True)
class Measurement:
    """The measurements of one run."""

    milliseconds: dict[str, float]  # of the main thread for a token, by the kind of work
    rate: float  # tokens a second that became visible
    longest: float  # milliseconds between two frames, the most
    shift: float  # cumulative layout shift


def _chat(page: Page) -> None:
    page.locator("#attend-message textarea").fill(OPENING)
    page.locator("#attend-message textarea").press("Enter")


def _write(page: Page) -> None:
    page.locator("#attend-text textarea").fill(TEXT)
    page.get_by_role("button", name="Continue", exact=True).click()


def _compare(page: Page) -> None:
    page.locator(".at-ask").get_by_role("button", name="Compare").click()


def scenes(cards: int) -> list[Scene]:
    """The three tabs in which texts grow."""
    return [
        Scene("Chat", ".at-assistant .at-tok:not(.at-recorded *)", _chat, "#attend-stop"),
        Scene("Write", f"#attend-right{NO_EXAMPLE} .at-box.at-generated", _write, "#attend-halt"),
        Scene("Compare", f".attend-compare{NO_EXAMPLE} .at-card .at-tok", _compare, "#attend-compare .at-stop", cards),
    ]


def _counters(session: Any) -> dict[str, float]:
    """Seconds of the main thread since the page was opened."""
    counted = {one["name"]: one["value"] for one in session.send("Performance.getMetrics")["metrics"]}
    return {name: counted[key] for name, key in COUNTERS.items()}


def _prepare(page: Page, scene: Scene) -> None:
    page.locator("#attend-tabs label", has_text=scene.tab).click()
    for _ in range(scene.runs - page.locator(".at-card").count() if scene.runs > 1 else 0):
        page.get_by_role("button", name="+ Add card").click()
    page.wait_for_timeout(500)


def stream(page: Page, scene: Scene) -> Measurement:
    """Let the page write one text and measure its cost."""
    _prepare(page, scene)
    session = page.context.new_cdp_session(page)
    session.send("Performance.enable", {"timeDomain": "threadTicks"})
    page.evaluate(_WATCH, scene.tokens)
    before = _counters(session)
    scene.start(page)
    page.locator(scene.stop).wait_for()
    page.locator(scene.stop).wait_for(state="hidden", timeout=300_000)
    page.wait_for_timeout(200)
    after = _counters(session)
    frames: list[tuple[float, int]] = page.evaluate("window.seen.frames")
    total = frames[-1][1]
    growing = [(at, count) for at, count in frames if 0 < count < total]
    ended = next(at for at, count in frames if count == total)
    begun, first = growing[0] if growing else (frames[0][0], 0)
    gaps = [later - at for (at, _), (later, _) in itertools.pairwise(frames)]
    return Measurement(
        {name: 1e3 * (after[name] - before[name]) / max(1, total) for name in COUNTERS},
        1e3 * (total - first) / max(1e-3, ended - begun),
        max(gaps),
        page.evaluate("window.seen.shift"),
    )


def stopped(page: Page, scene: Scene) -> float:
    """Milliseconds from a click on Stop to the last frame in which the text grew."""
    _prepare(page, scene)
    page.evaluate(_WATCH, scene.tokens)
    scene.start(page)
    page.wait_for_function(f"document.querySelectorAll({scene.tokens!r}).length >= {STOP_AFTER}")
    clicked = page.evaluate(
        """(stop) => {
      const now = performance.now();
      document.querySelector(stop).click();
      return now;
    }""",
        scene.stop,
    )
    page.locator(scene.stop).wait_for(state="hidden")
    page.wait_for_timeout(1500)
    frames = page.evaluate("window.seen.frames")
    grown = [later for (_, count), (later, more) in itertools.pairwise(frames) if more > count]
    return max(0.0, max(grown) - clicked)


def _query(tokens: int) -> str:
    """The address of a page whose texts have exactly this many tokens."""
    return f"/?min_new_tokens={tokens}&max_new_tokens={tokens}&seed=7"


def engine_rate(name: str, tokens: int) -> float:
    """Tokens per second of the same traced answer without a page."""
    model = attend.load(name)
    settings: dict[str, Any] = {"max_new_tokens": tokens, "min_new_tokens": tokens, "seed": 7, "attention": True}
    model.generate(TEXT, **settings)
    begun = time.perf_counter()
    model.generate(TEXT, **settings)
    return tokens / (time.perf_counter() - begun)


@command
def main(arguments: Sequence[str] | None = None) -> None:
    parser = Parser(prog="python -m benchmarks.streaming", description="What a streamed text costs the browser.")
    add_model(parser)
    add_port(parser, 7862)
    add_counts(parser, tokens=128, cards=6, rounds=3)
    options = parser.parse_args(arguments)
    locate(options.model)

    results: dict[str, list[Measurement]] = {}
    stops: dict[str, list[float]] = {}
    with chromium() as browser, served(options.model, options.port):
        for _ in range(options.rounds):
            for scene in scenes(options.cards):
                page = open_page(browser, options.port, _query(options.tokens))
                results.setdefault(scene.tab, []).append(stream(page, scene))
                page.close()
                page = open_page(browser, options.port, _query(STOPPED_LENGTH))
                stops.setdefault(scene.tab, []).append(stopped(page, scene))
                page.close()

    rate = engine_rate(options.model, options.tokens)
    rows = [["a token", *(f"{name} ms" for name in COUNTERS), "tokens/s", "longest frame ms", "shift", "stop ms"]]
    medians: dict[str, dict[str, float]] = {}
    for tab, runs in results.items():
        figures_of_tab = medians[tab] = {
            **{name: round(statistics.median(run.milliseconds[name] for run in runs), 2) for name in COUNTERS},
            "tokens/s": round(statistics.median(run.rate for run in runs), 1),
            "longest frame": round(statistics.median(run.longest for run in runs)),
            "shift": round(statistics.median(run.shift for run in runs), 3),
            "stop": round(statistics.median(stops[tab])),
        }
        rows.append([tab, *(f"{value:,}" for value in figures_of_tab.values())])
    print(f"{options.model} in Chromium, {options.tokens} tokens, {options.cards} cards, {options.rounds} rounds")
    print(table(rows))
    print(f"the engine alone: {rate:.1f} tokens/s")
    figures = {"engine_tokens_per_second": round(rate, 1), "median": medians}
    print(json.dumps({"benchmark": "streaming", "model": options.model, **figures, **machine()}))


if __name__ == "__main__":
    raise SystemExit(main())
