"""An answer that grows with its run: its text so far, its new tokens, and why it ended.

Knows nothing of gradio.
"""

from __future__ import annotations

from collections import deque
from typing import Self

from decoding.run.trace import Trace
from decoding.step import FinishReason
from model.loaded import LoadedModel
from ui.runs.answer_text import common_prefix
from ui.runs.live_run import LiveRun
from ui.runs.run import RunRecord
from ui.runs.runs_contract import AnswerUpdate
from ui.runs.stream import Ending
from ui.runs.versions.conversation import Turn

_MAX_OF_A_STOP_TEXT = 24  # characters, in a note
_UPDATES_AT_ONCE = 2  # each repeats the one before, so the page can miss one


class GrowingAnswer:
    """An answer while its run grows. Only one thread updates it; others may read its turn meanwhile."""

    def __init__(self, turn: Turn, live: LiveRun) -> None:
        self.turn, self.live = turn, live
        self._changed: deque[int] = deque(maxlen=_UPDATES_AT_ONCE)  # the first token that each update changed

    @classmethod
    def of(cls, run: RunRecord, trace: Trace, loaded: LoadedModel, model: str, turn: Turn | None = None) -> Self:
        """An answer whose run will grow into this trace.

        Args:
            model: the model's display name.
            turn: the answer so far, if it is continued; by default an empty one.
        """
        if turn is None:
            turn = Turn("assistant", "", tokens=[], run=run.id, state="streaming", model=model)
        else:
            turn.state, turn.note, turn.unfinished = "streaming", None, False
            turn.version += 1
        return cls(turn, LiveRun.of(run, trace, loaded))

    def update(self, ending: Ending | None) -> None:
        """Bring the turn up to date with its run."""
        run, turn = self.live.run, self.turn
        tokens = self.live.answer(finished=ending is not None)
        self._changed.append(common_prefix(turn.tokens or (), tokens))
        turn.tokens, turn.text = tokens, "".join(token["text"] for token in tokens)
        if ending is not None:
            if self.live.reason is not None:
                ending = "finished"  # Stop was pressed as the text ended by itself
            turn.state = "done" if ending == "finished" else "stopped"
            turn.note = ending_note(run, ending, self.live.reason)
            turn.unfinished = is_unfinished(run)
        turn.version += 1  # last: a reader in between sees the old version and gets this update again

    def stop(self) -> None:
        """End the answer, keeping the text so far."""
        self._changed.append(len(self.turn.tokens or ()))
        self.turn.state = "stopped"
        self.turn.version += 1

    def value(self, *, busy: bool) -> AnswerUpdate:
        """The changes of the last updates; at least one must have been made."""
        turn, since = self.turn, min(self._changed)
        return {
            "run": self.live.run.id,
            "base": turn.version - len(self._changed),
            "version": turn.version,
            "since": since,
            "tokens": (turn.tokens or [])[since:],
            "state": turn.state,
            "note": turn.note,
            "unfinished": turn.unfinished,
            "busy": busy,
        }


def is_unfinished(run: RunRecord) -> bool:
    """Whether the model could go on where the run ended."""
    trace = run.trace
    if trace is None or run.source or run.length > trace.request.context_length:
        return False
    return trace.is_unfinished


def ending_note(run: RunRecord, ending: Ending | None, reason: FinishReason | None) -> str | None:
    """Why a text ended, if that is not obvious.

    Args:
        reason: why decoding ended, unless it was interrupted.
    """
    if ending == "time":
        return "stopped at the time limit"
    if ending != "finished" or run.trace is None:
        return None
    if reason == "stop_text" and (stop := run.trace.stop_text) is not None:
        shown = stop.replace("\n", "↵")  # the text ends before it, so it is not shown there
        return f"stopped at “{shown[:_MAX_OF_A_STOP_TEXT]}{'…' if len(shown) > _MAX_OF_A_STOP_TEXT else ''}”"
    if reason == "length":
        full = run.length > run.trace.request.context_length
        return "reached the context limit" if full else "reached the length limit"
    return None


def with_others(note: str | None, run: RunRecord) -> str | None:
    """A note that also says where the other texts of a run are, for a tab that shows only the first."""
    others = 0 if run.trace is None else len(run.trace.sequences) - 1
    if others < 1:
        return note
    where = (
        f"{others} more {'text' if others == 1 else 'texts'}: press Save run to see {'it' if others == 1 else 'them'}"
    )
    return f"{note} · {where}" if note else where
