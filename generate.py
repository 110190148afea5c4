"""Attend in a terminal: continue a text, answer a message, hold a conversation, or write a run as a document.

    python generate.py "Once upon a time" --temperature 0.8 --seed 7
    python generate.py --chat
    echo "Hi! How are you today?" | python generate.py - --chat --json run.json

The flags for decoding are made from `decoding.settings`; the models come from `model.catalog`.
"""

from __future__ import annotations

import argparse
import codecs
import csv
import io
import json
import locale
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from typing import Any, NoReturn, TextIO

os.environ.setdefault("HF_HUB_DISABLE_TELEMETRY", "1")  # no usage statistics are sent; read on import

import attend
from decoding.settings import DecodingSettings, parameters
from model import names
from model.arguments import ModelArguments
from model.command_line import INTERRUPTED, Parser, command
from model.errors import AttendError
from model.inspection.naming import EXAMPLES, read_names

STDIN = STDOUT = "-"
MAX_CHARACTERS = 1_000_000  # of a prompt from a file or standard input; no model reads as much
_LONGEST_CHARACTER = 4  # bytes, in every encoding of Unicode
_BYTE_ORDER_MARKS = {  # before a text; that of UTF-16 is the beginning of one of UTF-32
    codecs.BOM_UTF8: "utf-8-sig",
    codecs.BOM_UTF32_LE: "utf-32",
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}


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


def _parser() -> Parser:
    parser = Parser(
        prog="python generate.py",
        usage="python generate.py [PROMPT] [flags]",
        description="Continue a text, or chat, with one of Attend's models.",
    )
    parser.add_argument(
        "prompt", nargs="?", metavar="PROMPT", help="the text to continue, or the message to answer; - reads stdin"
    )
    parser.add_argument("--file", metavar="FILE", help="read the prompt from a file")
    parser.add_argument(
        "--chat", action="store_true", help="answer the prompt; without one, chat until the end of the input (Ctrl-D)"
    )
    parser.add_argument("--system", metavar="TEXT", default="", help="with --chat: the system prompt")
    parser.add_argument(
        "--score",
        action="store_true",
        help="print how probable each token of the prompt is, as CSV; or see --json",
    )
    parser.add_argument(
        "--stride",
        type=int,
        default=0,
        metavar="N",
        help="with --score: the tokens of each window of a long text",
    )
    parser.add_argument("--json", metavar="FILE", help="save the run with every probability; - prints it instead")
    parser.add_argument("--list-models", action=_ListModels, nargs=0, help="list the models known by name, and exit")
    parser.add_argument("--version", action="version", version=f"Attend {attend.__version__}")
    ModelArguments.add_flags(parser.add_argument_group("model"))
    decoding = parser.add_argument_group("decoding")
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


def _prompt(prompt: str | None, file: str | None) -> str | None:
    """The prompt that was typed, or that standard input or a file holds; None if there is none."""
    if prompt is not None and file is not None:
        raise AttendError("There are two prompts, one on the command line and one from --file: give only one.")
    if prompt != STDIN and file is None:
        return prompt and _whole(prompt, "The prompt")
    name = "Standard input" if file in (None, STDIN) else str(file)
    try:
        with nullcontext(sys.stdin.buffer) if file in (None, STDIN) else open(str(file), "rb") as source:
            content = source.read(_LONGEST_CHARACTER * MAX_CHARACTERS + 1)
    except OSError as error:
        raise AttendError(f"{name} can't be read ({error.strerror}): choose another file.") from error
    if len(content) > _LONGEST_CHARACTER * MAX_CHARACTERS or len(text := _decoded(content, name)) > MAX_CHARACTERS:
        raise AttendError(f"{name} has more than {MAX_CHARACTERS:,} characters: shorten it.")
    return text.removesuffix("\n").removesuffix("\r")


def _decoded(content: bytes, name: str) -> str:
    """The text of a file, with its own line ends but without a byte order mark; `name`: what messages call it.

    A text with a mark is in the encoding that the mark tells, any other in UTF-8 or else in the system's encoding.
    """
    encodings = (encoding for mark, encoding in _BYTE_ORDER_MARKS.items() if content.startswith(mark))
    marked = next(encodings, None)
    try:
        return content.decode(marked or "utf-8")
    except UnicodeDecodeError as error:
        with suppress(UnicodeDecodeError, LookupError):
            return content.decode(marked or locale.getencoding())
        raise AttendError(
            f"{name} is not UTF-8 text (byte {content[error.start]:02X} at position {error.start + 1}): convert it, "
            "for example with iconv -f latin1 -t utf-8."
        ) from error


def _whole(text: str, name: str) -> str:
    """A text that was typed, in which Python keeps bytes that are not UTF-8 as halves of characters."""
    try:
        content = text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:  # other halves, which tokenizers refuse
        return text
    return text if text.isascii() else _decoded(content, name)


def _document(path: str | None) -> AbstractContextManager[TextIO | None]:
    """The file for the document, opened before the run so that a bad path wastes no run."""
    if path is None or path == STDOUT:
        return nullcontext(None if path is None else sys.stdout)
    try:
        return open(path, "w", encoding="utf-8")
    except OSError as error:
        raise AttendError(f"{path} can't be written ({error.strerror}): choose another file for --json.") from error


