"""Times a GPT-2 in our transformer, in int8 and through the adapter against transformers' `generate`.

    python -m benchmarks.checkpoints [--threads 1 2] [--prompt-tokens 64] [--new-tokens 48] [--rounds 5]

The checkpoint has 124 million random weights, so nothing is downloaded. All decode greedily. Ours record 10 candidates
and the attention of every token; `generate` records nothing.
"""

from __future__ import annotations

import json
import statistics
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from benchmarks.decoding import Peer, trace
from benchmarks.flags import add_counts
from benchmarks.timing import interleave, machine, random_tokens, ratio, table
from decoding.step import Step
from model.command_line import Parser, command
from model.device import DeviceConfig
from model.lazy import torch

if TYPE_CHECKING:
    from model.transformer.decoder import Transformer

PEER, NATIVE, INT8, ADAPTER = "transformers' generate", "our transformer, traced", "the same in int8", "adapter, traced"
AIMS = {NATIVE: (PEER, 1.3), INT8: (NATIVE, 2.0), ADAPTER: (PEER, 1.0)}  # contender: (reference, speedup)


def write_checkpoint(folder: Path) -> None:
    from transformers import GPT2Config, GPT2LMHeadModel

    torch.manual_seed(0)
    GPT2LMHeadModel(GPT2Config()).save_pretrained(folder)


@command
def main(arguments: Sequence[str] | None = None) -> None:
    parser = Parser(
        prog="python -m benchmarks.checkpoints", description="Time a GPT-2 of 124 million weights, four ways."
    )
    add_counts(parser, threads=[1, 2], prompt_tokens=64, new_tokens=48, rounds=5)
    options = parser.parse_args(arguments)
    import transformers

    from model.compiled.prepare import prepare_for_decoding, quantize
    from model.huggingface.folder import load_model
    from model.huggingface.weights import CheckpointFiles
    from model.threads import use_threads

    transformers.logging.disable_progress_bar()

    prompt = random_tokens(50_000, options.prompt_tokens)
    count, cpu = options.new_tokens, DeviceConfig("cpu", "float32")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_checkpoint(folder)
        peer = Peer(name, kind="GPT2LMHeadModel")
        files = CheckpointFiles.read(folder, "GPT-2")
        full, other, adapter = (load_model(files, engine, cpu)[0] for engine in ("native", "native", "adapter"))
    native, int8 = prepare_for_decoding(cast("Transformer", full)), quantize(other)
    contenders: dict[str, Callable[[], list[Any]]] = {
        PEER: lambda: peer(prompt, count),
        NATIVE: lambda: trace(native, prompt, count),
        INT8: lambda: trace(int8, prompt, count),
        ADAPTER: lambda: trace(adapter, prompt, count),
    }
    text = peer(prompt, count)
    same = all(_text(contenders[ours]()) == text for ours in (NATIVE, ADAPTER))
    figures: dict[str, object] = {"benchmark": "checkpoints", "same_text": same, "rounds": options.rounds}
    for threads in options.threads:
        use_threads(threads)
        seconds = interleave(contenders, options.rounds)
        rows = [["", "ms/token", "speedup", "aim"]]
        for contender, times in seconds.items():
            reference, aim = AIMS.get(contender, (contender, None))
            speedup = ratio(seconds[reference], times)
            comparison = f"{speedup:.2f} times {reference}" if aim else ""
            rows.append(
                [contender, f"{1e3 * statistics.median(times) / count:.1f}", comparison, f">= {aim}" if aim else ""]
            )
            figures[f"{contender}, {threads} threads"] = round(speedup, 3)
        print(f"GPT-2, 124 million random weights, {options.prompt_tokens} + {count} tokens, {threads} threads")
        print(table(rows))
    print(f"same text as generate: {'yes' if same else 'no'}")
    print(json.dumps({**figures, "transformers": transformers.__version__, **machine()}))


def _text(steps: list[Step]) -> list[int]:
    best = steps[-1].best
    assert best is not None
    return list(best.tokens)


if __name__ == "__main__":
    sys.exit(main())
