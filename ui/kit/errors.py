"""Turns errors into messages for people and programs; no other file catches errors to show them.

The message of an `AttendError` is written for people and shown unchanged. Any other error is our fault: it goes to the
log, and the visitor gets one sentence, which only promises that the text is still there.
"""

from __future__ import annotations

import html
import logging
from collections.abc import Iterator
from contextlib import contextmanager

import gradio as gr

from decoding.parameters.parameter import SettingError
from model.errors import AttendError
from ui.kit.labels import LABELS

_log = logging.getLogger("attend")

OURS = "Something went wrong on our side. Your text is safe: try again, or reload the page."


def warn(sentence: str, *, seconds: float | None = 10) -> None:
    """Show a notice on the page, for some seconds or, with None, until the visitor's next action."""
    gr.Warning(html.escape(sentence), seconds, title="That didn't work")  # a notice takes HTML


@contextmanager
def for_people() -> Iterator[None]:
    """For the page: an error raised inside becomes a notice, with the settings' labels, and nothing else changes."""
    try:
        yield
    except SettingError as error:
        warn(error.with_labels(LABELS))
    except AttendError as error:
        warn(str(error))
    except Exception:
        _log.exception("unexpected error in a handler")
        gr.Warning(OURS, title="Sorry")


@contextmanager
def for_programs() -> Iterator[None]:
    """For endpoints: an error raised inside fails the call, with its sentence as the message."""
    try:
        yield
    except AttendError as error:
        raise gr.Error(str(error), title="That didn't work", print_exception=False) from error
    except Exception as error:
        _log.exception("unexpected error at an endpoint")
        raise gr.Error(OURS, title="Sorry", print_exception=False) from error
