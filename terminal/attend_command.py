"""The `attend` command of an installed Attend: the page, or another command if its name comes first.

    attend --port 8000
    attend generate "Once upon a time" --table 3
    attend completion bash > ~/.local/share/bash-completion/completions/attend

From the repository's folder, `python -m terminal.attend_command` does the same.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from app import command_parser as page_parser
from app import main as serve_page
from generate import command_parser as generate_parser
from generate import main as generate
from model import export, names
from model.command_line import Parser, command
from model.errors import AttendError, did_you_mean
from terminal import score

COMMANDS = ("generate", "score", "export", "completion")
SHELLS = ("bash", "zsh")


def main(arguments: Sequence[str] | None = None) -> int:
    match sys.argv[1:] if arguments is None else arguments:
        case ["generate", *words]:
            return generate(words)
        case ["score", *words]:
            return score.main(words)
        case ["export", *words]:
            return export.main(words)
        case ["completion", *words]:
            return print_completion(words)
        case [word, *_] if not word.startswith("-"):
            return _refuse(word)
        case words:
            return serve_page(words)


@command
def _refuse(word: str) -> None:
    near = did_you_mean(word, COMMANDS)
    raise AttendError(f"There is no command {word!r}: {near or 'see attend --help.'}")


@command
def print_completion(arguments: Sequence[str]) -> None:
    """Print the script by which a shell completes the commands, their flags and the values of flags."""
    shell = _completion_parser().parse_args(arguments).shell
    import shtab

    print(shtab.complete(whole_parser(), shell))


def _completion_parser() -> Parser:
    parser = Parser(
        prog="attend completion",
        description="Print a script for your shell that completes commands and flags: for bash, save it as "
        "~/.local/share/bash-completion/completions/attend; for zsh, as _attend in a folder of $fpath.",
    )
    parser.add_argument("shell", choices=SHELLS, help="the shell")
    return parser


def whole_parser() -> argparse.ArgumentParser:
    """All commands in one parser, which is only read, and what their arguments can be."""
    import shtab

    parser = page_parser()
    parser.prog = "attend"
    commands = parser.add_subparsers()
    parts = (generate_parser(), score.command_parser(), export.command_parser(), _completion_parser())
    for name, part in zip(COMMANDS, parts, strict=True):
        description = (part.description or "").partition(":")[0]
        commands.add_parser(name, parents=[part], conflict_handler="resolve", help=description)
    models = [entry.name for entry in names.ENTRIES]  # of a flag; without one, a model is exported
    # A text has no words to offer: zsh would show its help instead, and first complete no flag in its place.
    completed = {"FILE": shtab.FILE, "DIR": shtab.DIRECTORY, "PROMPT": {"zsh": "( )"}, "TEXT": {"zsh": "( )"}}
    for action in [action for part in (parser, *parts) for action in part._actions]:
        metavar = str(action.metavar)
        if metavar == "MODEL":
            action.choices = models if action.option_strings else names.embedded()
        elif "|" in metavar:
            action.choices = [value for value in metavar.split("|") if value.islower()]  # N stands for a number
        elif metavar in completed:
            action.complete = completed[metavar]  # type: ignore[attr-defined]
        if action.metavar:
            action.metavar = metavar.replace(":", r"\:")  # which would end it in zsh
    return parser


if __name__ == "__main__":
    sys.exit(main())
