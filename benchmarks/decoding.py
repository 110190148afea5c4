"""Our traced decoding against transformers' `generate` on the same weights: speed, the cost of tracing, memory.

    python -m benchmarks.decoding [--model attend-chat] [--prompt-tokens 64] [--new-tokens 128] [--rounds 7]

Both decode greedily and with four beams, one text at a time. No token ends a text, so all generate the same number of
tokens; transformers runs our checkpoint from its Llama export. `--random` uses random weights of about the embedded
model's size and needs no checkpoint.
"""

from __future__ import annotations

import json
import statistics
import sys
import tempfile
import tracemalloc
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.flags import add_counts, add_model
from benchmarks.timing import interleave, machine, random_tokens, ratio, table
from decoding.generate import generate
from decoding.request import Request, RequestOptions
from decoding.settings import DecodingSettings, StrategyName
from decoding.step import Step
from model import catalog
from model.command_line import Parser, command
from model.device import DeviceConfig
from model.errors import AttendError
from model.interface import Forward, LanguageModel
from model.lazy import torch
from model.loaded import LoadedModel

if TYPE_CHECKING:
    from model.transformer.decoder import Transformer

TRACED, BARE = "Attend, traced", "Attend, bare loop"
PLAIN, EXPLAINED = "transformers, plain", "transformers, scores and attentions"
BEAMS, PEER_BEAMS = "Attend, four beams, traced", "transformers, four beams"
REFERENCES = {PEER_BEAMS: BEAMS, BEAMS: BEAMS}  # what these are compared with; all others with TRACED
AIMS = {PLAIN: 1.5, EXPLAINED: 2.0, PEER_BEAMS: 2.0}  # times as long as ours
NUM_BEAMS = 4
CANDIDATES = 10
VOCABULARIES = 4_096, 50_257
CHOICES = 200  # tokens that are chosen without a model


def load_decoder(name: str, precision: str = "float32") -> tuple[LoadedModel, Transformer]:
    """A model with its network, on the CPU; `AttendError` if the network is not one of our own decoders."""
    loaded = catalog.load(name, device_config=DeviceConfig("cpu", precision))
    from model.transformer.decoder import Transformer

    if not isinstance(loaded.model, Transformer) or loaded.model.decoder_start:
        raise AttendError(f"{name} is not one of our own decoders: choose another model.")
    return loaded, loaded.model


def trace(
    model: LanguageModel[Any], prompt: Sequence[int], new_tokens: int, strategy: StrategyName = "greedy"
) -> list[Step]:
    """Every step of a decode, with 10 candidates and the attention of each token."""
    settings = DecodingSettings(
        strategy=strategy, num_beams=NUM_BEAMS, max_new_tokens=new_tokens, top_candidates=CANDIDATES
    )
    request = Request.of_model(model, prompt, RequestOptions(attention=True))
    return list(generate(model, prompt, settings.strategy_for(request)))


def bare(model: Transformer, prompt: Sequence[int], new_tokens: int) -> list[int]:
    """Greedy decoding that records nothing: the baseline for the cost of tracing."""
    forward, tokens = model.prefill(prompt), []
    while True:
        tokens.append(int(forward.logits[0].argmax()))
        if len(tokens) == new_tokens:
            return tokens
        forward = model.step(tokens[-1:], forward.cache)


class Peer:
    """A checkpoint in transformers, greedy or with beams; no token ends the text."""

    def __init__(
        self,
        folder: str,
        *,
        kind: str = "LlamaForCausalLM",
        scores_and_attentions: bool = False,
        num_beams: int = 1,
    ) -> None:
        import transformers

        self._generation_config = transformers.GenerationConfig
        attention = "eager" if scores_and_attentions else "sdpa"  # only eager can return its weights
        self._model: Any = getattr(transformers, kind).from_pretrained(folder, attn_implementation=attention).eval()
        self._num_beams = num_beams
        self._extra = {"output_scores": True, "output_attentions": True} if scores_and_attentions else {}

    def __call__(self, prompt: Sequence[int], new_tokens: int) -> list[int]:
        ids = torch.tensor([prompt])  # (1, prompt)
        generation_config = self._generation_config(
            max_new_tokens=new_tokens,
            do_sample=False,
            num_beams=self._num_beams,
            pad_token_id=0,
            return_dict_in_generate=True,
            **self._extra,
        )
        output = self._model.generate(ids, attention_mask=torch.ones_like(ids), generation_config=generation_config)
        return output.sequences[0, len(prompt) :].tolist()


def sampling(tokens: int) -> DecodingSettings:
    """Settings with three filters and a draw, fully recorded."""
    filters = {"temperature": 0.8, "top_k": 40, "top_p": 0.95}
    return DecodingSettings(strategy="sample", seed=1, max_new_tokens=tokens, top_candidates=CANDIDATES, **filters)


def choosing_microseconds(vocabulary: int) -> float:
    """Microseconds to choose and record one sampled token without a model: temperature, top-k, top-p, 10 candidates."""
    settings = sampling(CHOICES)
    request = Request((0,), frozenset(), lambda ids: "", context_length=CHOICES + 1, vocabulary_size=vocabulary)
    strategy = settings.strategy_for(request)
    # With a standard deviation of 3 the best token has a probability of about 0.1, as with a language model.
    generator = torch.Generator().manual_seed(0)
    forwards = [Forward(3.0 * torch.randn(1, vocabulary, generator=generator), _NoCache()) for _ in range(CHOICES)]
    seconds = interleave({"one": lambda: strategy.advance(forwards.pop())}, CHOICES - 1)
    return statistics.median(seconds["one"]) * 1e6


