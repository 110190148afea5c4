"""Times the steps of attend-chat's training, in two precisions of its products, with and without fused passes.

    python -m experiments.steps DATA [--threads 2] [--rounds 9]

All contenders take the same batches in turn. Fused passes are left out if there is no C++ compiler.
"""

from __future__ import annotations

import itertools
import json
import statistics
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from benchmarks.timing import interleave, machine, ratio, table
from model.command_line import Parser, command, count
from model.lazy import torch

BATCHES = 4  # different ones, which a round takes in turn


def contenders(data: Path) -> tuple[dict[str, Callable[[], object]], int]:
    """Functions that take one step each, by their names, and the mean number of tokens in a step."""
    from accelerate import Accelerator

    from model import catalog
    from model.device import DeviceConfig
    from model.text.conversation import ChatFormat
    from model.text.sentencepiece_tokenizer import Tokenizer
    from model.transformer.decoder import Transformer
    from training.conversations import ChatTask, make_rows
    from training.data import batches
    from training.run.loop import learn
    from training.run.machine import fuse, has_compiler
    from training.run.optimizer import make_optimizers
    from training.settings import CHAT

    loaded = catalog.load("attend-chat", device_config=DeviceConfig("cpu", "float32"))
    settings = replace(CHAT, passes=0.01)
    tokenizer, original = loaded.tokenizer, loaded.model
    assert isinstance(tokenizer, Tokenizer) and isinstance(original, Transformer)
    learned = batches(make_rows(settings, data, tokenizer, ChatFormat(tokenizer)), settings.batch_tokens)
    chosen = list(itertools.islice(learned, BATCHES))
    accelerator = Accelerator(cpu=True)

    def step(precision: torch.dtype, *, fused: bool) -> Callable[[], object]:
        model = Transformer(original.config).train()
        model.load_state_dict(original.state_dict())
        if fused:
            fuse(model)
        optimizers = make_optimizers(model, "muon", learning_rate=1e-4, weight_decay=0.1, precision=precision)
        task, turns = ChatTask(tokenizer, [], chosen, [], "", fused=fused), itertools.cycle(chosen)
        return lambda: learn(accelerator, task, model, optimizers, next(turns), 1.0, precision)

    kinds = {"float32": torch.float32, "bfloat16": torch.bfloat16}
    steps = {name: step(precision, fused=False) for name, precision in kinds.items()}
    if has_compiler():
        steps |= {f"{name}, fused": step(precision, fused=True) for name, precision in kinds.items()}
    return steps, round(statistics.mean(sum(len(row.tokens) for row in batch) for batch in chosen))


@command
def main(arguments: Sequence[str] | None = None) -> None:
    parser = Parser(prog="python -m experiments.steps", description="Time the steps of a training.")
    parser.add_argument("data", metavar="DATA", type=Path, help="the folder with the training data")
    parser.add_argument("--threads", type=count, default=2, metavar="N", help="threads to compute with (default 2)")
    parser.add_argument("--rounds", type=count, default=9, metavar="N", help="rounds to measure (default 9)")
    options = parser.parse_args(arguments)
    from model.threads import use_threads

    use_threads(options.threads)
    steps, tokens = contenders(options.data)
    seconds = interleave(steps, options.rounds * BATCHES)
    first = seconds["float32"]
    speeds = {name: round(tokens / statistics.median(taken)) for name, taken in seconds.items()}
    times = {name: round(ratio(first, taken), 2) for name, taken in seconds.items()}
    rows = [["", "tokens/s", "times float32"]]
    print(table([*rows, *([name, f"{speeds[name]:,}", f"{times[name]:.2f}"] for name in steps)]))
    figures = {
        "benchmark": "steps",
        "tokens_per_second": speeds,
        "times_float32": times,
        "tokens_of_a_step": tokens,
        "rounds": options.rounds,
        "threads": options.threads,
        **machine(),
    }
    print(json.dumps(figures))


if __name__ == "__main__":
    sys.exit(main())
