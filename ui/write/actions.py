"""What happens in Write: a raw text is continued in place, token by token if wished, and any token can be changed.

The box and the tokens are one text. As long as the box says what the tokens say, a continuation goes on from the very
same tokens; what somebody has edited is cut into tokens anew (`ui/write/retokenize.py`). A run's trace tells how its
newest continuation came about, and grows with the next one where both could have been made in one go; its prompt is all
that stood before. A stop text alone is among the tokens, to be looked at, and not in the box: from there on goes what
the box says. Knows nothing of gradio.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from decoding.request import Request
from decoding.settings import DecodingSettings
from decoding.step import Choice
from decoding.stop import TOKEN_LIMIT
from decoding.trace import Trace
from model.errors import AttendError
from model.limits import check_room
from model.loaded import LoadedModel
from ui.inspector.opening import opened, streamed
from ui.inspector.values import empty_inspector
from ui.kit.validation import checked_start, checked_text
from ui.runs.answer_text import AnswerText
from ui.runs.answers import ending_note
from ui.runs.generation import Progress, alone, run_for_visitor
from ui.runs.models import Models
from ui.runs.run import Run, TokenRecord
from ui.runs.run_builder import RunBuilder
from ui.runs.session import Session, Version
from ui.runs.values import meter_value
from ui.screen import Screen
from ui.write.retokenize import cut, text_of


@dataclass(frozen=True, slots=True, kw_only=True)
class WriteScreen(Screen):
    """What changes in Write."""

    text: str | None = None  # what stands in the box
    running: bool | None = None  # whether Stop is shown
    history: tuple[bool, bool] | None = None  # whether there is anything to undo, and to redo


def write(
    session: Session, models: Models, name: str, text: object, settings: DecodingSettings
) -> Iterator[WriteScreen]:
    """Continue the text that is in the box; with `max_new_tokens` 1 by exactly one token.

    A seed of -1 is drawn anew for every run, but not for one that goes on.
    """
    loaded = models.get(name)
    if loaded.model.decoder_start:
        raise AttendError(f"{name} answers texts instead of continuing them: use it in Translate.")
    checked = checked_start(text, "The text")
    session.refuse_while_busy()
    run = _run_of(session, loaded, checked)
    before = session.draft_version
    run = _as_the_box_says(session, loaded, run)
    limit = loaded.model.context_length
    if _ending(run, loaded) is not None:
        raise AttendError("The model ended its text here: keep typing, press Undo, or use another token instead.")
    check_room(len(run.tokens), limit)
    settings.strategy_for(Request.of(loaded, run.ids))  # refuses what cannot be done with this model
    single = settings.max_new_tokens == 1
    session.remember_draft(before)
    trace = _going_on(run, settings) or _begun(run, loaded, session.draft.text, settings.seeded())
    settings, request, best = trace.settings, trace.request, trace.best
    builder = RunBuilder(run, trace)
    written = AnswerText(loaded.tokenizer, settings.stop_texts, prompt=request.prompt, begins=True)
    view = _Continuation(session, models, loaded, builder, written, single)
    passes = alone(models.decode(name, request.prompt, settings, request.draws_used, best))
    yield from run_for_visitor(session, models, [builder], passes, view)


@dataclass(slots=True)
class _Continuation:
    """What Write shows of its text while the model goes on with it."""

    session: Session
    models: Models
    loaded: LoadedModel
    builder: RunBuilder
    text: AnswerText
    single: bool  # whether one token was asked for, of which everybody sees why it is the last

    def started(self) -> WriteScreen:
        return replace(_show(self.session, self.models, self.builder.run), running=True)

    def updated(self, progress: Progress) -> WriteScreen:
        session, run, loaded = self.session, self.builder.run, self.loaded
        if session.draft.run != run.id:  # the box was cleared meanwhile
            return WriteScreen(running=False if progress.ended and not session.busy else None)
        self.text.update(run.ids[len(self.builder.request.prompt) :])
        session.draft.text = self.text.text(finished=progress.ended)
        noted = not self.single or self.builder.reason == "stop_text"
        note = ending_note(run, progress.ending, self.builder.reason) if noted else None
        return WriteScreen(
            inspector=streamed(session, run, progress.since[0], loaded, busy=not progress.ended),
            meter=meter_value(len(run.tokens), loaded.model.context_length, note=_ending(run, loaded) or note),
            running=False if progress.ended else None,
            text=session.draft.text,
            seed=session.seed if progress.ended else None,
            history=_history(session) if progress.ended else None,
        )

    def failed(self) -> WriteScreen:
        return WriteScreen(running=False, history=_history(self.session))


def take(session: Session, models: Models, index: int, token: int) -> WriteScreen:
    """Put another token of the table in the place of token `index`; what followed it goes."""
    session.refuse_while_busy()
    run = session.run(session.draft.run)
    loaded = models.present(run.model)
    if not run.first <= index < len(run.tokens):
        raise AttendError("This token no longer exists: click another one.")
    old = run.tokens[index]
    if old.choice is None or all(candidate.id != token for candidate in old.choice.candidates):
        raise AttendError("This token is not in the table: click one of the rows.")
    if loaded.tokenizer.is_special(token):
        raise AttendError(
            f"{loaded.tokenizer.label(token)} has no text of its own, so it can't be used here: choose another row."
        )
    session.remember_draft()
    taken = replace(old, id=token, origin="taken", choice=_chosen_instead(old.choice, token))
    return _show(session, models, _replaced(session, loaded, [*run.tokens[:index], taken], run.shape))


def undo(session: Session, models: Models, name: str, text: object) -> WriteScreen:
    """Take back the last change: what was typed since, a continuation, an exchange of a token, or Clear."""
    _take_up(session, models.get(name), text)
    return _change_over(session, models, name, "undo", session.draft.undo, session.draft.redo)


def redo(session: Session, models: Models, name: str, text: object) -> WriteScreen:
    """Bring back what Undo took last, as long as nothing else has changed."""
    _take_up(session, models.get(name), text)
    return _change_over(session, models, name, "redo", session.draft.redo, session.draft.undo)


def clear(session: Session, models: Models, name: str) -> WriteScreen:
    """An empty box; Undo brings the text back."""
    session.cancel()
    if session.draft.run is not None:
        session.remember_draft()
    return _emptied(session, models.get(name))


def preview(session: Session, models: Models, name: str, text: object) -> WriteScreen:
    """The tokens of what is being typed, with what the model would have said in their place."""
    if session.busy:
        return WriteScreen()
    loaded = models.get(name)
    run = _take_up(session, loaded, text)
    screen = _show(session, models, run) if run is not None else _empty(session, loaded)
    return replace(screen, text=None)  # somebody is typing in it


def overview(session: Session, models: Models, name: str) -> WriteScreen:
    """Write as it stands, but for the box: it keeps its text, into which somebody may be typing already."""
    loaded = models.get(name)
    if not session.draft.text:
        return replace(_empty(session, loaded), text=None)
    return replace(_show(session, models, _run_of(session, loaded, session.draft.text)), text=None)


def _take_up(session: Session, loaded: LoadedModel, text: object) -> Run | None:
    """Let the draft say what the box says; None when it is empty."""
    session.refuse_while_busy()
    checked = checked_text(text, "The text")
    if checked:
        return _run_of(session, loaded, checked)
    if session.draft.run is not None:
        session.remember_draft(typed=True)
        _emptied(session, loaded)
    return None


def _change_over(
    session: Session, models: Models, name: str, what: str, source: list[Version], target: list[Version]
) -> WriteScreen:
    """Show the last version of `source`; what is shown now becomes the last of `target`."""
    if not source:
        raise AttendError(f"There is nothing to {what}.")
    if source[-1].tokens:
        models.present(source[-1].model)  # refused before anything changes
    target.append(session.draft_version)
    version = source.pop()
    session.draft.typed = False
    if not version.tokens:
        return _emptied(session, models.get(name))
    run = _replaced(session, models.present(version.model), version.tokens, version.shape, version.text)
    run.trace = version.trace
    return _show(session, models, run)


def _going_on(run: Run, settings: DecodingSettings) -> Trace | None:
    """The run's trace, to be lengthened; None where it has none, or where it would tell what is not so: had these
    settings made the whole text in one go, it would not be this one."""
    trace = run.trace
    if trace is None or trace.finish_reason not in ("length", "cancelled") or not trace.ids:
        return None
    former = trace.settings
    seeded = replace(settings, seed=former.seed) if settings.seed < 0 else settings
    length = len(trace.ids) + settings.max_new_tokens
    free = {"max_new_tokens": 0}
    same = {**seeded.to_dict(), **free} == {**former.to_dict(), **free}
    if not (settings.resumable and same and length <= TOKEN_LIMIT):
        return None
    return trace.resumed(replace(seeded, max_new_tokens=length))


def _begun(run: Run, loaded: LoadedModel, text: str, settings: DecodingSettings) -> Trace:
    """A new trace, whose prompt is all that stands there."""
    drawn = sum(not token.given for token in run.tokens)
    return Models.trace(loaded, text, Request.of(loaded, run.ids, draws_used=drawn), settings)


def _run_of(session: Session, loaded: LoadedModel, text: str) -> Run:
    """The draft's run if the box still says what it says; otherwise a new one, for the text as it stands now."""
    run = session.runs.get(session.draft.run or "")
    same_model = run is not None and run.model == loaded.name
    if run is not None and same_model and _lines(session.draft.text) == _lines(text):
        return run
    tokens, shape = cut(run.tokens if run is not None and same_model else (), text, loaded)
    session.remember_draft(typed=True)
    return _replaced(session, loaded, tokens, shape, text)


