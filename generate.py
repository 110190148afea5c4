"""Attend from a terminal: a prompt in, its continuation out as it is decoded, or the whole run as a document.

    python generate.py "Once upon a time" --strategy sample --temperature 0.8 --seed 7
    python generate.py "Hi! How are you today?" --chat --json run.json

Every flag of the decoding is made from `decoding.settings`; the models come from `model.catalog`.
"""

from __future__ import annotations

import argparse
import io
import json
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any, NoReturn, TextIO

os.environ.setdefault("HF_HUB_DISABLE_TELEMETRY", "1")  # nothing about anybody leaves this machine; read on import

from decoding.generate import generate
from decoding.settings import DecodingSettings, for_translator, parameters
from decoding.stop import before_stop, certain
from decoding.strategy import Request, Strategy
from decoding.trace import Trace
from model import catalog
from model.chat import Message, as_dicts
from model.choice import ModelChoice
from model.errors import AttendError
from model.loaded import LoadedModel
from model.threads import fastest_threads

STDOUT = "-"
BAD_INPUT, INTERRUPTED = 2, 130  # exit codes; 128 + SIGINT is what shells expect


class _Parser(argparse.ArgumentParser):
    """Errors in the arguments go the way of all others: one sentence."""

    def error(self, message: str) -> NoReturn:
        raise AttendError(f"{message[:1].upper()}{message[1:]}: see python generate.py --help.")


