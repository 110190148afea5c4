"""The text in Write's box and the run that holds its tokens.

While the box's text matches the tokens, they stay the same; an edited text is tokenized again
(`ui/write/retokenize.py`). Only a stop text may be among the tokens and not in the box.
"""

from __future__ import annotations

from collections.abc import Sequence

from model.inspection.intervention import Intervention
from model.loaded import LoadedModel
from ui.kit.validation import checked_text
from ui.runs.run import RunRecord, TokenRecord
from ui.runs.session import Session, Version
from ui.write.retokenize import cut, text_of


def update_draft(session: Session, loaded: LoadedModel, text: object) -> RunRecord | None:
    """Bring the draft up to date with the box; None when the box is empty."""
    session.refuse_while_busy()
    checked = checked_text(text, "The text")
    if checked:
        return draft_run(session, loaded, checked)
    if not session.draft.is_empty:
        session.remember_draft(typed=True)
        empty_draft(session)
    return None


def draft_run(session: Session, loaded: LoadedModel, text: str) -> RunRecord:
    """The draft's run if its text is still the text in the box; otherwise a new run for that text."""
    run = session.runs.get(session.draft.run or "")
    same_model = run is not None and run.model == loaded.name
    if run is not None and same_model and _lines(session.draft.text) == _lines(text):
        return run
    if (version := _typed_back(session, loaded, text)) is not None:
        return restored_run(session, loaded, version)
    tokens, shape = cut(run.tokens if run is not None and same_model else (), text, loaded)
    if run is not None or _lines(session.draft.text) != _lines(text):
        session.remember_draft(typed=True)
    return replace_run(session, loaded, tokens, shape, text)


def without_stop_text(session: Session, loaded: LoadedModel, run: RunRecord) -> RunRecord:
    """The run to continue, without the stop text that ended it and that the box does not show."""
    text, decoded = session.draft.text, text_of(run.tokens, loaded.tokenizer)
    if decoded == text or not decoded.startswith(text):
        return run
    return replace_run(session, loaded, *cut(run.tokens, text, loaded), text, interventions=run.interventions)


def replace_run(
    session: Session,
    loaded: LoadedModel,
    tokens: Sequence[TokenRecord],
    shape: tuple[int, int],
    text: str | None = None,
    *,
    interventions: tuple[Intervention, ...] = (),
) -> RunRecord:
    """Replace the draft's run by a new one; its new name makes the page forget which token was selected.

    Args:
        text: of the box, where it differs from that of the tokens.
        interventions: what is changed inside the model where the text goes on.
    """
    run = session.add_run("write", loaded.name, tokens)
    run.shape, run.kept_interventions = shape, interventions
    session.draft.run, session.draft.overtaken = run.id, None
    session.draft.text = text_of(tokens, loaded.tokenizer) if text is None else text
    session.drop_unused_runs()
    return run


def restored_run(session: Session, loaded: LoadedModel, version: Version) -> RunRecord:
    """The run of a version that comes back."""
    off = version.interventions
    run = replace_run(session, loaded, version.tokens, version.shape, version.text, interventions=off)
    run.trace = version.trace
    session.draft.key = version.key or session.draft.key
    return run


def empty_draft(session: Session) -> None:
    session.draft.text, session.draft.run, session.draft.key, session.draft.overtaken = "", None, "", None
    session.drop_unused_runs()


def _typed_back(session: Session, loaded: LoadedModel, text: str) -> Version | None:
    """The version before the typing, if this is its text again; then nothing of the typing is left to undo."""
    draft = session.draft
    before = draft.undo[-1] if draft.typed and draft.undo else None
    if before is None or not before.tokens or before.model != loaded.name or _lines(before.text) != _lines(text):
        return None
    draft.typed = False
    return draft.undo.pop()


def _lines(text: str) -> str:
    """The text with the line ends of a browser's text box."""
    return text.replace("\r\n", "\n").replace("\r", "\n")
