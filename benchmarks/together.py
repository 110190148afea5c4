"""Six cards of settings in one batch beside one card alone: what comparing costs.

    python -m benchmarks.together [--model attend-chat] [--cards 6] [--prompt-tokens 64] [--new-tokens 128] [--rounds 7]

All sample with temperature, top-k and top-p, trace 10 candidates and the attention of every token, and no token ends a
text, so that all write equally many. Beside them the same cards one after the other, as without `generate_together`.
"""

from __future__ import annotations

import argparse
import json
import statistics
from collections.abc import Callable, Sequence

import torch

from benchmarks.timing import interleave, machine, ratio, table
from decoding.generate import generate
from decoding.settings import DecodingSettings
from decoding.strategy import Request
from decoding.together import generate_together
from model import catalog
from model.interface import LanguageModel
from model.threads import fastest_threads

ALONE, TOGETHER, IN_TURN = "one card", "all cards, one batch", "all cards, one after the other"
AIM = 3.0  # six cards cost less than so many times one

Texts = list[tuple[int, ...]]


def cards(count: int, new_tokens: int) -> list[DecodingSettings]:
    """One stream of draws under temperatures from 0.5 up."""
    return [
        DecodingSettings(
            temperature=round(0.5 + 0.2 * place, 1), top_k=40, top_p=0.95, seed=7, max_new_tokens=new_tokens
        )
        for place in range(count)
    ]


def alone(model: LanguageModel, request: Request, settings: DecodingSettings) -> tuple[int, ...]:
    steps = list(generate(model, request.prompt, settings.strategy_for(request)))
    return steps[-1].hypotheses[0].tokens


def together(model: LanguageModel, request: Request, settings: Sequence[DecodingSettings]) -> Texts:
    strategies = [one.strategy_for(request) for one in settings]
    passes = list(generate_together(model, [request.prompt] * len(settings), strategies))
    return [step.hypotheses[0].tokens for step in passes[-1] if step is not None]


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description="Time several cards of settings in one batch.")
    parser.add_argument("--model", default="attend-chat", help="a name of the catalogue or a checkpoint's folder")
    parser.add_argument("--cards", type=int, default=6)
    parser.add_argument("--prompt-tokens", type=int, default=64)
    parser.add_argument("--new-tokens", type=int, default=128)
    parser.add_argument("--rounds", type=int, default=7)
    options = parser.parse_args(arguments)
    if options.cards < 2:
        parser.error("there is nothing to compare with fewer than two cards")

    model = catalog.load(options.model).model
    fastest_threads(model)
    generator = torch.Generator().manual_seed(0)
    prompt = torch.randint(5, model.vocabulary_size, (options.prompt_tokens,), generator=generator).tolist()
    request = Request(
        prompt=tuple(prompt),
        end_tokens=frozenset(),
        text_of=lambda ids: "",
        context_length=model.context_length,
        vocabulary_size=model.vocabulary_size,
        attention=True,
    )
    settings = cards(options.cards, options.new_tokens)
    contenders: dict[str, Callable[[], Texts]] = {
        ALONE: lambda: [alone(model, request, settings[0])],
        TOGETHER: lambda: together(model, request, settings),
        IN_TURN: lambda: [alone(model, request, one) for one in settings],
    }
    same = contenders[TOGETHER]() == contenders[IN_TURN]()
    seconds = interleave(contenders, options.rounds)

    rows = [["", "seconds", "tokens/s", "times one card", "aim"]]
    for contender, taken in seconds.items():
        middle = statistics.median(taken)
        written = options.new_tokens * (1 if contender == ALONE else options.cards)
        aim = f"< {AIM:g}" if contender == TOGETHER and options.cards == 6 else ""
        rows.append([contender, f"{middle:.3f}", f"{written / middle:.0f}", f"{ratio(taken, seconds[ALONE]):.2f}", aim])
    print(
        f"{options.model}; {len(prompt)} + {options.new_tokens} tokens, {options.cards} cards, {options.rounds} rounds"
    )
    print(table(rows))
    print(f"each wrote the same text in company as alone: {'yes' if same else 'no'}")
    figures = {
        "benchmark": "together",
        "model": options.model,
        "cards": options.cards,
        "prompt_tokens": len(prompt),
        "new_tokens": options.new_tokens,
        "rounds": options.rounds,
        "seconds": {who: round(statistics.median(taken), 4) for who, taken in seconds.items()},
        "times_one": round(ratio(seconds[TOGETHER], seconds[ALONE]), 3),
        "times_one_in_turn": round(ratio(seconds[IN_TURN], seconds[ALONE]), 3),
        "same_text": same,
        "threads": torch.get_num_threads(),
        **machine(),
    }
    print(json.dumps(figures))


if __name__ == "__main__":
    main()
