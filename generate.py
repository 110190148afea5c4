"""Attend in a terminal: continue a text, answer a message, hold a conversation, or write a run as a document.

    python generate.py "Once upon a time" --temperature 0.8 --seed 7
    python generate.py --chat
    echo "Hi! How are you today?" | python generate.py - --chat --json run.json
    python generate.py "Once upon a time" --colour --table 3

The flags for decoding are made from `decoding.settings`; the models come from `model.catalog`.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any, NoReturn

os.environ.setdefault("HF_HUB_DISABLE_TELEMETRY", "1")  # no usage statistics are sent; read on import

import attend
from decoding.parameters.parameter import number as checked_number
from decoding.recorder import TOP_CANDIDATES
from decoding.settings import DecodingSettings, parameters
from model import names
from model.arguments import ModelArguments
from model.command_line import INTERRUPTED, Parser, command, count, run_as
from model.errors import AttendError
from model.inspection.naming import EXAMPLES, read_names
from terminal import score
from terminal.output import STDOUT, note, open_document, write_document
from terminal.prompt import add_prompt_flags, read_prompt, typed_text, utf8
from terminal.tokens import TokenPrinter, why_it_stopped


class _ListModels(argparse.Action):
    """Print the catalogue and end, as --help does."""

    def __call__(self, parser: argparse.ArgumentParser, *_: Any) -> NoReturn:
        table = names.rows()
        widths = [max(len(cell) for cell in column) for column in zip(*table, strict=True)]
        for row in table:
            print("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())
        parser.exit()


def number(text: str) -> int | float:
    """The number in a flag's text; the setting checks whether it is valid."""
    try:
        return int(text)
    except ValueError:
        return float(text)


def command_parser() -> Parser:
    program = run_as("generate")
    parser = Parser(
        prog=program,
        usage=f"{program} [PROMPT] [flags]",
        description="Continue a text, or chat, with one of Attend's models.",
    )
    add_prompt_flags(parser, "PROMPT", "the text to continue, or the message to answer; - reads stdin")
    parser.add_argument(
        "--chat", action="store_true", help="answer the prompt; without one, chat until the end of the input (Ctrl-D)"
    )
    parser.add_argument("--system", metavar="TEXT", default="", help="with --chat: the system prompt")
    parser.add_argument(
        "--score",
        action="store_true",
        help="print how probable each token of the prompt is, as CSV; or see --json",
    )
    score.add_stride_flag(parser, "with --score: ")
    parser.add_argument(
        "--colour", "--color", action="store_true", help="colour each token by its probability, in a terminal"
    )
    parser.add_argument(
        "--table",
        type=count,
        metavar="N",
        help="then print how each token was chosen, with its N most probable candidates (at most "
        f"{TOP_CANDIDATES.maximum}), and why the text stopped",
    )
    parser.add_argument("--json", metavar="FILE", help="save the run with every probability; - prints it instead")
    parser.add_argument("--list-models", action=_ListModels, nargs=0, help="list the models known by name, and exit")
    parser.add_argument("--version", action="version", version=f"Attend {attend.__version__}")
    ModelArguments.add_flags(parser.add_argument_group("model"))
    decoding = parser.add_argument_group(
        "decoding", "The page starts at --temperature 0.6: pass that and the same seed to repeat one of its texts."
    )
    decoding.add_argument(
        "--without",
        metavar="PARTS",
        action="append",
        default=[],
        help=f"switch off or scale parts of the model while it writes, counted from 1: {EXAMPLES}; may be repeated",
    )
    for parameter in parameters():
        accepts = f"{parameter.accepts}, " if parameter.hint != "|".join(parameter.choices) else ""
        default = parameter.typed(parameter.default)
        default = "none" if default == "" else default
        decoding.add_argument(
            f"--{parameter.name.replace('_', '-')}",
            type=number if parameter.control == "number" else str,
            default=argparse.SUPPRESS,
            metavar=parameter.hint,
            help=f"{parameter.help} ({accepts}default {default}; for {', '.join(parameter.strategies)})",
        )
    return parser


