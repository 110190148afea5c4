"""How much 16 and 8 bits change a chat model's predictions, and how much memory they save, compared with float32.

    python -m benchmarks.precision [--model SmolLM2-135M-Instruct] [--new-tokens 60] [--beside FOLDER] [--file FILE]

The model answers eight questions greedily in float32, or continues each line of FILE. For every token of the answers,
we compare the most probable token and, in nats, the token's log-probability, and count the answers that stay the same.
FOLDER may hold the same model with rounded weights, such as those of the page without a server
(`web/export.py --checkpoint`).
"""

from __future__ import annotations

import gc
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import psutil

from benchmarks.flags import add_counts, add_model
from benchmarks.timing import machine, table
from model import catalog
from model.command_line import Parser, command
from model.device import DeviceConfig
from model.interface import LanguageModel
from model.lazy import torch
from model.text.conversation import Message

QUESTIONS = (
    "What is the capital of France?",
    "List three uses of copper.",
    "Tell me a short story about a fox.",
    "Why is the sky blue?",
    "Write a poem about rain.",
    "How do I boil an egg?",
    "What is photosynthesis?",
    "Give me three tips for sleeping well.",
)
PRECISIONS = ("bfloat16", "int8")


def answer(model: LanguageModel[Any], prompt: Sequence[int], new_tokens: int, end_tokens: frozenset[int]) -> list[int]:
    """The tokens of the greedy answer, with its end token."""
    forward, tokens = model.prefill(prompt), []
    while len(tokens) < new_tokens and end_tokens.isdisjoint(tokens):
        tokens.append(int(forward.logits[0].argmax()))
        forward = model.step(tokens[-1:], forward.cache)
    return tokens


def compare(
    exact: LanguageModel[Any], rounded: LanguageModel[Any], texts: Sequence[tuple[Sequence[int], Sequence[int]]]
) -> tuple[float, float]:
    """Compare a model with its rounded form on texts, each a prompt with the tokens of its answer.

    Returns:
        The share of tokens for which both find the same token most probable, and the mean difference of the
        log-probabilities of the answers' tokens, in nats.
    """
    same, differences = [], []
    for prompt, tokens in texts:
        before, after = (model.logits(prompt, tokens).log_softmax(dim=-1) for model in (exact, rounded))  # (T, V) each
        same.append(before.argmax(dim=-1) == after.argmax(dim=-1))
        chosen = torch.tensor(tokens)[:, None]  # (T, 1)
        differences.append((before.gather(1, chosen) - after.gather(1, chosen)).abs().flatten())  # (T,)
    return torch.cat(same).float().mean().item(), torch.cat(differences).mean().item()


@command
def main(arguments: Sequence[str] | None = None) -> None:
    parser = Parser(prog="python -m benchmarks.precision", description="What 16 and 8 bits cost and save.")
    add_model(parser, "SmolLM2-135M-Instruct")
    add_counts(parser, new_tokens=60)
    parser.add_argument("--beside", metavar="FOLDER", help="a checkpoint of the same model with rounded weights")
    parser.add_argument("--file", metavar="FILE", type=Path, help="texts to continue, one on each line")
    options = parser.parse_args(arguments)
    torch.set_num_threads(1)
    catalog.load("attend-chat")  # so that the libraries are in memory before the first reading
    loaded, sizes = {}, {}
    contenders = {precision: (options.model, precision) for precision in ("float32", *PRECISIONS)}
    if options.beside:
        contenders["beside"] = (options.beside, "float32")
    for name, (model, precision) in contenders.items():
        gc.collect()
        before = psutil.Process().memory_info().rss
        loaded[name] = catalog.load(model, device_config=DeviceConfig("cpu", precision))
        gc.collect()
        sizes[name] = psutil.Process().memory_info().rss - before
    exact, texts = loaded["float32"], []
    if options.file:
        prompts = [exact.prompt(line) for line in options.file.read_text(encoding="utf-8").splitlines()]
    else:
        conversations = [[Message("user", question)] for question in QUESTIONS]
        prompts = [exact.chat_prompt(messages, reserve=options.new_tokens).ids for messages in conversations]
    for prompt in prompts:
        texts.append((prompt, answer(exact.model, prompt, options.new_tokens, exact.end_tokens)))
    count = sum(len(tokens) for _, tokens in texts)
    rows = [["", "same top token", "mean difference, nats", "same answers", "memory, MB"]]
    rows.append(["float32", "", "", "", f"{sizes['float32'] / 1e6:.0f}"])
    figures: dict[str, object] = {}
    for name in list(contenders)[1:]:
        rounded = loaded[name].model
        same, difference = compare(exact.model, rounded, texts)
        answers = [answer(rounded, prompt, options.new_tokens, exact.end_tokens) == tokens for prompt, tokens in texts]
        share = f"{sum(answers)} of {len(texts)}"
        rows.append([name, f"{same:.1%}", f"{difference:.4f}", share, f"{sizes[name] / 1e6:.0f}"])
        figures[name] = {"same": round(same, 4), "nats": round(difference, 5), "same_answers": sum(answers)}
    print(f"{options.model}, {count} tokens of its own text")
    print(table(rows))
    memory = {precision: round(size / 1e6) for precision, size in sizes.items()}
    print(json.dumps({"benchmark": "precision", "model": options.model, **figures, "memory_mb": memory, **machine()}))


if __name__ == "__main__":
    sys.exit(main())