def _generate(arguments: argparse.Namespace) -> int:
    """Run the command."""
    if arguments.system.strip() and not arguments.chat:
        raise AttendError("--system is for conversations: add --chat, or leave it out.")
    prompt = _prompt(arguments.prompt, arguments.file)
    if arguments.score and arguments.chat:
        raise AttendError("--score is for texts: leave out --chat.")
    if arguments.stride < 0 or (arguments.stride and not arguments.score):
        raise AttendError(f"--stride is {arguments.stride}, but must be 0 or more, beside --score: change it.")
    if prompt is None and not arguments.chat:
        raise AttendError("There is no prompt: give a text, - for standard input, --file FILE, or --chat to chat.")
    if prompt is None and arguments.json is not None:
        raise AttendError("--json saves a single run: give a message to answer, or leave it out.")
    if prompt is not None and not prompt.strip():
        raise AttendError("The prompt is empty: enter at least one character.")
    fields = {parameter.name for parameter in parameters()}
    named = {name: value for name, value in vars(arguments).items() if name in fields}
    DecodingSettings.from_dict(named)  # refuses invalid settings before a model is loaded
    if without := read_names(",".join(arguments.without)):
        named["interventions"] = without
    from model import catalog

    model = attend.Model(catalog.load_arguments(ModelArguments.from_namespace(arguments)))
    for note in model.loaded.notes:
        _note(note)
    if arguments.chat and not model.can_chat:
        raise AttendError(f"{model.loaded.name} can't chat: leave --chat out and give it a text.")
    if arguments.score:
        return _score(model, str(prompt), arguments.stride, arguments.json)
    system = _whole(arguments.system, "The system prompt")
    before = [{"role": "system", "content": system}] if system.strip() else []
    if prompt is None:
        return _converse(model, before, named)
    if not arguments.chat:
        return _once(model, prompt, named, arguments.json)
    return _once(model, [*before, {"role": "user", "content": prompt}], named, arguments.json)


def _once(model: attend.Model, prompt: str | attend.Messages, settings: Mapping[str, Any], path: str | None) -> int:
    """One run: its text as it comes, or its document."""
    stream = model.stream(prompt, **settings)
    for name in stream.settings.unused():
        _note(f"{name} has no effect on {stream.settings.strategy}.")
    with _document(path) as document:
        _use_fastest_threads(model)
        code = _print(stream, silent=document is sys.stdout)
        run = stream.run
        try:
            if document is not None:
                print(json.dumps(run.document(), ensure_ascii=False), file=document, flush=True)
        finally:  # the text has ended, whatever becomes of its document
            if document is not sys.stdout:
                print(flush=True)
    if document is not sys.stdout:
        if run.settings.drawn and run.settings.seed != settings.get("seed"):
            _note(f"the seed was {run.settings.seed}; --seed {run.settings.seed} repeats this.")
        if run.finish_reason == "length":
            _note(_why_it_stopped(run, model.loaded.model.context_length))
    return code


def _score(model: attend.Model, text: str, stride: int, path: str | None) -> int:
    """A text's tokens as a table, or its document."""
    with _document(path) as document:
        scored = model.score(text, stride=stride).document()
        if document is not None:
            print(json.dumps(scored, ensure_ascii=False), file=document, flush=True)
        if document is not sys.stdout:
            columns = ("text", "id", "surprise", "rank", "entropy")
            rows = csv.writer(sys.stdout, lineterminator="\n")
            rows.writerow(columns)
            for token in scored["tokens"]:
                rows.writerow(f"{cell:.4f}" if isinstance(cell := token[name], float) else cell for name in columns)
            _note(f"perplexity {scored['perplexity']:.4g}, {scored['bits_per_byte']:.4g} bits per byte.")
    return 0


def _converse(model: attend.Model, before: attend.Messages, settings: Mapping[str, Any]) -> int:
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
        _print(stream)
        print(flush=True)
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
                yield _whole(line, "Standard input")


def _print(stream: attend.Stream, *, silent: bool = False) -> int:
    """Run to the end, printing the text as it comes; several texts are numbered."""
    several, code = stream.settings.sequences > 1, 0
    try:
        for token in stream:
            if not silent and not several:
                print(token.text, end="", flush=True)
        if not silent and several:
            print("\n".join(f"{number}. {text}" for number, text in enumerate(stream.run.texts, start=1)), end="")
    except KeyboardInterrupt:  # the text so far is a run, too: a cancelled one
        stream.close()
        code = INTERRUPTED
    except BrokenPipeError:  # the reader of the text has gone, but the document may still be wanted
        stream.close()
    return code


def _use_fastest_threads(model: attend.Model) -> None:
    from model.threads import fastest_threads

    fastest_threads(model.loaded.model)


def _why_it_stopped(run: attend.Run, context_length: int) -> str:
    limit = run.settings.max_new_tokens
    if len(run.tokens) < limit:
        return f"stopped at the end of the model's context of {context_length:,} tokens."
    return f"stopped at the length limit of {limit:,} tokens: raise --max-new-tokens for more."


def _note(sentence: str) -> None:
    print(f"Note: {sentence}", file=sys.stderr)


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
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(encoding="utf-8")  # any character may come, whatever the terminal's settings
    if isinstance(sys.stdin, io.TextIOWrapper):
        sys.stdin.reconfigure(encoding="utf-8", errors="surrogateescape")  # see `_whole`
    return _generate(_parser().parse_args(words))


if __name__ == "__main__":
    sys.exit(main())