class _ListModels(argparse.Action):
    """Print the catalogue and end, as --help does."""

    def __call__(self, parser: argparse.ArgumentParser, *_: Any) -> NoReturn:
        table = catalog.rows()
        widths = [max(len(cell) for cell in column) for column in zip(*table, strict=True)]
        for row in table:
            print("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())
        parser.exit()


def number(text: str) -> int | float:
    """What a flag's text says; whether the setting accepts it is for the setting to say."""
    try:
        return int(text)
    except ValueError:
        return float(text)


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(
        prog="generate.py", description="Continue a prompt with one of Attend's models.", allow_abbrev=False
    )
    parser.add_argument("prompt", help="the text to continue or, with --chat, the message to answer")
    ModelChoice.add_flags(parser)
    parser.add_argument("--list-models", action=_ListModels, nargs=0, help="print the catalogue and exit")
    parser.add_argument("--chat", action="store_true", help="answer the prompt as a message instead of continuing it")
    parser.add_argument(
        "--system", metavar="TEXT", default="", help="with --chat, the system prompt before the message"
    )
    parser.add_argument("--json", metavar="FILE", help="write the run as a document; - prints it instead of the text")
    decoding = parser.add_argument_group("decoding")
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


def _request(
    loaded: LoadedModel, prompt: str, messages: Sequence[Message], system: str, settings: DecodingSettings
) -> Request:
    """What the model is asked: to answer the conversation or, without one, to continue the prompt."""
    if not prompt.strip():
        raise AttendError("The prompt is empty: write at least one character.")
    if not messages:
        ids = loaded.prompt(prompt)
    elif loaded.chat is None:
        raise AttendError(f"{loaded.name} cannot chat: leave --chat out and give it a text to continue.")
    else:
        ids = loaded.chat_prompt(messages, system=system, reserve=settings.max_new_tokens).ids
    return Request.of(
        loaded.model,
        ids,
        end_tokens=loaded.end_tokens,
        text_of=loaded.text_of,
        ids_of=loaded.tokenizer.encode,
        never=loaded.never,
    )


def _texts(loaded: LoadedModel, strategy: Strategy, trace: Trace) -> Iterator[str]:
    """Decode to the end, handing out text as soon as it is certain."""
    settings = trace.settings
    stream, text = loaded.tokenizer.stream(begins=loaded.begins_anew), ""
    read, handed_out = 0, 0  # tokens, characters
    for step in generate(loaded.model, trace.request.given, strategy):
        trace.add(step)
        # What beams say may change until the search is over; everybody else's words are final at once.
        if settings.sequences == 1 and (step.finished or not settings.beams):
            text += "".join(stream.push(token) for token in trace.ids[read:])
            read = len(trace.ids)
            sure = certain(text, settings.stop_texts)
            yield sure[handed_out:]
            handed_out = len(sure)
    if settings.sequences == 1:
        yield before_stop(text + stream.finish(), settings.stop_texts)[handed_out:]
    else:
        yield "\n".join(f"{number}. {text}" for number, text in enumerate(trace.texts, start=1))


def _document(path: str | None) -> AbstractContextManager[TextIO | None]:
    """Where the document goes; opened before the run, so that a bad path costs nobody a run."""
    if path is None or path == STDOUT:
        return nullcontext(None if path is None else sys.stdout)
    try:
        return open(path, "w", encoding="utf-8")
    except OSError as error:
        raise AttendError(f"{path} cannot be written ({error.strerror}): name another file after --json.") from error


def _run(arguments: argparse.Namespace) -> int:
    system = arguments.system if arguments.system.strip() else ""
    if system and not arguments.chat:
        raise AttendError("--system stands before a conversation, not before a text: add --chat, or leave it out.")
    names = {parameter.name for parameter in parameters()}
    given = {name: value for name, value in vars(arguments).items() if name in names}
    DecodingSettings.from_dict(given)  # what cannot be costs nobody the loading of a model
    loaded = ModelChoice.of(arguments).load()
    for note in loaded.notes:
        print(f"Note: {note}", file=sys.stderr)
    translates = bool(loaded.model.decoder_start)
    settings = DecodingSettings.from_dict(for_translator(given) if translates else given).seeded()
    for name in settings.unused():
        print(f"Note: {name} has no effect on {settings.strategy}.", file=sys.stderr)
    messages = [Message("user", arguments.prompt)] if arguments.chat else []
    if messages and loaded.chat is not None:
        settings = settings.ending_at(loaded.chat.stop_texts)
    request = _request(loaded, arguments.prompt, messages, system, settings)
    strategy = settings.strategy_for(request)
    trace = Trace(
        model=loaded.name,
        prompt=arguments.prompt,
        request=request,
        settings=settings,
        label=loaded.tokenizer.label,
        messages=as_dicts(messages, system),
    )
    code = 0
    with _document(arguments.json) as document:
        fastest_threads(loaded.model)
        try:
            for text in _texts(loaded, strategy, trace):
                if document is not sys.stdout:
                    print(text, end="", flush=True)
        except KeyboardInterrupt:  # what there is so far is a run, too: a cancelled one
            code = INTERRUPTED
        except BrokenPipeError:  # nobody reads the text any more, but the document may still be wanted
            pass
        if document is not None:
            print(json.dumps(trace.document(), ensure_ascii=False), file=document, flush=True)
        if document is not sys.stdout:
            print(flush=True)
            if settings.drawn and settings.seed != getattr(arguments, "seed", None):
                print(f"Note: the seed was {settings.seed}; --seed {settings.seed} repeats this.", file=sys.stderr)
            if trace.finish_reason == "length":
                print(_limit_note(len(trace.ids), settings, loaded), file=sys.stderr)
    return code


def _limit_note(tokens: int, settings: DecodingSettings, loaded: LoadedModel) -> str:
    """Why a text breaks off."""
    if tokens < settings.max_new_tokens:
        return f"Note: stopped at the end of the model's context of {loaded.model.context_length:,} tokens."
    return f"Note: stopped at the length limit of {settings.max_new_tokens:,} tokens: raise --max-new-tokens for more."


def main(arguments: Sequence[str] | None = None) -> int:
    """Run, and turn what a person can put right into one sentence on stderr; returns the exit code."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(encoding="utf-8")  # any character may come, whatever the terminal's settings
    try:
        return _run(_parser().parse_args(arguments))
    except AttendError as error:
        print(error, file=sys.stderr)
        return BAD_INPUT
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        # Whoever read the output has had enough; without this, Python would complain when it flushes at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0


if __name__ == "__main__":
    sys.exit(main())
