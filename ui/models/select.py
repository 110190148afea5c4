"""Choosing a model: it loads in the background and then replaces the visitor's model.

Until then the visitor keeps the previous model; a failure raises an `AttendError` and changes nothing. Knows nothing
of gradio.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass

from model import names
from model.errors import AttendError
from model.gguf import choice
from model.loaded import LoadedModel
from model.progress import in_words
from model.transformer.decoder import Transformer
from ui.kit.validation import checked_text
from ui.models.models_contract import ChoiceValue, LanguagesValue, ModelValue, PrecisionValue
from ui.page_update import PageUpdate
from ui.runs.documents.kept_document import complete_runs
from ui.runs.models import Models
from ui.runs.models.model_cache import AnyModel, LoadProgress
from ui.runs.prompts import is_translator, task_of
from ui.runs.session import Choosing, Session
from ui.settings.methods import default_method

_BITS = {"auto": 32, **{dtype: bits for bits, dtype in names.PRECISIONS.items()}}  # of models with a compiled step


@dataclass(frozen=True, slots=True, kw_only=True)
class PickerUpdate(PageUpdate):
    """What changes in the model picker."""

    model: ModelValue | None = None


def choose(
    session: Session, models: Models, name: object, *, typed: bool = False, for_tab: bool = False
) -> Iterator[PickerUpdate]:
    """Load a model for the visitor, unless they choose another one meanwhile.

    An encoder's page replaces the tabs; the generating model and its texts stay in the session. Here only the picker is
    updated; `ChosenModel.changed` makes the rest of the page follow.

    Args:
        typed: whether the name was typed into the box, which is emptied once the model is loaded.
        for_tab: whether a tab needs the model; leaving the tab then cancels the loading.
    """
    wanted = checked_text(name, "The model’s name").strip()
    coming = session.model.coming
    if not for_tab and session.tab.task and not (coming and coming.name == wanted):
        session.tab.task, session.model.changed = None, True  # the tab follows the visitor's choice
    if wanted == _selected_name(session):  # in use or being loaded already
        yield PickerUpdate()
        return
    cancel(session)
    if wanted == session.model.name:
        session.model.encoder, session.model.changed = None, session.model.changed or session.model.encoder is not None
        yield PickerUpdate(model={**picker_value(session, models), "clears_input": typed})
        return
    mine = session.model.coming = Choosing(wanted, for_tab)
    loaded: AnyModel | None = None
    try:
        with closing(models.load(wanted)) as loading:
            while True:
                try:
                    progress = next(loading)
                except StopIteration as ended:
                    loaded = ended.value
                    break
                if mine.cancelled:
                    break
                yield PickerUpdate(model=_loading_value(session, models, wanted, progress))
        with session.lock:  # an event that is still being handled uses the previous model, or cancels
            if mine.cancelled or loaded is None or (for_tab and not _still_needed(session, loaded)):
                typed = False
                if session.model.coming not in (None, mine):  # the newer choice updates the picker
                    return
            else:
                _use(session, models, loaded)
            session.model.coming = None
            session.model.changed = True  # a tab may have been kept open for the model that was loading
        del loaded  # from here on only the session keeps it in memory
        yield PickerUpdate(model={**picker_value(session, models), "clears_input": typed})
    except Exception:
        if session.model.coming is mine:
            session.model.coming, session.model.changed = None, True
            yield PickerUpdate(model=picker_value(session, models))
        raise
    finally:
        if session.model.coming is mine:
            session.model.coming = None


def _still_needed(session: Session, loaded: AnyModel) -> bool:
    """Whether the visitor is still on the tab that the model is for; they may have left it before loading began."""
    return isinstance(loaded, LoadedModel) and task_of(loaded) == session.tab.task


def _use(session: Session, models: Models, loaded: AnyModel) -> None:
    """Make a loaded model the visitor's."""
    if isinstance(loaded, LoadedModel):
        session.model.encoder = None
        session.model.name, session.model.kept = loaded.name, loaded
        session.model.last[task_of(loaded)] = loaded.name
        complete_runs(session, models, session.inspected_run)
    else:
        session.model.encoder = loaded


def cancel(session: Session) -> None:
    """Stop loading and keep the current model; `choose` then updates the picker. A partial download is kept."""
    if session.model.coming is not None:
        session.model.coming.cancelled = True
        session.model.coming = None


def choose_languages(session: Session, models: Models, source: str, target: str, count: int) -> Iterator[PickerUpdate]:
    """Run `translate`, unless a later choice was handled first: two choices may arrive in the wrong order.

    A choice that is refused brings the page's lists back to the languages in use.
    """
    if count < session.model.language_choices:
        return
    session.model.language_choices = count
    try:
        yield translate(session, models, source, target)
    except AttendError:
        yield PickerUpdate(model=picker_value(session, models))
        raise


def translate(session: Session, models: Models, source: str, target: str) -> PickerUpdate:
    """Let the visitor's model translate between other languages; texts already on the page don't change."""
    loaded = models.with_languages(session.model.name, source, target)
    if (languages := loaded.languages) is None:
        raise AttendError(f"{loaded.name} takes no languages: choose a translator.")
    session.model.languages[session.model.name] = (languages.source, languages.target)
    session.model.changed = True
    return PickerUpdate(model=picker_value(session, models))


