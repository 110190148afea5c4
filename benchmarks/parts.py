"""Where the time of a token goes: products, attention, unembedding, choosing, recording and the loop.

    python -m benchmarks.parts [--model attend-chat] [--dtype float32] [--prompt-tokens 64] [--new-tokens 128]

One thread samples one text with temperature, top-k and top-p, and records every step with ten candidates and its
attention. Products, the unembedding, the filters and the whole step are timed separately. Attention is the difference
between a step after half of the text and one after a single token; the rest of a step and the loop are what remains.
"""

from __future__ import annotations

import json
import statistics
import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from benchmarks.decoding import load_decoder, sampling
from benchmarks.flags import add_counts, add_model
from benchmarks.timing import interleave, machine, random_tokens, table
from decoding.generate import generate
from decoding.processors import Context, run_chain
from decoding.request import Request, RequestOptions
from model.command_line import Parser, command
from model.errors import AttendError
from model.interface import Want

if TYPE_CHECKING:
    from model.compiled.matrix import Matrix
    from model.compiled.weights import Weights
    from model.transformer.decoder import Transformer

WANT = Want(attention=True)


def products_of(weights: Weights) -> tuple[Callable[[], None], Callable[[], None]]:
    """Functions that compute all products of one token, and the unembedding alone, in compiled loops."""
    from numba import njit

    from model.compiled.matrix import multiply

    # Not cached on disk: numba would not notice when the functions that it inlines change.
    @njit(nogil=True)
    def multiply_layers(rows: np.ndarray, matrix: Matrix, out: np.ndarray) -> None:
        for layer in range(len(matrix.bias)):
            multiply(rows, matrix, layer, out)

    def product(matrix: Matrix) -> Callable[[], None]:
        rows = np.random.default_rng(0).standard_normal((1, matrix.inputs)).astype(np.float32)
        out = np.empty((1, matrix.outputs), np.float32)
        return lambda: multiply_layers(rows, matrix, out)

    matrices = (weights.qkv_proj, weights.o_proj, weights.up_proj, weights.down_proj, weights.unembedding)
    products = [product(each) for each in matrices]

    def multiply_all() -> None:
        for multiply_matrices in products:
            multiply_matrices()

    return multiply_all, products[-1]


def measure(model: Transformer, prompt: Sequence[int], count: int, rounds: int) -> dict[str, float]:
    """The microseconds of a token's parts; `AttendError` for a model without a compiled step."""
    from model.compiled.decoder import CompiledDecoder

    if not isinstance(model.compiled, CompiledDecoder):
        raise AttendError(
            "The model has no compiled step, so it has no such parts: choose one of Attend's own, on a CPU."
        )
    settings = sampling(count)
    request = Request.of_model(model, prompt, RequestOptions(attention=True))
    multiply_all, unembed = products_of(model.compiled.weights)
    halfway = model.prefill([*prompt, *[prompt[0]] * (count // 2)]).cache
    first = model.prefill(prompt[:1]).cache
    forward = model.step(prompt[:1], halfway, want=WANT)
    processors, context = settings.options(request).processors, Context(tuple(prompt), ((),))

    def advance() -> None:
        strategy = settings.strategy_for(request)
        for _ in range(count):
            strategy.advance(forward)

    def repeat(part: Callable[[], object]) -> Callable[[], None]:
        def run() -> None:
            for _ in range(count):
                part()

        return run

    contenders = {
        "all": lambda: list(generate(model, prompt, settings.strategy_for(request))),
        "prompt": lambda: model.prefill(prompt, want=WANT),
        "step": repeat(lambda: model.step(prompt[:1], halfway, want=WANT)),
        "short step": repeat(lambda: model.step(prompt[:1], first, want=WANT)),
        "products": repeat(multiply_all),
        "unembedding": repeat(unembed),
        "choosing": repeat(lambda: run_chain(processors, forward.logits, context)[-1].argmax()),
        "advance": advance,
    }
    times = {part: 1e6 * statistics.median(all_) / count for part, all_ in interleave(contenders, rounds).items()}
    return {
        "products of the layers": times["products"] - times["unembedding"],
        "attention": times["step"] - times["short step"],
        "unembedding": times["unembedding"],
        "the rest of the step": times["short step"] - times["products"],
        "filters and choice": times["choosing"],
        "recording": times["advance"] - times["choosing"],
        "the loop": times["all"] - times["prompt"] - times["step"] - times["advance"],
        "reading the prompt, shared out": times["prompt"],
    }


@command
def main(arguments: Sequence[str] | None = None) -> None:
    parser = Parser(prog="python -m benchmarks.parts", description="Time the parts of a traced token.")
    add_model(parser)
    parser.add_argument("--dtype", metavar="DTYPE", default="float32", help="the precision (default float32)")
    add_counts(parser, prompt_tokens=64, new_tokens=128, rounds=7)
    options = parser.parse_args(arguments)
    _, model = load_decoder(options.model, options.dtype)
    from model.threads import use_threads

    use_threads(1)
    prompt = random_tokens(model.vocabulary_size, options.prompt_tokens)
    parts = measure(model, prompt, options.new_tokens, options.rounds)
    total = sum(parts.values())
    print(f"{options.model}, {options.dtype}, {options.prompt_tokens} + {options.new_tokens} tokens, one thread")
    rows = [[part, f"{time:.0f}", f"{time / total:.0%}"] for part, time in parts.items()]
    print(table([["", "us/token", "share"], *rows, ["a token", f"{total:.0f}", "100%"]]))
    sizes = {"prompt_tokens": options.prompt_tokens, "new_tokens": options.new_tokens, "rounds": options.rounds}
    microseconds = {part: round(time, 1) for part, time in parts.items()}
    summary = {"benchmark": "parts", "model": options.model, "dtype": options.dtype, **sizes}
    print(json.dumps({**summary, "us": microseconds, **machine()}))


if __name__ == "__main__":
    sys.exit(main())
