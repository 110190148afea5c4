"""The cost of a comparison: six cards of settings in one batch, and one card alone.

    python -m benchmarks.together [--model attend-chat] [--cards 6] [--prompt-tokens 64] [--new-tokens 128] [--rounds 7]

All cards sample with temperature, top-k and top-p, and record 10 candidates and the attention of every token. No token
ends a text, so all have the same length. The same cards are also run one after another.
"""

from __future__ import annotations

import json
import statistics
import sys
from collections.abc import Callable, Sequence

from benchmarks.flags import add_counts, add_model
from benchmarks.timing import interleave, machine, random_tokens, ratio, table
from decoding.batch import generate_batch
from decoding.generate import generate
from decoding.request import Request, RequestOptions
from decoding.settings import DecodingSettings
from model import catalog
from model.command_line import Parser, command
from model.errors import AttendError
from model.interface import LanguageModel
from model.lazy import torch

ALONE, TOGETHER, IN_TURN = "one card", "all cards, one batch", "all cards, one after the other"
AIM = 3.0  # times the cost of one card, for six

Texts = list[tuple[int, ...]]


def cards(count: int, new_tokens: int) -> list[DecodingSettings]:
    """Cards with the same random draws and temperatures from 0.5 up."""
    return [
        DecodingSettings(
            temperature=round(0.5 + 0.2 * index, 1), top_k=40, top_p=0.95, seed=7, max_new_tokens=new_tokens
        )
        for index in range(count)
    ]


def alone(model: LanguageModel, request: Request, settings: DecodingSettings) -> tuple[int, ...]:
    steps = list(generate(model, request.prompt, settings.strategy_for(request)))
    return steps[-1].hypotheses[0].tokens


def together(model: LanguageModel, request: Request, settings: Sequence[DecodingSettings]) -> Texts:
    strategies = [each.strategy_for(request) for each in settings]
    passes = list(generate_batch(model, [request.prompt] * len(settings), strategies))
    return [step.hypotheses[0].tokens for step in passes[-1] if step is not None]


@command
def main(arguments: Sequence[str] | None = None) -> None:
    parser = Parser(prog="python -m benchmarks.together", description="Time several cards of settings in one batch.")
    add_model(parser)
    add_counts(parser, cards=6, prompt_tokens=64, new_tokens=128, rounds=7)
    options = parser.parse_args(arguments)
    if options.cards < 2:
        raise AttendError(f"--cards is {options.cards}, but must be 2 or more: one card alone compares nothing.")

    model = catalog.load(options.model).model
    from model.threads import fastest_threads

    fastest_threads(model)
    prompt = random_tokens(model.vocabulary_size, options.prompt_tokens)
    request = Request.of_model(model, prompt, RequestOptions(attention=True))
    settings = cards(options.cards, options.new_tokens)
    contenders: dict[str, Callable[[], Texts]] = {
        ALONE: lambda: [alone(model, request, settings[0])],
        TOGETHER: lambda: together(model, request, settings),
        IN_TURN: lambda: [alone(model, request, card) for card in settings],
    }
    same = contenders[TOGETHER]() == contenders[IN_TURN]()
    seconds = interleave(contenders, options.rounds)

    rows = [["", "seconds", "tokens/s", "times one card", "aim"]]
    for contender, times in seconds.items():
        median = statistics.median(times)
        count = options.new_tokens * (1 if contender == ALONE else options.cards)
        aim = f"< {AIM:g}" if contender == TOGETHER and options.cards == 6 else ""
        rows.append([contender, f"{median:.3f}", f"{count / median:.0f}", f"{ratio(times, seconds[ALONE]):.2f}", aim])
    print(
        f"{options.model}; {len(prompt)} + {options.new_tokens} tokens, {options.cards} cards, {options.rounds} rounds"
    )
    print(table(rows))
    print(f"same texts in the batch as alone: {'yes' if same else 'no'}")
    figures = {
        "benchmark": "together",
        "model": options.model,
        "cards": options.cards,
        "prompt_tokens": len(prompt),
        "new_tokens": options.new_tokens,
        "rounds": options.rounds,
        "seconds": {contender: round(statistics.median(times), 4) for contender, times in seconds.items()},
        "times_one": round(ratio(seconds[TOGETHER], seconds[ALONE]), 3),
        "times_one_in_turn": round(ratio(seconds[IN_TURN], seconds[ALONE]), 3),
        "same_text": same,
        "threads": torch.get_num_threads(),
        **machine(),
    }
    print(json.dumps(figures))


if __name__ == "__main__":
    sys.exit(main())
