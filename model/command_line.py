"""What all commands share: one-sentence errors that suggest the nearest flag, and the exit codes.

Imports nothing slow, so a command can check what was typed before it loads what it needs.
"""

from __future__ import annotations

import argparse
import errno
import os
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import wraps
from pathlib import Path
from typing import Any, NoReturn, ParamSpec, TextIO

from model.errors import AttendError, did_you_mean

P = ParamSpec("P")

BAD_INPUT, INTERRUPTED = 2, 130  # exit codes; 128 + SIGINT is what shells expect

_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)  # the disk, the user's quota or the file is full
_UNKNOWN = "unrecognized arguments: "
_INVALID = re.compile(r"argument (\S+): invalid (\w+) value: (.*)", re.DOTALL)
_KINDS = {"int": "a whole number", "float": "a number", "number": "a number", "count": "a whole number from 1 up"}

INSTALLED = __name__.startswith("attend.")  # from the wheel, which has all of Attend in one package (setup.py)


def run_as(module: str) -> str:
    """How a command is typed: `python -m model.export`, or `attend export` where Attend is installed."""
    if INSTALLED:
        return "attend" if module == "app" else f"attend {module.rpartition('.')[2]}"
    return f"python -m {module}" if "." in module else f"python {module}.py"


def count(text: str) -> int:
    """The type of a flag that takes a positive whole number."""
    if (number := int(text)) < 1:
        raise ValueError(f"{number} counts nothing")
    return number


class Parser(argparse.ArgumentParser):
    """Raises `AttendError` for invalid arguments, and takes no abbreviated flags."""

    def __init__(self, **options: Any) -> None:
        super().__init__(allow_abbrev=False, **options)

    def error(self, message: str) -> NoReturn:
        if parts := _INVALID.fullmatch(message):
            flag, kind, value = parts.groups()
            raise AttendError(f"{flag} must be {_KINDS.get(kind, f'a {kind}')}, not {value}.")
        if message.startswith(_UNKNOWN):
            raise AttendError(self._unknown(message.removeprefix(_UNKNOWN).split(" ")))
        message = message.removeprefix("argument ")
        raise AttendError(f"{message[:1].upper()}{message[1:]}: see {self.prog} --help.")

    def _unknown(self, words: Sequence[str]) -> str:
        """The message about arguments that no flag takes."""
        words = [word for word in words if word != "--"]  # some versions of Python return it as well
        wrong = next((word for word in words if word.startswith("-")), None)
        if wrong is None:
            return f"{words[0]!r} is one argument too many: put a text with spaces in quotes."
        flag = wrong.partition("=")[0]
        near = did_you_mean(flag, self._option_string_actions)
        return f"There is no flag {flag}: {near or f'see {self.prog} --help.'}"


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Turn errors of writing a file into `AttendError`."""
    try:
        yield
    except OSError as error:
        raise AttendError(f"{path} can't be written ({error.strerror}): choose another file.") from error


def command(function: Callable[P, int | None]) -> Callable[P, int]:
    """Make a function a command that returns its exit code.

    An `AttendError` or a full disk becomes one sentence on stderr, and Ctrl-C ends the command quietly.
    """

    @wraps(function)
    def run(*arguments: P.args, **named: P.kwargs) -> int:
        try:
            code = function(*arguments, **named) or 0
            sys.stdout.flush()
            return code
        except AttendError as error:
            _tell(str(error))
            return BAD_INPUT
        except KeyboardInterrupt:
            return INTERRUPTED
        except BrokenPipeError:  # the reader of the output has left
            _drop_unwritten(sys.stdout)
            return 0
        except OSError as error:
            if error.errno not in _FULL:
                raise
            _drop_unwritten(sys.stdout)
            _tell(f"The output can't be written ({error.strerror}): make room on the disk, or write it elsewhere.")
            return BAD_INPUT

    return run


def _tell(sentence: str) -> None:
    """Print to stderr, which may be full as well."""
    with suppress(OSError):
        print(sentence, file=sys.stderr)
    _drop_unwritten(sys.stderr)


def _drop_unwritten(stream: TextIO) -> None:
    """Drop what can't be written, since Python would complain about it at exit."""
    try:
        stream.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
