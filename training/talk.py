"""Prints what a model answers, unedited, as Markdown for its card.

    python -m training.talk --model attend-chat --file training/openings.txt --seeds 1 2 3 4 5
    python -m training.talk --model attend-chat --file training/conversations.txt --seeds 1

Each line of the file is a conversation of its own, with the user's turns separated by ||.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from decoding.generate import generate
from decoding.request import Request
from decoding.settings import DecodingSettings
from model.catalog import load
from model.command_line import Parser, command
from model.errors import AttendError
from model.loaded import LoadedModel
from model.text.conversation import Message

SETTINGS = DecodingSettings(strategy="sample", temperature=0.7, top_p=0.9, max_new_tokens=80)


def answer(loaded: LoadedModel, messages: Sequence[Message], settings: DecodingSettings) -> str:
    """The model's next turn, as a person would see it."""
    return loaded.text_of(answer_tokens(loaded, messages, settings)[1])


def answer_tokens(
    loaded: LoadedModel, messages: Sequence[Message], settings: DecodingSettings
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The prompt, and the tokens of the model's next turn."""
    prompt = loaded.chat_prompt(messages, reserve=settings.max_new_tokens).ids
    *_, last = generate(loaded.model, prompt, settings.strategy_for(Request.of(loaded, prompt)))
    return prompt, last.returned[0].tokens


def talk(loaded: LoadedModel, turns: Sequence[str], settings: DecodingSettings) -> Iterator[tuple[str, str]]:
    """Yield each turn of the user with the model's answer."""
    messages: list[Message] = []
    for turn in turns:
        messages.append(Message("user", turn))
        reply = answer(loaded, messages, settings)
        messages.append(Message("assistant", reply))
        yield turn, reply


def read_lines(path: Path) -> list[str]:
    """The conversations of a file, blank lines left out; `AttendError` if it cannot be read as text."""
    try:
        return [line for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]
    except (OSError, UnicodeDecodeError) as error:
        raise AttendError(f"{path} can't be read as text ({error}): choose a file of opening lines.") from error


@command
def main(arguments: Sequence[str] | None = None) -> None:
    parser = Parser(prog="python -m training.talk", description="Print what a model answers, unedited.")
    parser.add_argument(
        "--model", metavar="MODEL", default="attend-chat", help="a model's name or folder (default attend-chat)"
    )
    parser.add_argument(
        "--file",
        metavar="FILE",
        type=Path,
        default=Path(__file__).with_name("openings.txt"),
        help="a conversation per line, its messages between || (default training/openings.txt)",
    )
    parser.add_argument(
        "--seeds", metavar="N", type=int, nargs="+", default=[1], help="one answer per seed (default 1)"
    )
    options = parser.parse_args(arguments)
    loaded = load(options.model)
    for line in read_lines(options.file):
        for seed in options.seeds:
            settings = DecodingSettings.from_dict({**SETTINGS.to_dict(), "seed": seed})
            for turn, reply in talk(loaded, [part.strip() for part in line.split("||")], settings):
                print(f"- **{turn}** {reply}" if len(options.seeds) == 1 else f"- {seed}. **{turn}** {reply}")
        print()


if __name__ == "__main__":
    sys.exit(main())
