"""The size of Chat's updates while an answer grows, against the size of the whole answer.

    python -m benchmarks.updates [--model attend-chat] [--tokens 128 400]

Bytes are counted in the message to the page, where the value is a quoted string. No token ends an answer early.
"""

from __future__ import annotations

import json
import statistics
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from benchmarks.flags import add_counts, add_model
from benchmarks.timing import machine, table
from decoding.settings import DecodingSettings
from model import catalog
from model.command_line import Parser, command

if TYPE_CHECKING:
    from ui.runs.models import Models


def quoted_bytes(value: str) -> int:
    return len(json.dumps(value).encode())


def measure(models: Models, tokens: int) -> tuple[list[int], list[int]]:
    """The bytes of each update, and those of the whole answer at that time."""
    from ui.chat import chat_actions as chat
    from ui.kit.packing import packed
    from ui.runs.run_values import turn_value
    from ui.runs.session import Session

    settings = DecodingSettings(min_new_tokens=tokens, max_new_tokens=tokens, temperature=0.7, top_p=0.9, seed=1)
    session, updates, answers = Session(), list[int](), list[int]()
    for screen in chat.send(session, models, models.default, "Hi! How are you today?", settings):
        if screen.answer is not None:
            updates.append(quoted_bytes(packed(screen.answer)))
            answers.append(quoted_bytes(packed(turn_value(session.turns[-1]))))
    return updates, answers


@command
def main(arguments: Sequence[str] | None = None) -> None:
    parser = Parser(prog="python -m benchmarks.updates", description="Count the bytes of a streamed answer's updates.")
    add_model(parser)
    add_counts(parser, tokens=[128, 400])
    options = parser.parse_args(arguments)

    loaded = catalog.load(options.model)
    from ui.runs.models import Models

    models = Models((loaded.name,), lambda *_: loaded)
    rows = [["", "updates", "bytes, mean", "bytes, largest", "bytes, total"]]
    figures = {}
    for count in options.tokens:
        updates, answers = measure(models, count)
        for label, sizes in ((f"{count} tokens, what is new", updates), (f"{count} tokens, the whole answer", answers)):
            mean = statistics.mean(sizes)
            rows.append([label, *(f"{size:,.0f}" for size in (len(sizes), mean, max(sizes), sum(sizes)))])
        figures[count] = {"updates": len(updates), "new": sum(updates), "whole": sum(answers)}
    print(table(rows))
    print(json.dumps({"benchmark": "updates", "model": loaded.name, "bytes": figures, **machine()}))


if __name__ == "__main__":
    sys.exit(main())
