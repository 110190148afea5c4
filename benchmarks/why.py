"""How long it takes to explain a choice: layers' guesses, attributions, words left out, heads switched off, patches.

    python -m benchmarks.why [--model attend-chat] [--tokens 128] [--words 60] [--rounds 5] [--first]

The text is one of random tokens, and the page's own number of threads is used. What is seen first are the lens (of as
many positions as the page reads at once), the attribution and the thumbnails, each of which looks into the text anew,
as on the page. The gaps say how exact the answers are: how far the lens' last column is from the model's own output,
and each attribution's sum from what it explains. The patches put parts of a text of `--patched` tokens into one that
differs in a token.
"""

from __future__ import annotations

import json
import statistics
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from benchmarks.decoding import load_decoder
from benchmarks.flags import add_counts, add_model
from benchmarks.timing import machine, random_tokens, table
from model.command_line import Parser, command

# Milliseconds on a quiet core, by the model: a larger one may take ten times as long for what is seen first.
AIMS = {"attend-chat": {"first_ms": 150, "words_ms": 500, "heads_off_ms": 1000}, "": {"first_ms": 1500}}


@command
def main(arguments: Sequence[str] | None = None) -> None:
    parser = Parser(prog="python -m benchmarks.why", description="Time the explanations of a choice.")
    add_model(parser)
    add_counts(parser, tokens=128, words=60, patched=20, rounds=5)
    parser.add_argument("--first", action="store_true", help="only time what is seen first")
    options = parser.parse_args(arguments)
    from model.inspection.ablation import switch_off_each
    from model.inspection.attribution import attribute_directly, attribute_inputs
    from model.inspection.heads import score_heads
    from model.inspection.lens import positions_at_once, read_layers
    from model.inspection.patching import patch
    from model.inspection.words import leave_out
    from model.threads import fastest_threads
    from ui.inspector.why.heads import thumbnails as packed

    _, model = load_decoder(options.model)
    threads = fastest_threads(model)
    inspector = model.inspector()
    text: list[int] = random_tokens(model.vocabulary_size, options.tokens)
    chosen, rival = model.prefill(text).logits[0].topk(2).indices.tolist()
    words = [(index, index + 1) for index in range(1, options.words + 1)]
    short = text[: options.patched]
    other = [*short[:2], text[-1], *short[3:]]

    def thumbnails() -> int:
        attention = inspector.inspect(text, last=True).attention.decoder[0]  # (L, H, T, T)
        score_heads(attention, text, frozenset())
        return len(packed(attention, is_triangular=True)[0])

    rows = min(options.tokens, positions_at_once(inspector, model.vocabulary_size) or options.tokens)
    first: dict[str, Callable[[], Any]] = {
        "lens": lambda: read_layers(inspector, text, first=options.tokens - rows),
        "attribution": lambda: attribute_directly(inspector, text, chosen, rival),
        "thumbnails": thumbnails,
    }
    later: dict[str, Callable[[], Any]] = {
        "words": lambda: _last(leave_out(inspector, text[: options.words + 1], words, chosen, rival)),
        "inputs": lambda: attribute_inputs(inspector, text, chosen, rival, steps=30),
        "heads_off": lambda: _last(switch_off_each(inspector, text, chosen)),
        "patch": lambda: _last(patch(inspector, short, other, chosen, rival)),
    }
    milliseconds: dict[str, float] = {}
    answers: dict[str, Any] = {}
    for name, ask in (first if options.first else first | later).items():
        seconds = []
        for _ in range(options.rounds):
            begun = time.perf_counter()
            answers[name] = ask()
            seconds.append(time.perf_counter() - begun)
        milliseconds[f"{name}_ms"] = round(1e3 * statistics.median(seconds), 1)
    milliseconds["first_ms"] = round(sum(milliseconds[f"{name}_ms"] for name in first), 1)
    own = model.inspect(text).logits.softmax(dim=-1).max(dim=-1).values  # (T,)
    figures = {
        "benchmark": "why",
        "model": options.model,
        "tokens": options.tokens,
        "lens_rows": rows,
        "words": options.words,
        "patched": options.patched,
        **milliseconds,
        "thumbnails_bytes": answers["thumbnails"],
        "lens_gap": float((answers["lens"].top_probability[-1] - own[-rows:]).abs().max()),
        "attribution_gap": answers["attribution"].gap,
        "inputs_gap": None if options.first else answers["inputs"].gap,
        "threads": threads,
        **machine(),
    }
    aims = AIMS.get(options.model, AIMS[""])
    rows = [["", "ms", "aim"]]
    rows += [[name, f"{value:.1f}", f"<= {aims[name]}" if name in aims else ""] for name, value in milliseconds.items()]
    print(table(rows))
    print(json.dumps(figures))


def _last(results: Iterable[Any]) -> Any:
    *_, last = results
    return last


if __name__ == "__main__":
    sys.exit(main())
