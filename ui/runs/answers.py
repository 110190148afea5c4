"""An answer that grows with its run: its text so far, its new tokens, and why it ended.

Knows nothing of gradio.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence

from decoding.run.trace import Trace
from decoding.step import Step
from model.loaded import LoadedModel
from ui.runs.answer_text import common_prefix
from ui.runs.live_run import LiveRun, answer_text
from ui.runs.run import RunRecord
from ui.runs.runs_contract import AnswerUpdate
from ui.runs.stream import Ending
from ui.runs.versions.conversation import Turn

_UPDATES_AT_ONCE = 2  # each repeats the one before, so the page can miss one


class LiveAnswer(LiveRun):
    """A live run whose text is a message. Only one thread extends it; others may read its turn meanwhile."""

    def __init__(self, run: RunRecord, trace: Trace, loaded: LoadedModel, model: str, turn: Turn | None = None) -> None:
        """
        Args:
            trace: what the run will grow into.
            model: the model's display name.
            turn: the answer so far, if it is continued; by default an empty one.
        """
        super().__init__(run, trace, answer_text(trace, loaded))
        if turn is not None:
            turn.state, turn.note, turn.unfinished = "streaming", None, False
            turn.version += 1
        self.turn = turn or Turn("assistant", "", tokens=[], run=run.id, state="streaming", model=model)
        self._changed = deque[int](maxlen=_UPDATES_AT_ONCE)  # the first token that each of the last updates changed

    def add(self, steps: Sequence[Step], ending: Ending | None = None) -> int:
        """See `LiveRun.add`; brings the turn up to date as well."""
        since, turn = super().add(steps, ending), self.turn
        tokens = self.answer()
        self._changed.append(common_prefix(turn.tokens or (), tokens))
        turn.tokens, turn.text = tokens, "".join(token["text"] for token in tokens)
        if ending is not None:
            turn.state = "done" if self.ending == "finished" else "stopped"
            turn.note, turn.unfinished = self.note, is_unfinished(self.run)
        turn.version += 1  # last: a reader in between sees the old version and gets this update again
        return since

    def value(self, *, busy: bool) -> AnswerUpdate:
        """The changes of the last updates; at least one must have been made."""
        turn, since = self.turn, min(self._changed)
        return {
            "run": self.run.id,
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
    """Whether the model could continue the text where the run ended."""
    trace = run.trace
    if trace is None or run.source or run.length > trace.request.context_length:
        return False
    return trace.is_unfinished


def with_others(note: str | None, run: RunRecord) -> str | None:
    """A note that also says where the other texts of a run are, for a tab that shows only the first."""
    others = 0 if run.trace is None else len(run.trace.sequences) - 1
    if others < 1:
        return note
    where = (
        f"{others} more {'text' if others == 1 else 'texts'}: press Save run to see {'it' if others == 1 else 'them'}"
    )
    return f"{note} · {where}" if note else where
