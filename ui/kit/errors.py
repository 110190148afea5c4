"""Where an error becomes something that a person, or a program, reads.

`AttendError` is written for people and shown unchanged. Anything else is our fault: it goes to the log, and the visitor
gets one sentence, which only promises that the conversation is still there. No other file catches errors to show them.
"""

from __future__ import annotations

import html
import logging
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from types import MappingProxyType

import gradio as gr

from decoding.parameters.parameter import SettingError
from model.errors import AttendError

_log = logging.getLogger("attend")

OURS = "Something went wrong on our side. Your text is safe: try again, or reload the page."


def warn(sentence: str, *, seconds: float | None = 10) -> None:
    """A notice on the page; without `seconds` it stays until the visitor's next action."""
    gr.Warning(html.escape(sentence), seconds, title="That didn't work")  # a notice takes HTML


@contextmanager
def for_people(labels: Mapping[str, str] = MappingProxyType({})) -> Iterator[None]:
    """On the page: an error raised inside becomes a notice, and nothing else changes.

    Args:
        labels: what the page calls the settings.
    """
    try:
        yield
    except SettingError as error:
        warn(error.with_labels(labels))
    except AttendError as error:
        warn(str(error))
    except Exception:
        _log.exception("unexpected error in a handler")
        gr.Warning(OURS, title="Sorry")


@contextmanager
def for_programs() -> Iterator[None]:
    """At the endpoints: an error raised inside fails the call with its plain sentence."""
    try:
        yield
    except AttendError as error:
        raise gr.Error(str(error), title="That didn't work", print_exception=False) from error
    except Exception as error:
        _log.exception("unexpected error at an endpoint")
        raise gr.Error(OURS, title="Sorry", print_exception=False) from error
