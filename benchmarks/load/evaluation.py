"""Sentences scored by a program over `/v1/completions`, as lm-eval sends them, beside `training.blimp` in this process.

    python -m benchmarks.load.evaluation [--model attend-chat] [--sentences 256] [--batch 32] [--rounds 5]

Both score the same sentences, one after another; the program sends `batch` of them at once and reads the echo.
"""

from __future__ import annotations

import json
import socket
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import islice, product
from typing import TYPE_CHECKING, Any

from benchmarks.flags import add_counts, add_model
from benchmarks.timing import interleave, machine, ratio, table
from model.command_line import Parser, command

if TYPE_CHECKING:
    from model.loaded import LoadedModel

WORDS = (
    ("The", "A", "This", "Every"),
    ("dog", "girl", "teacher", "bird", "old man", "doctor"),
    ("sees", "likes", "helps", "wants to find", "talks about"),
    ("the red house", "her friends", "a small boat", "those books", "many of the children"),
    ("today", "in the garden", "when it rains"),
)


def sentences(count: int) -> list[str]:
    """This many sentences of five to ten words, all different."""
    return [f"{' '.join(words)}." for words in islice(product(*WORDS), count)]


def over_http(client: Any, model: str, texts: Sequence[str], batch: int) -> list[float]:
    """The log-probability of each text, as lm-eval computes it; the client is one of httpx."""
    scores = []
    for start in range(0, len(texts), batch):
        body = {"model": model, "prompt": texts[start : start + batch], "echo": True, "logprobs": 1, "max_tokens": 1}
        answer = client.post("/v1/completions", json={**body, "temperature": 0, "seed": 1})
        answer.raise_for_status()
        columns = [choice["logprobs"]["token_logprobs"] for choice in answer.json()["choices"]]
        scores += [sum(each[1:-1]) for each in columns]  # the first has none, and the last token is new
    return scores


@contextmanager
def served(loaded: LoadedModel) -> Iterator[str]:
    """The address of a page with the model, served by this process."""
    from ui.page.layout import build
    from ui.runs.models import Models
    from ui.server import launch

    page = build(Models((loaded.name,), lambda name, progress: loaded))
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    launch.launch(page, host="127.0.0.1", port=port, block=False)
    yield f"http://127.0.0.1:{port}"
    page.close()


@command
def main(arguments: Sequence[str] | None = None) -> None:
    parser = Parser(
        prog="python -m benchmarks.load.evaluation", description="Time scoring over HTTP beside training.blimp."
    )
    add_model(parser)
    add_counts(parser, sentences=256, batch=32, rounds=5)
    options = parser.parse_args(arguments)
    import httpx

    from model import catalog
    from model.threads import use_threads
    from training.blimp import log_probability

    use_threads(1)
    loaded, texts = catalog.load(options.model), sentences(options.sentences)
    with served(loaded) as address, httpx.Client(base_url=address, timeout=600) as client:
        seconds = interleave(
            {
                "over HTTP": lambda: over_http(client, loaded.name, texts, options.batch),
                "training.blimp": lambda: [log_probability(loaded, text) for text in texts],
            },
            options.rounds,
        )
        scores = over_http(client, loaded.name, texts, options.batch)
    gap = max(abs(one - log_probability(loaded, text)) for one, text in zip(scores, texts, strict=True))
    speed = ratio(seconds["training.blimp"], seconds["over HTTP"])
    rows = [[name, f"{len(texts) / min(each):.0f}"] for name, each in seconds.items()]
    print(
        f"{loaded.name}, {len(texts)} sentences, {options.batch} a request, one thread; sentences a second, best round"
    )
    print(table(rows))
    summary = {"benchmark": "evaluation", "model": loaded.name, "sentences": len(texts), "batch": options.batch}
    print(json.dumps({**summary, "speed": round(speed, 2), "largest_gap": round(gap, 7), **machine()}))


if __name__ == "__main__":
    sys.exit(main())