def leave(session: Session) -> None:
    """Free a departed visitor's models; if they come back, `Models.current` loads the model again."""
    cancel(session)
    session.model.kept = session.model.encoder = session.model.scoring = None
    session.model.changed = False  # or an update of the closed page would load the model again
    session.model.lesson.clear()


def picker_value(session: Session, models: Models) -> ModelValue:
    """The picker while nothing is loading."""
    writes, encoder = models.get(models.current(session)), session.model.encoder
    name = session.model.name if encoder is None else encoder.address
    return {
        "clears_input": False,
        "name": name,
        "linked": name if names.without_precision(name)[0] in names.catalog() else "",
        "checksum": writes.checksum,
        "choices": choices(models, session.model.name, name),
        "precisions": precisions(models, session.model.name, writes) if encoder is None else [],
        "title": "",
        "status": "",
        "share": None,
        "notes": list((encoder or writes).notes),
        "context": writes.model.context_length,
        "method": default_method(translates=is_translator(writes)),
        "languages": languages_value(writes if encoder is None else None, session.model.language_choices),
    }


def other_weights(session: Session) -> str:
    """The notice about a link that was made with other weights than those of the visitor's model."""
    return (
        f"This link was made with a model whose weights differ from those of {names.display_name(session.model.name)} "
        "here: the same settings may lead to another text."
    )


def languages_value(loaded: LoadedModel | None, count: int) -> LanguagesValue:
    """The languages that the model offers and uses; all empty for None and for a model without languages."""
    languages = None if loaded is None else loaded.languages
    if languages is None:
        return {"sources": [], "targets": [], "source": "", "target": "", "count": count}
    return {
        "sources": sorted(languages.sources),
        "targets": sorted(languages.targets),
        "source": languages.source,
        "target": languages.target,
        "count": count,
    }


def choices(models: Models, *in_use: str, loading: str = "") -> list[ChoiceValue]:
    """The models that can be chosen: those offered, those in use, and the one being loaded.

    The last of these with the same name stands for all precisions of a model.
    """
    entries = {entry.name: entry for entry in names.ENTRIES}
    values: list[ChoiceValue] = []
    listed = {names.without_precision(name)[0]: name for name in (*models.names, *in_use, loading) if name}
    for plain, name in listed.items():
        entry, title, about, availability = entries.get(plain), names.display_name(name), "", ""
        if entry is not None:
            purpose = entry.purpose[0].upper() + entry.purpose[1:]
            about = f"{purpose} · {entry.parameters} parameters · {entry.languages}"
            size = in_words(entry.megabytes * 10**6)
            availability = "installed" if names.is_installed(entry) else f"{size} download"
        elif title != name:
            about = _location(plain, names.display_name(plain))
        availability = "loading" if name == loading else availability
        values.append({"name": name, "title": title, "about": about, "availability": availability})
    return values


def precisions(models: Models, name: str, loaded: LoadedModel) -> list[PrecisionValue]:
    """The precisions in which a visitor can have a model, which in each counts as a model of its own.

    Without a compiled step there is no choice, since fewer bits slow the model down. A model in the precision of the
    command line has its plain name.
    """
    network = loaded.model
    if not isinstance(network, Transformer) or network.compiled is None:
        return []
    plain, _ = names.without_precision(name)
    of_bits = {bits: names.with_precision(plain, bits) for bits in names.PRECISIONS}
    for dtype, its_name in ((models.first.dtype, plain), (loaded.dtype, name)):
        if dtype in _BITS:  # float16 is not
            of_bits[_BITS[dtype]] = its_name
    return [{"name": each, "title": f"{bits} bits"} for bits, each in of_bits.items()]


def _location(name: str, display_name: str) -> str:
    """The folder that contains the model's folder or file."""
    path = os.path.abspath(os.path.expanduser(name))
    path = choice.without_suffix(path) if os.path.isfile(path) else path
    return path.removesuffix(display_name).rstrip(os.sep) or os.sep


def _selected_name(session: Session) -> str:
    """The name of the model that the picker shows as selected."""
    if session.model.coming is not None:
        return session.model.coming.name
    return session.model.name if session.model.encoder is None else session.model.encoder.address


def _loading_value(session: Session, models: Models, name: str, progress: LoadProgress) -> ModelValue:
    """The picker while a model is being loaded."""
    done, total, coming = progress.done, progress.total, session.model.coming
    downloading, is_awaited = 0 < done < total, coming is not None and coming.for_tab
    writer = names.display_name(session.model.name)
    return {
        **picker_value(session, models),
        "name": name,
        "choices": choices(models, session.model.name, loading=name),
        "title": f"{'Downloading' if downloading else 'Loading'} {names.display_name(name)}",
        "status": f"{in_words(done)} of {in_words(total)}" if downloading else "loading the weights" if total else "",
        "share": done / total if downloading else None,
        "notes": [] if is_awaited or session.model.encoder else [f"Until it is ready, {writer} writes."],
    }
