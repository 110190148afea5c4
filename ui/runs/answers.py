"""An answer and the run behind it: what it says by now, what of it is new to the page, and why it ends where it ends.

Knows nothing of gradio.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence

from decoding.step import FinishReason
from ui.runs.answer_text import AnswerText
from ui.runs.contract import AnswerUpdate
from ui.runs.run import Run
from ui.runs.run_builder import RunBuilder
from ui.runs.session import Turn
from ui.runs.stream import Ending
from ui.runs.values import answer_tokens

_MOST_OF_A_STOP_TEXT = 24  # characters, in a note
_UPDATES_AT_ONCE = 2  # each tells again what the one before told: one that a page has lost is healed by the next


class GrowingAnswer:
    """An answer while its run grows. One thread lengthens it; others may read its turn meanwhile."""

    def __init__(self, turn: Turn, builder: RunBuilder, text: AnswerText) -> None:
        self.turn = turn
        self._builder, self._text = builder, text
        self._changed: deque[int] = deque(maxlen=_UPDATES_AT_ONCE)  # the first token that each update changed

    def update(self, ending: Ending | None) -> None:
        """Let the turn say what its run says."""
        run, turn = self._builder.run, self.turn
        tokens = answer_tokens(run.tokens[run.first :], self._text, finished=ending is not None)
        self._changed.append(_first_difference(turn.tokens or (), tokens))
        turn.tokens, turn.text = tokens, "".join(text for text, _ in tokens)
        if ending is not None:
            turn.state = "done" if ending == "finished" else "stopped"
            turn.note = ending_note(run, ending, self._builder.reason)
        turn.version += 1  # last: whoever reads the turn meanwhile takes it for older than it is, and is told again

    def stop(self) -> None:
        """Nothing more comes of it."""
        self._changed.append(len(self.turn.tokens or ()))
        self.turn.state = "stopped"
        self.turn.version += 1

    def value(self, *, busy: bool) -> AnswerUpdate:
        """What the last updates changed; there must have been one."""
        turn, since = self.turn, min(self._changed)
        return {
            "run": self._builder.run.id,
            "base": turn.version - len(self._changed),
            "version": turn.version,
            "since": since,
            "tokens": (turn.tokens or [])[since:],
            "state": turn.state,
            "note": turn.note,
            "busy": busy,
        }


def ending_note(run: Run, ending: Ending | None, reason: FinishReason | None) -> str | None:
    """Why a text ends where it ends, where that is not plain to see.

    Args:
        reason: why decoding ended, where it ended by itself.
    """
    if ending == "time":
        return "stopped at the time limit"
    if ending != "finished" or run.trace is None:
        return None
    if reason == "stop_text" and (stop := run.trace.stop_text) is not None:
        shown = stop.replace("\n", "↵")  # the text itself ends before it, so nobody sees it there
        return f"stopped at “{shown[:_MOST_OF_A_STOP_TEXT]}{'…' if len(shown) > _MOST_OF_A_STOP_TEXT else ''}”"
    if reason == "length":
        full = run.length >= run.trace.request.context_length
        return "reached the context limit" if full else "reached the length limit"
    return None


def _first_difference(tokens: Sequence[tuple[str, float]], others: Sequence[tuple[str, float]]) -> int:
    pairs = enumerate(zip(tokens, others, strict=False))
    return next((number for number, (token, other) in pairs if token != other), min(len(tokens), len(others)))