def _as_the_box_says(session: Session, loaded: LoadedModel, run: Run) -> Run:
    """The run to be lengthened: without the stop text that has ended it, which the box does not hold."""
    text, decoded = session.draft.text, text_of(run.tokens, loaded.tokenizer)
    if decoded == text or not decoded.startswith(text):
        return run
    return _replaced(session, loaded, *cut(run.tokens, text, loaded), text)


def _replaced(
    session: Session,
    loaded: LoadedModel,
    tokens: Sequence[TokenRecord],
    shape: tuple[int, int],
    text: str | None = None,
) -> Run:
    """A new run in the place of the draft's, under a new name, so that the page forgets what was selected.

    Args:
        text: what the box says, where that is not what the tokens say.
    """
    run = session.add_run("write", loaded.name, tokens)
    run.shape = shape
    session.draft.run = run.id
    session.draft.text = text_of(tokens, loaded.tokenizer) if text is None else text
    session.drop_unused_runs()
    return run


def _chosen_instead(choice: Choice, token: int) -> Choice:
    """The same distribution with another token chosen by hand."""
    if token == choice.token:
        return replace(choice, draw=None)
    candidates, rest = choice.candidates, choice.rest
    if choice.rank > len(candidates):  # it stood behind the best only because it was chosen; now it is one of the rest
        rest = tuple(mass + probability for mass, probability in zip(rest, choice.chosen.probabilities, strict=True))
        candidates = tuple(candidate for candidate in candidates if candidate.id != choice.token)
    rank = next(rank for rank, candidate in enumerate(candidates, start=1) if candidate.id == token)
    return replace(choice, token=token, rank=rank, draw=None, candidates=candidates, rest=rest)


