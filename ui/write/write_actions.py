"""The actions of Write: a raw text is continued in place, by many tokens or by one, and any token can be exchanged.

The box and the tokens are one text (`ui/write/draft.py`), with a history (`ui/write/history.py`). The trace of its run
records the newest continuation, and grows with the next one where both could have been generated in one go; its prompt
is all the text before. Knows nothing of gradio.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from decoding.settings import DecodingSettings
from model.errors import AttendError
from model.limits import check_room
from model.loaded import LoadedModel
from ui.inspector.opening import streamed
from ui.kit.validation import checked_start
from ui.runs.answer_text import AnswerText
from ui.runs.answers import with_others
from ui.runs.generation import RunProgress, run_for_visitor
from ui.runs.live_run import LiveRun
from ui.runs.models import Models
from ui.runs.run_values import meter_value
from ui.runs.session import Session
from ui.runs.versions.resume import exchanged, resumed_trace, trace_from_here
from ui.write.draft import draft_run, replace_run, update_draft, without_stop_text
from ui.write.write_update import WriteUpdate, empty_update, ended_by_model, typed_update, undo_and_redo, update_of


def write(
    session: Session, models: Models, name: str, text: object, unseeded: DecodingSettings
) -> Iterator[WriteUpdate]:
    """Continue the text that is in the box.

    Args:
        unseeded: the settings; a seed of -1 is drawn anew for every run, but not for one that is continued.
    """
    loaded = models.get(name)
    if loaded.model.decoder_start:
        raise AttendError(f"{name} can't continue a text: use it in Translate.")
    checked = checked_start(text, "The text")
    session.refuse_while_busy()
    known = session.draft.run
    run = draft_run(session, loaded, checked)
    is_previewed = run.id == known
    before = session.draft_version
    run = without_stop_text(session, loaded, run)
    if ended_by_model(run, loaded) is not None:
        raise AttendError("The model ended its text here: keep typing, or use another token instead.")
    check_room(len(run.tokens) - 1, loaded.model.context_length)  # a full context predicts one more
    trace = resumed_trace(run, unseeded) or trace_from_here(
        run.tokens, loaded, unseeded.seeded(), text=session.draft.text, interventions=run.interventions
    )
    # nothing is refused from here on
    session.draft.overtaken = None if is_previewed else checked
    session.remember_draft(before)
    written = AnswerText(loaded.tokenizer, trace.settings.stop_texts, prompt=trace.request.prompt, begins=True)
    live = LiveRun(run, trace, written)
    view = _Continuation(session, models, loaded, live, single=unseeded.max_new_tokens == 1)
    yield from run_for_visitor(session, models, [live], models.decode(trace.call(session.visitor)), view)


def next_token(
    session: Session, models: Models, name: str, text: object, unseeded: DecodingSettings
) -> Iterator[WriteUpdate]:
    """Continue the text that is in the box by one token, whatever the least length of a text is."""
    single = replace(unseeded, max_new_tokens=1, min_new_tokens=0)
    yield from write(session, models, name, text, single)


@dataclass(slots=True)
class _Continuation:
    """What Write shows while the model continues the text."""

    session: Session
    models: Models
    loaded: LoadedModel
    live: LiveRun
    single: bool  # whether one token was requested, so the length limit is no news

    def started(self) -> WriteUpdate:
        return replace(update_of(self.session, self.models, self.live.run), running=True)

    def updated(self, progress: RunProgress) -> WriteUpdate:
        session, run, loaded = self.session, self.live.run, self.loaded
        if session.draft.run != run.id:  # the box was cleared meanwhile
            return WriteUpdate(running=False if progress.ended and not session.busy else None)
        self.live.text.update(run.ids[len(self.live.request.prompt) :])
        session.draft.text = self.live.text.text(finished=progress.ended)
        note = self.live.note if not self.single or self.live.reason == "stop_text" else None
        note = "stopped" if self.live.ending == "stopped" else note
        ending = ended_by_model(run, loaded)
        update = WriteUpdate(
            inspector=streamed(session, run, progress.since[0], loaded, busy=not progress.ended),
            meter=meter_value(len(run.tokens), loaded.model.context_length, note=with_others(ending or note, run)),
            text=session.draft.text,
        )
        if not progress.ended:
            return update
        if update.inspector is not None and self.single and ending:
            update.inspector["newest"] = len(run.tokens) - 1  # the end is the one token that was asked for
        return replace(
            update, running=False, seed=session.seed, ended=ending is not None, history=undo_and_redo(session)
        )


def take(session: Session, models: Models, index: int, token: int) -> WriteUpdate:
    """Exchange token `index` for another one of its table; the text after it is removed."""
    session.refuse_while_busy()
    run = session.run(session.draft.run)
    loaded = models.require_loaded(run.model)
    taken = exchanged(run, index, token, loaded)
    session.remember_draft()
    tokens = [*run.tokens[:index], taken]
    changed = replace_run(session, loaded, tokens, run.shape, interventions=run.interventions)
    return update_of(session, models, changed)


def preview(session: Session, models: Models, name: str, text: object) -> WriteUpdate:
    """The tokens of the text being typed, with the candidates that the model would have chosen from."""
    overtaken = session.draft.overtaken
    if overtaken and isinstance(text, str) and text and overtaken.startswith(text):
        session.draft.overtaken = None if text == overtaken else overtaken
        return WriteUpdate()
    coming = session.model.coming
    if session.busy or (coming is not None and coming.for_tab):  # typing isn't refused; only Continue is
        return WriteUpdate()
    session.draft.overtaken = None
    loaded = models.get(name)
    before = session.runs.get(session.draft.run or "")
    run = update_draft(session, loaded, text)
    if run is None:
        update = empty_update(session, loaded)
    elif session.draft.typed:
        update = typed_update(session, before, run, loaded)
    else:  # nothing is typed any more
        update = update_of(session, models, run)
    return replace(update, text=None)  # the visitor is typing in the box


def overview(session: Session, models: Models, name: str) -> WriteUpdate:
    """The current state of Write, without the box's text: the visitor may be typing in it already.

    A text that the model can't read, such as one that another model with a longer context wrote, is shown without
    tokens. What another model is still writing is tokenized again once it has ended.
    """
    loaded, draft = models.get(name), session.draft
    if not draft.text:
        return replace(empty_update(session, loaded), text=None)
    try:
        run = session.run(draft.run) if draft.run in session.growing else draft_run(session, loaded, draft.text)
    except AttendError as error:
        limit = loaded.model.context_length
        meter = meter_value(limit, limit, note=str(error))
        return replace(empty_update(session, loaded), text=None, meter=meter)
    return replace(update_of(session, models, run), text=None)
