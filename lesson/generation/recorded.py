"""Two prompts that lectures continue with GPT-2's family, as they printed it, and what a loaded model says to the same.

The checkpoints don't come with the page. What was printed of them is kept here, marked as recorded; once one of them is
in memory, its own passes replace it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from decoding.generate import generate
from decoding.request import Request
from decoding.settings import DecodingSettings
from model.loaded import LoadedModel

TOP = 10  # candidates of each step, as the lecture prints them
STEPS = 5  # whose candidates are shown
LOOP_TOKENS = 20  # that greedy decoding writes of a loop
_STRETCH = 4  # words, of which a repetition is counted

Candidates = tuple[tuple[str, float | None], ...]  # tokens and their probabilities, None where none was printed


@dataclass(frozen=True, slots=True)
class Recording:
    """What a lecture printed of a model: the candidates of greedy steps, and a longer greedy text."""

    name: str  # the checkpoint's
    prompt: str
    steps: tuple[Candidates, ...]  # the first of each was chosen
    loop_prompt: str  # the text that greedy decoding continues below
    loop: str


# ../shared/REFERENCE.md, "With distilgpt2" and "With GPT-2 124M"
RECORDINGS = (
    Recording(
        name="distilgpt2",
        prompt="The meaning of life is",
        steps=(
            (
                *((" to", 0.1513), (" not", 0.0890), (" a", 0.0650), (" that", 0.0557), (" the", 0.0513)),
                *((" defined", 0.0199), (" an", 0.0157), (",", 0.0153), (" one", 0.0118), (" in", 0.0112)),
            ),
            ((" be", 0.2613), (" live", 0.0408), (" say", 0.0191), (" have", 0.0159), (" make", 0.0149)),
            ((" understood", 0.0404), (" able", 0.0314), (" a", 0.0283), (" lived", 0.0276)),
            ((" as", 0.2249), (" in", 0.1128), (" and", 0.0959)),
            ((" a", 0.2281), (" the", 0.1354), (" being", 0.1226)),
        ),
        loop_prompt="The meaning of life is to",
        loop=" be understood as a whole, and to be understood as a whole, and to be understood as a",
    ),
    Recording(
        name="gpt2",
        prompt="I have a dream",
        steps=(((" of", 0.17),), ((" being", 0.0968),), ((" a", None),), ((" doctor", 0.0286),), ((".", None),)),
        loop_prompt="I have a dream",
        loop=" of being a doctor.",
    ),
)


@dataclass(frozen=True, slots=True)
class GreedyText:
    """What greedy decoding writes, and the candidates of its first steps."""

    steps: tuple[Candidates, ...]
    text: str


def write_greedily(loaded: LoadedModel, prompt: str, *, most: int) -> GreedyText:
    """Continue a text by the most probable token, at most `most` times, with the probabilities of the model alone."""
    ids = loaded.prompt(prompt)
    request = Request.of_model(loaded.model, ids, end_tokens=loaded.end_tokens, rules=loaded.rules)
    settings = DecodingSettings(strategy="greedy", max_new_tokens=most, top_candidates=TOP)
    steps: list[Candidates] = []
    written: list[int] = []
    run = generate(loaded.model, ids, settings.strategy_for(request))
    while True:
        with loaded.lock:
            step = next(run, None)
        if step is None or step.best is None:
            break
        choice = step.best.choice
        steps.append(tuple((loaded.tokenizer.label(one.id), one.probabilities[-1]) for one in choice.candidates[:TOP]))
        written.append(choice.token)
    text = loaded.text_of(written) if not set(written[-1:]) & loaded.end_tokens else loaded.text_of(written[:-1])
    return GreedyText(tuple(steps), text)


def repeated(text: str) -> tuple[int, int]:
    """How many of a text's stretches of four words occurred before in it, and how many stretches it has."""
    words = text.split()
    stretches = [tuple(words[at : at + _STRETCH]) for at in range(len(words) - _STRETCH + 1)]
    return sum(stretch in stretches[:at] for at, stretch in enumerate(stretches)), len(stretches)


def ranked(steps: Sequence[Candidates]) -> list[list[tuple[str, float | None] | None]]:
    """The candidates rank by rank, a column for each step; None where a step has fewer."""
    count = max(len(step) for step in steps)
    return [[step[rank] if rank < len(step) else None for step in steps] for rank in range(count)]