def _show(session: Session, models: Models, run: Run) -> WriteScreen:
    loaded = models.present(run.model)
    return WriteScreen(
        inspector=opened(session, models, run),
        meter=meter_value(len(run.tokens), loaded.model.context_length, note=_ending(run, loaded)),
        text=session.draft.text,
        history=_history(session),
    )


def _emptied(session: Session, loaded: LoadedModel) -> WriteScreen:
    session.draft.text, session.draft.run = "", None
    session.drop_unused_runs()
    return _empty(session, loaded)


def _empty(session: Session, loaded: LoadedModel) -> WriteScreen:
    session.shown = None
    return WriteScreen(
        inspector=empty_inspector("write"),
        meter=meter_value(len(loaded.prefix_tokens), loaded.model.context_length),
        text=session.draft.text,
        history=_history(session),
    )


def _history(session: Session) -> tuple[bool, bool]:
    return (not session.busy and bool(session.draft.undo), not session.busy and bool(session.draft.redo))


def _ending(run: Run, loaded: LoadedModel) -> str | None:
    return "the model ended its text here" if run.tokens[-1].id in loaded.end_tokens else None


def _lines(text: str) -> str:
    """A browser's text box has one kind of line end."""
    return text.replace("\r\n", "\n").replace("\r", "\n")