class _NoCache:
    """Stands in for the model's cache, which strategies do not use."""

    rows = 1

    def select(self, rows: Sequence[int]) -> _NoCache:
        return self

    def join(self, other: _NoCache) -> _NoCache:
        return self


def bytes_per_token(model: Transformer, prompt: Sequence[int], new_tokens: int) -> tuple[float, float]:
    """The bytes of a traced token's records, and of its attention."""
    tracemalloc.start()
    before, _ = tracemalloc.get_traced_memory()
    steps = trace(model, prompt, new_tokens)
    after, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    weights_of_steps = [step.hypotheses[0].choice.attention for step in steps]
    attention = sum(each.untyped_storage().nbytes() for each in weights_of_steps if each is not None)
    return (after - before) / len(steps), attention / len(steps)


def _random_model() -> Transformer:
    from model.transformer.config import TransformerConfig
    from model.transformer.decoder import Transformer

    torch.manual_seed(0)
    return Transformer(TransformerConfig(vocabulary_size=4_096)).eval()


@command
def main(arguments: Sequence[str] | None = None) -> None:
    parser = Parser(
        prog="python -m benchmarks.decoding",
        description="Time Attend's decoding against transformers' on the same weights.",
    )
    add_model(parser)
    parser.add_argument("--random", action="store_true", help="use random weights of about the same size")
    add_counts(parser, prompt_tokens=64, new_tokens=128, rounds=7)
    options = parser.parse_args(arguments)

    name = "random weights" if options.random else options.model
    model = _random_model() if options.random else load_decoder(options.model)[1]
    import transformers

    from model.huggingface.export.llama import write_llama
    from model.threads import fastest_threads

    transformers.logging.disable_progress_bar()
    fastest_threads(model)
    prompt = random_tokens(model.vocabulary_size, options.prompt_tokens)
    with tempfile.TemporaryDirectory() as folder:
        write_llama(model, Path(folder))
        plain = Peer(folder)
        beams = Peer(folder, num_beams=NUM_BEAMS)
        explained = Peer(folder, scores_and_attentions=True)

    count = options.new_tokens
    contenders: dict[str, Callable[[], list[Any]]] = {
        TRACED: lambda: trace(model, prompt, count),
        BARE: lambda: bare(model, prompt, count),
        PLAIN: lambda: plain(prompt, count),
        EXPLAINED: lambda: explained(prompt, count),
        BEAMS: lambda: trace(model, prompt, count, "beam"),
        PEER_BEAMS: lambda: beams(prompt, count),
    }
    texts = {contender: run() for contender, run in contenders.items()}
    for traced in (TRACED, BEAMS):
        texts[traced] = list(texts[traced][-1].best.tokens)
    same = all(texts[contender] == texts[REFERENCES.get(contender, TRACED)] for contender in texts)
    seconds = interleave(contenders, options.rounds)
    choosing = {vocabulary: choosing_microseconds(vocabulary) for vocabulary in VOCABULARIES}
    records, attention = bytes_per_token(model, prompt, count)

    rows = [["", "tokens/s", "ms/token", "times Attend", "aim"]]
    for contender, times in seconds.items():
        median = statistics.median(times)
        aim = f">= {AIMS[contender]}" if contender in AIMS else ""
        rows.append(
            [
                contender,
                f"{count / median:.0f}",
                f"{1e3 * median / count:.2f}",
                f"{ratio(times, seconds[REFERENCES.get(contender, TRACED)]):.2f}",
                aim,
            ]
        )
    cost = ratio(seconds[TRACED], seconds[BARE]) - 1
    parameters = sum(weights.numel() for weights in model.parameters())
    print(f"{name}, {parameters:,} parameters; {len(prompt)} + {count} tokens, {options.rounds} rounds")
    print(table(rows))
    print(f"tracing costs {cost:.0%} of the bare loop (aim: at most 15 %); same texts: {'yes' if same else 'no'}")
    for vocabulary, microseconds in choosing.items():
        print(f"processors and bookkeeping, vocabulary {vocabulary:,}: {microseconds:.0f} us/token")
    print(f"memory of a traced token: {records:.0f} bytes of records, {attention:.0f} bytes of attention")
    figures = {
        "benchmark": "decoding",
        "model": name,
        "parameters": parameters,
        "prompt_tokens": len(prompt),
        "new_tokens": count,
        "rounds": options.rounds,
        "tokens_per_second": {
            contender: round(count / statistics.median(times), 1) for contender, times in seconds.items()
        },
        "times_plain": round(ratio(seconds[PLAIN], seconds[TRACED]), 3),
        "times_scores_and_attentions": round(ratio(seconds[EXPLAINED], seconds[TRACED]), 3),
        "times_beams": round(ratio(seconds[PEER_BEAMS], seconds[BEAMS]), 3),
        "tracing_cost": round(cost, 3),
        "same_text": same,
        "choosing_us": {str(vocabulary): round(microseconds, 1) for vocabulary, microseconds in choosing.items()},
        "bytes_per_token": {"records": round(records), "attention": round(attention)},
        "transformers": transformers.__version__,
        "threads": torch.get_num_threads(),
        **machine(),
    }
    print(json.dumps(figures))


if __name__ == "__main__":
    sys.exit(main())
