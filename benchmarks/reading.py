"""Our reading of a prompt against transformers' first pass with the same weights, by model and length.

    python -m benchmarks.reading [--models attend-chat SmolLM2-135M-Instruct] [--lengths 32 128 400 2000] [--rounds 9]

One thread reads one prompt in float32, up to the logits of the first token and a filled cache. Lengths that don't fit
into a model's context are left out.
"""

from __future__ import annotations

import json
import statistics
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.decoding import load_decoder
from benchmarks.flags import add_counts
from benchmarks.timing import interleave, machine, random_tokens, ratio, table
from model.command_line import Parser, command
from model.lazy import torch

if TYPE_CHECKING:
    from model.transformer.decoder import Transformer

MODELS = ("attend-chat", "SmolLM2-135M-Instruct")
LENGTHS = (32, 128, 400, 2000)
AIM = 1.1  # times transformers
TOLERANCE = 1e-2  # of logits, since they are sums of hundreds of products in another order


class Peer:
    """A checkpoint in transformers, which reads a prompt as its `generate` does."""

    def __init__(self, folder: str) -> None:
        import transformers

        kind: Any = transformers.LlamaForCausalLM
        self._model = kind.from_pretrained(folder, attn_implementation="sdpa").eval()

    def __call__(self, prompt: Sequence[int]) -> Any:
        with torch.inference_mode():
            return self._model(torch.tensor([prompt]), use_cache=True, logits_to_keep=1).logits[:, -1]  # (1, V)


def _load(name: str) -> tuple[Transformer, Peer]:
    """Our own decoder, and the same weights in transformers; `AttendError` if the model is of another kind."""
    _, model = load_decoder(name)
    from model.huggingface.export.llama import write_llama

    with tempfile.TemporaryDirectory() as folder:
        write_llama(model, Path(folder))
        return model, Peer(folder)


@command
def main(arguments: Sequence[str] | None = None) -> None:
    parser = Parser(prog="python -m benchmarks.reading", description="Time Attend's reading against transformers'.")
    parser.add_argument("--models", metavar="MODEL", nargs="+", default=list(MODELS), help="names or folders of models")
    add_counts(parser, lengths=list(LENGTHS), rounds=9)
    options = parser.parse_args(arguments)
    import transformers

    from model.threads import use_threads

    transformers.logging.disable_progress_bar()
    use_threads(1)
    rows = [["", "tokens", "Attend, ms", "transformers, ms", "times", "aim"]]
    times: dict[str, dict[str, float]] = {}
    milliseconds: dict[str, dict[str, float]] = {}
    difference = 0.0
    for name in options.models:
        model, peer = _load(name)
        times[name], milliseconds[name] = {}, {}
        for length in options.lengths:
            if length > model.context_length:
                continue
            prompt = random_tokens(model.vocabulary_size, length)
            difference = max(difference, float((model.prefill(prompt).logits - peer(prompt)).abs().max()))
            contenders: dict[str, Callable[[], object]] = {
                "Attend": lambda prompt=prompt, model=model: model.prefill(prompt),
                "transformers": lambda prompt=prompt, peer=peer: peer(prompt),
            }
            ours, reference = interleave(contenders, options.rounds).values()
            median, other = (1e3 * statistics.median(seconds) for seconds in (ours, reference))
            times[name][str(length)] = round(ratio(reference, ours), 3)
            milliseconds[name][str(length)] = round(median, 2)
            rows.append(
                [name, str(length), f"{median:.1f}", f"{other:.1f}", f"{ratio(reference, ours):.2f}", f">= {AIM}"]
            )
    print(table(rows))
    print(f"largest difference of a logit: {difference:.1e} (at most {TOLERANCE:.0e})")
    figures = {
        "benchmark": "reading",
        "rounds": options.rounds,
        "times": times,
        "milliseconds": milliseconds,
        "same": difference <= TOLERANCE,
        "transformers": transformers.__version__,
        "threads": torch.get_num_threads(),
        **machine(),
    }
    print(json.dumps(figures))


if __name__ == "__main__":
    sys.exit(main())