def _generate(arguments: argparse.Namespace) -> int:
    """Run the command."""
    if arguments.system.strip() and not arguments.chat:
        raise AttendError("--system is for conversations: add --chat, or leave it out.")
    prompt = read_prompt(arguments.prompt, arguments.file)
    if arguments.score and arguments.chat:
        raise AttendError("--score is for texts: leave out --chat.")
    if arguments.stride and not arguments.score:
        raise AttendError("--stride is for --score: add it, or leave --stride out.")
    if arguments.table and arguments.json == STDOUT:
        raise AttendError("--json - prints the document alone: leave out --table, or save the document in a file.")
    if prompt is None and not arguments.chat:
        raise AttendError("There is no prompt: give a text, - for standard input, --file FILE, or --chat to chat.")
    if prompt is None and arguments.json is not None:
        raise AttendError("--json saves a single run: give a message to answer, or leave it out.")
    if prompt is not None and not prompt.strip():
        raise AttendError("The prompt is empty: enter at least one character.")
    fields = {parameter.name for parameter in parameters()}
    named = {name: value for name, value in vars(arguments).items() if name in fields}
    if arguments.score and (arguments.colour or arguments.table or arguments.without or named):
        raise AttendError(
            "--colour, --table, --without and the flags for decoding are for generated texts: leave them out, or leave "
            "out --score."
        )
    if arguments.table:
        checked_number("--table", arguments.table, 1, TOP_CANDIDATES.maximum, integer=True)
    decoding = DecodingSettings.from_dict(named)  # refuses invalid settings before a model is loaded
    if arguments.table:
        named[TOP_CANDIDATES.name] = max(decoding.top_candidates, arguments.table)
    if without := read_names(",".join(arguments.without)):
        named["interventions"] = without
    chosen = ModelArguments.from_namespace(arguments)
    if arguments.score:
        score.score([chosen], str(prompt), arguments.stride, arguments.json)
        return 0
    from model import catalog

    model = attend.Model(catalog.load_arguments(chosen))
    for sentence in model.loaded.notes:
        note(sentence)
    if arguments.chat and not model.can_chat:
        raise AttendError(f"{model.loaded.name} can't chat: leave --chat out and give it a text.")
    printer = TokenPrinter.on(sys.stdout, colour=arguments.colour, candidates=arguments.table or 0)
    system = typed_text(arguments.system, "The system prompt")
    before = [{"role": "system", "content": system}] if system.strip() else []
    if prompt is None:
        _note_unused(decoding)
        return _converse(model, before, named, printer)
    text_or_messages = [*before, {"role": "user", "content": prompt}] if arguments.chat else prompt
    return _once(model, text_or_messages, named, printer, arguments.json)


def _note_unused(settings: DecodingSettings) -> None:
    for name in settings.unused():
        note(f"{name} has no effect on {settings.strategy}.")


def _once(
    model: attend.Model,
    prompt: str | attend.Messages,
    settings: Mapping[str, Any],
    printer: TokenPrinter,
    path: str | None,
) -> int:
    """Print one run: its text as it comes, or its document."""
    stream = model.stream(prompt, **settings)
    _note_unused(stream.settings)
    with open_document(path) as document:
        _use_fastest_threads(model)
        code = _print(stream, None if document is sys.stdout else printer)
        run = stream.run
        try:
            if document is not None:
                write_document(document, run.document())
        finally:  # the text has ended, whatever becomes of its document
            if document is not sys.stdout:
                print(flush=True)
    if document is not sys.stdout:
        printer.explain(run, model.loaded.model.context_length)
        if run.settings.drawn and run.settings.seed != settings.get("seed"):
            note(f"the seed was {run.settings.seed}; --seed {run.settings.seed} repeats this.")
        if run.finish_reason == "length" and not printer.candidates:
            note(why_it_stopped(run, model.loaded.model.context_length))
    return code


def _converse(model: attend.Model, before: attend.Messages, settings: Mapping[str, Any], printer: TokenPrinter) -> int:
    """Answer one message after the other until the input ends; Ctrl-C stops an answer, or ends the conversation."""
    messages = list(before)
    at_a_terminal = sys.stdin.isatty()
    _use_fastest_threads(model)
    for message in _typed(at_a_terminal):
        conversation = [*messages, {"role": "user", "content": message}]
        try:
            stream = model.stream(conversation, **settings)
        except AttendError as error:
            if not at_a_terminal:
                raise
            print(error, file=sys.stderr)
            continue
        _print(stream, printer)
        print(flush=True)
        printer.explain(stream.run, model.loaded.model.context_length)
        messages = [*conversation, {"role": "assistant", "content": stream.run.text}]
    return 0


def _typed(at_a_terminal: bool) -> Iterator[str]:
    """The lines of the input that are not blank."""
    if at_a_terminal:
        with suppress(ImportError):  # not on every system; it allows editing and a history of the input
            import readline  # noqa: F401
    with suppress(EOFError):
        while True:
            line = input("> " if at_a_terminal else "")
            if line.strip():
                yield typed_text(line, "Standard input")


def _print(stream: attend.Stream, printer: TokenPrinter | None) -> int:
    """Run to the end, printing the text as it comes; several texts are numbered."""
    several, code = stream.settings.sequences > 1, 0
    try:
        for token in stream:
            if printer is not None and not several:
                printer.token(token)
        if printer is not None and several:
            printer.text("\n".join(f"{number}. {text}" for number, text in enumerate(stream.run.texts, start=1)))
    except KeyboardInterrupt:  # the text so far is a run, too: a cancelled one
        stream.close()
        code = INTERRUPTED
    except BrokenPipeError:  # the reader of the text has gone, but the document may still be wanted
        stream.close()
    return code


def _use_fastest_threads(model: attend.Model) -> None:
    from model.threads import fastest_threads

    fastest_threads(model.loaded.model)


def _reordered(arguments: Sequence[str]) -> list[str]:
    """The prompt behind `--`, which may begin with a dash, comes last, so that flags may stand behind it."""
    if "--" not in arguments:
        return [*arguments]
    dashes = arguments.index("--")
    prompt, flags = arguments[dashes + 1 : dashes + 2], arguments[dashes + 2 :]
    return [*arguments[:dashes], *flags, "--", *prompt]


@command
def main(arguments: Sequence[str] | None = None) -> int:
    words = _reordered(sys.argv[1:] if arguments is None else arguments)
    utf8()
    return _generate(command_parser().parse_args(words))


if __name__ == "__main__":
    sys.exit(main())
