"""What a model says, unedited, as Markdown for its card.

    python -m training.talk --model attend-chat --file training/openings.txt --seeds 1 2 3 4 5
    python -m training.talk --model attend-chat --file training/conversations.txt --seeds 1

A line of the file is one conversation; its user's turns are separated by ||. Each conversation starts anew.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from pathlib import Path

from decoding.generate import generate
from decoding.settings import DecodingSettings
from decoding.strategy import Request
from model.catalog import load
from model.chat import Message
from model.errors import AttendError
from model.loaded import LoadedModel

SETTINGS = DecodingSettings(strategy="sample", temperature=0.7, top_p=0.9, max_new_tokens=80)


def answer(loaded: LoadedModel, messages: Sequence[Message], settings: DecodingSettings) -> str:
    """The model's next turn, as a person would see it."""
    prompt = loaded.chat_prompt(messages, reserve=settings.max_new_tokens).ids
    known = {"end_tokens": loaded.end_tokens, "never": loaded.never, "text_of": loaded.text_of}
    request = Request.of(loaded.model, prompt, **known)
    *_, last = generate(loaded.model, prompt, settings.strategy_for(request))
    return loaded.text_of(last.returned[0].tokens)


def talk(loaded: LoadedModel, turns: Sequence[str], settings: DecodingSettings) -> Iterator[tuple[str, str]]:
    """(what the user says, what the model answers), turn by turn."""
    messages: list[Message] = []
    for turn in turns:
        messages.append(Message("user", turn))
        said = answer(loaded, messages, settings)
        messages.append(Message("assistant", said))
        yield turn, said


def read_lines(path: Path) -> list[str]:
    """The conversations of a file, blank lines left out; `AttendError` when it cannot be read as text."""
    try:
        return [line for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]
    except (OSError, UnicodeDecodeError) as error:
        raise AttendError(f"{path} cannot be read as text ({error}): name a file of opening lines.") from error


def main() -> None:
    parser = argparse.ArgumentParser(description="Print what a model answers, unedited.")
    parser.add_argument("--model", default="attend-chat")
    parser.add_argument("--file", type=Path, default=Path(__file__).with_name("openings.txt"))
    parser.add_argument("--seeds", type=int, nargs="+", default=[1])
    arguments = parser.parse_args()
    try:
        loaded = load(arguments.model)
        for line in read_lines(arguments.file):
            for seed in arguments.seeds:
                settings = DecodingSettings.from_dict({**SETTINGS.to_dict(), "seed": seed})
                for turn, said in talk(loaded, [part.strip() for part in line.split("||")], settings):
                    print(f"- **{turn}** {said}" if len(arguments.seeds) == 1 else f"- {seed}. **{turn}** {said}")
            print()
    except AttendError as error:
        parser.exit(2, f"{error}\n")


if __name__ == "__main__":
    main()
