"""Where an error becomes something that a person reads.

`AttendError` is written for people and is shown as it is; anything else is a fault of ours, goes to the log, and the
person gets one sentence that promises nothing but that their conversation is still there. No other file of the page
catches exceptions to show them.
"""

from __future__ import annotations

import html
import logging
from collections.abc import Iterator
from contextlib import contextmanager

import gradio as gr

from model.errors import AttendError

_log = logging.getLogger("attend")

OURS = "Something went wrong on our side. What was said so far is kept: try again, or reload the page."


@contextmanager
def for_people(*, plain: bool = False) -> Iterator[None]:
    """Turn what is raised inside into a `gr.Error`.

    Args:
        plain: for programs, which read the sentence as it is; on the page a toast takes HTML, so it is escaped there.
    """
    try:
        yield
    except AttendError as error:
        raise _toast(str(error), plain=plain, title="That did not work") from error
    except (GeneratorExit, gr.Error):
        raise
    except Exception as error:
        _log.exception("unexpected error in a handler")
        raise _toast(OURS, plain=plain, title="Sorry") from error


def _toast(sentence: str, *, plain: bool, title: str) -> gr.Error:
    return gr.Error(sentence if plain else html.escape(sentence), title=title, print_exception=False)
