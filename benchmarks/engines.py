"""Our traced decoding, in three precisions, against CTranslate2 on the same weights: one row, four beams, sixteen rows.

    python -m benchmarks.engines [--model attend-chat] [--prompt-tokens 64] [--new-tokens 128] [--rounds 5]

This needs requirements-bench.txt. Both run with one thread, and no token ends a text. Ours records every step with ten
candidates and the attention, which CTranslate2 can't. The output also has this machine's memory bandwidth, and the
share of it that reading the weights uses.
"""

from __future__ import annotations

import json
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from benchmarks.decoding import CANDIDATES, NUM_BEAMS, load_decoder, trace
from benchmarks.flags import add_counts, add_model
from benchmarks.timing import interleave, machine, random_tokens, ratio, table
from decoding.batch import generate_batch
from decoding.request import Request, RequestOptions
from decoding.settings import DecodingSettings
from model.command_line import Parser, command
from model.errors import AttendError
from model.loaded import LoadedModel
from model.names import EMBEDDED

if TYPE_CHECKING:
    from model.transformer.decoder import Transformer

ROWS = 16
PRECISIONS = ("float32", "bfloat16", "int8")
PEER_PRECISIONS = ("float32", "int8")
ONE, BEAMS, MANY = "one row", f"{NUM_BEAMS} beams", f"{ROWS} rows"
# The least speedup over CTranslate2, by (precision, case).
AIMS = {("float32", ONE): 1.0, ("int8", ONE): 0.8, ("float32", BEAMS): 1.0, ("float32", MANY): 0.8}


def trace_together(model: Transformer, prompts: Sequence[Sequence[int]], new_tokens: int) -> None:
    """Greedy decoding of several prompts in one batch, fully recorded."""
    settings = DecodingSettings(strategy="greedy", max_new_tokens=new_tokens, top_candidates=CANDIDATES)
    strategies = [
        settings.strategy_for(Request.of_model(model, prompt, RequestOptions(attention=True))) for prompt in prompts
    ]
    for _ in generate_batch(model, prompts, strategies):
        pass


class Peer:
    """A checkpoint in CTranslate2."""

    def __init__(self, folder: Path, precision: str) -> None:
        import ctranslate2  # pyright: ignore[reportMissingImports]  # only in requirements-bench.txt

        converted = str(folder / precision)
        converter = ctranslate2.converters.TransformersConverter(str(folder))
        converter.convert(converted, quantization=precision, force=True)
        self._generator = ctranslate2.Generator(converted, compute_type=precision, intra_threads=1)
        self._tokens = json.loads(Path(converted, "vocabulary.json").read_text())

    def __call__(self, prompts: Sequence[Sequence[int]], new_tokens: int, beams: int = 1) -> None:
        self._generator.generate_batch(
            [[self._tokens[token] for token in prompt] for prompt in prompts],
            beam_size=beams,
            max_length=new_tokens,
            min_length=new_tokens,
            include_prompt_in_result=False,
        )


def write_checkpoint(loaded: LoadedModel, model: Transformer, folder: Path) -> None:
    """Write the model in the Llama layout, with its tokenizer."""
    from model.huggingface.export.llama import write_llama
    from model.huggingface.tokenizer import HuggingFaceTokenizer

    if isinstance(loaded.tokenizer, HuggingFaceTokenizer):
        write_llama(model, folder)
        loaded.tokenizer.hf_tokenizer.save_pretrained(folder)
    else:
        write_llama(model, folder, EMBEDDED / loaded.name / "tokenizer.model")


def read_bandwidth() -> float:
    """The bytes a second that one thread reads from main memory."""
    block = np.ones(1 << 26, np.float32)
    seconds = []
    for _ in range(5):
        begun = time.perf_counter()
        block.max()
        seconds.append(time.perf_counter() - begun)
    return block.nbytes / min(seconds)


@command
def main(arguments: Sequence[str] | None = None) -> None:
    parser = Parser(prog="python -m benchmarks.engines", description="Time Attend's decoding against CTranslate2's.")
    add_model(parser)
    add_counts(parser, prompt_tokens=64, new_tokens=128, rounds=5)
    options = parser.parse_args(arguments)
    from model.threads import use_threads

    use_threads(1)
    models = {name: load_decoder(options.model, name)[1] for name in PRECISIONS}
    model = models["float32"]
    with tempfile.TemporaryDirectory() as name:
        write_checkpoint(*load_decoder(options.model), Path(name))
        try:
            peers = {precision: Peer(Path(name), precision) for precision in PEER_PRECISIONS}
        except ImportError as error:
            raise AttendError("CTranslate2 is not installed: run pip install -r requirements-bench.txt.") from error
    prompts, count = random_tokens(model.vocabulary_size, ROWS, options.prompt_tokens), options.new_tokens

    contenders: dict[tuple[str, str, str], Callable[[], object]] = {}
    for precision, each in models.items():
        contenders["Attend", precision, ONE] = lambda model=each: trace(model, prompts[0], count)
        contenders["Attend", precision, BEAMS] = lambda model=each: trace(model, prompts[0], count, "beam")
        contenders["Attend", precision, MANY] = lambda model=each: trace_together(model, prompts, count)
    for precision, peer in peers.items():
        contenders["CTranslate2", precision, ONE] = lambda peer=peer: peer(prompts[:1], count)
        contenders["CTranslate2", precision, BEAMS] = lambda peer=peer: peer(prompts[:1], count, NUM_BEAMS)
        contenders["CTranslate2", precision, MANY] = lambda peer=peer: peer(prompts, count)
    named = {" ".join(key): run for key, run in contenders.items()}
    seconds = dict(zip(contenders, interleave(named, options.rounds).values(), strict=True))

    rows, figures = [["", "tokens/s", "times CTranslate2", "aim"]], {}
    for key, our_seconds in seconds.items():
        engine, precision, case = key
        speed = count * (ROWS if case == MANY else 1) / statistics.median(our_seconds)
        peer_seconds = seconds.get(("CTranslate2", precision, case)) if engine == "Attend" else None
        times = ratio(peer_seconds, our_seconds) if peer_seconds else None
        aim = AIMS.get((precision, case)) if engine == "Attend" else None
        cells = ["" if times is None else f"{times:.2f}", "" if aim is None else f">= {aim}"]
        rows.append([" ".join(key), f"{speed:.0f}", *cells])
        figures[" ".join(key)] = {"tokens_per_second": round(speed, 1), "times": times and round(times, 3)}
    bandwidth = read_bandwidth()
    weights = sum(parameter.nbytes for parameter in model.parameters())
    share = weights * count / statistics.median(seconds["Attend", "float32", ONE]) / bandwidth
    print(f"{options.model}, {options.prompt_tokens} + {count} tokens, {options.rounds} rounds, one thread")
    print(table(rows))
    print(f"memory is read at {bandwidth / 1e9:.1f} GB/s; float32 weights of a token at {share:.0%} of that")
    summary = {"benchmark": "engines", "model": options.model, "prompt_tokens": options.prompt_tokens}
    memory = {"bandwidth": round(bandwidth), "share": round(share, 3)}
    print(json.dumps({**summary, "new_tokens": count, **memory, "figures": figures, **machine()}))


if __name__ == "__main__":
    sys.exit(main())
