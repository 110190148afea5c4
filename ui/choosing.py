"""What happens when a visitor chooses a model: it loads while everything goes on, and then takes the other's place.

Until it is there the visitor keeps the model of before, and whatever goes wrong is one sentence. The file knows nothing
of gradio.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import closing

from model import catalog
from model.errors import AttendError
from model.loaded import LoadedModel
from model.placement import in_words
from ui import header
from ui.checks import checked_text
from ui.contract import LanguagesValue, ModelValue
from ui.loading import Arriving, Held
from ui.models import Models
from ui.screen import Screen
from ui.session import Choosing, Session
from ui.translate import is_translator
from ui.ways import first_way

_MOST_OF_A_NAME = 80  # characters of a model's name, in the list and beside the bar
_MOST_OF_A_PATH = 28


def current(session: Session, models: Models) -> str:
    """The name of the visitor's model between their languages, which from here on stays in memory for as long as they
    are here."""
    loaded = models.between(session.model, *(session.languages or ("", "")))
    session.holds = loaded
    return loaded.name


def choose(session: Session, models: Models, name: object, *, typed: bool = False) -> Iterator[Screen]:
    """Load a model and let the visitor have it; who chooses another meanwhile waits for that one alone.

    An encoder alone takes the place of the page, and the model that writes waits behind it with all that it wrote.
    Of the page only the choice is told here; `Session.unseen` says that the rest is to follow.

    Args:
        typed: whether the name was typed, whose box is emptied once the model is there.
    """
    wanted = checked_text(name, "The model’s name").strip()
    if wanted == _shown(session):  # chosen or on its way; a list that is left as it was tells so, too
        yield Screen()
        return
    cancel(session)
    if wanted == session.model:
        session.encoder, session.unseen = None, session.unseen or session.encoder is not None
        yield Screen(model={**standing(session, models), "empties": typed})
        return
    mine = session.choosing = Choosing(wanted)
    loaded: Held | None = None
    try:
        with closing(models.load(wanted)) as loading:
            while True:
                try:
                    arriving = next(loading)
                except StopIteration as ended:
                    loaded = ended.value
                    break
                if mine.given_up:
                    break
                yield Screen(model=_coming(session, models, wanted, arriving))
        if mine.given_up or loaded is None:
            if session.choosing is None:  # else the choice is another's to tell
                session.unseen = True  # the page may have waited for what this model could do
                yield Screen(model=standing(session, models))
            return
        session.choosing, session.unseen = None, True
        if isinstance(loaded, LoadedModel):
            session.languages = session.encoder = None  # first: the model before takes any, the next one may not
            session.model, session.holds = loaded.name, loaded
        else:
            session.encoder = loaded
        del loaded  # it is the session's from here on, and goes with it
        yield Screen(model={**standing(session, models), "empties": typed})
    except Exception:
        if session.choosing is mine:
            session.choosing, session.unseen = None, True
            yield Screen(model=standing(session, models))
        raise
    finally:
        if session.choosing is mine:
            session.choosing = None


def cancel(session: Session) -> None:
    """Keep the model of before, as `choose` then tells; what has come of a download stays for the next time."""
    if session.choosing is not None:
        session.choosing.given_up = True
        session.choosing = None


def translate(session: Session, models: Models, source: str, target: str) -> Screen:
    """Let the visitor's model translate between other languages; what stands on the page keeps its own."""
    loaded = models.between(session.model, source, target)
    if (told := loaded.languages) is None:
        raise AttendError(f"{loaded.name} is not told between which languages it translates: choose a translator.")
    session.languages, session.unseen = (told.source, told.target), True
    return Screen(model=standing(session, models))


def leave(session: Session) -> None:
    """The visitor has gone; should they come back, `current` asks for the model again."""
    cancel(session)
    session.holds = session.encoder = None
    session.read.clear()


def standing(session: Session, models: Models) -> ModelValue:
    """The choice while nothing is loading."""
    writes, encoder = models.get(current(session, models)), session.encoder
    name = session.model if encoder is None else encoder.address
    return {
        "line": header.line(encoder or writes),
        "empties": False,
        "name": name,
        "choices": choices(models, session.model, name),
        "title": "",
        "said": "",
        "share": None,
        "notes": list((encoder or writes).notes),
        "context": writes.model.context_length,
        "way": first_way(translates=is_translator(writes)),
        "languages": languages_value(writes if encoder is None else None),
    }


def languages_value(loaded: LoadedModel | None) -> LanguagesValue:
    """What the model can be told of languages, and what it is told; of an encoder alone, None, nothing."""
    told = None if loaded is None else loaded.languages
    if told is None:
        return {"sources": [], "targets": [], "source": "", "target": ""}
    return {
        "sources": sorted(told.sources),
        "targets": sorted(told.targets),
        "source": told.source,
        "target": told.target,
    }


def choices(models: Models, *also: str, coming: str = "") -> list[tuple[str, str]]:
    """What can be chosen, as words and names: what is offered, and what is in use or on its way."""
    entries = {entry.name: entry for entry in catalog.ENTRIES}
    told = []
    for name in dict.fromkeys(filter(None, (*models.names, *also, coming))):
        entry, called = entries.get(name), catalog.called(name)
        if name == coming:
            words = f"{_shortened(called)} · loading"
        elif entry is not None:
            where = "on this machine" if catalog.is_here(entry) else f"download {in_words(entry.megabytes * 10**6)}"
            words = f"{name} · {where} · {entry.licence}"
        elif called == name or name in models.names:
            words = _shortened(name)
        else:
            words = f"{_shortened(called)} · {_place(name, called)}"
        told.append((words, name))
    return told


def _place(folder: str, called: str) -> str:
    """Where a folder lies, of a long path the end: how it begins says least."""
    path = os.path.abspath(os.path.expanduser(folder)).removesuffix(called).rstrip(os.sep) or os.sep
    if len(path) <= _MOST_OF_A_PATH:
        return path
    end = path[1 - _MOST_OF_A_PATH :]
    return f"…{end[max(0, end.find(os.sep)) :]}"


def _shortened(name: str) -> str:
    return name if len(name) <= _MOST_OF_A_NAME else f"{name[: _MOST_OF_A_NAME - 1]}…"


def _shown(session: Session) -> str:
    """The name at which the choice stands on the visitor's page."""
    if session.choosing is not None:
        return session.choosing.name
    return session.model if session.encoder is None else session.encoder.address


def _coming(session: Session, models: Models, name: str, arriving: Arriving) -> ModelValue:
    """The choice while a model is on its way."""
    done, total = arriving.done, arriving.total
    downloading = 0 < done < total
    return {
        **standing(session, models),
        "name": name,
        "choices": choices(models, session.model, coming=name),
        "title": f"{'Downloading' if downloading else 'Loading'} {_shortened(catalog.called(name))}",
        "said": f"{in_words(done)} of {in_words(total)}" if downloading else "loading the weights" if total else "",
        "share": done / total if downloading else None,
        "notes": [],
    }
