"""What happens when a visitor chooses a model: it loads while everything goes on, and then takes the other's place.

Until it is there the visitor keeps the model of before, and whatever goes wrong is one sentence. The file knows nothing
of gradio.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import closing

from model import catalog
from model.errors import AttendError
from model.loaded import LoadedModel
from model.placement import in_words
from ui.checks import checked_text
from ui.contract import LanguagesValue, ModelValue
from ui.loading import Arriving, Held
from ui.models import Models
from ui.screen import Screen
from ui.session import Session
from ui.translate import is_translator
from ui.ways import first_way


def current(session: Session, models: Models) -> str:
    """The name of the visitor's model between their languages, which from here on stays in memory for as long as they
    are here."""
    loaded = models.between(session.model, *(session.languages or ("", "")))
    session.holds = loaded
    return loaded.name


def choose(session: Session, models: Models, name: object) -> Iterator[Screen]:
    """Load a model and let the visitor have it; who chooses another meanwhile waits for that one alone.

    An encoder alone takes the place of the page, and the model that writes waits behind it with all that it wrote.
    Of the page only the choice is told here; `Session.unseen` says that the rest is to follow.
    """
    if name == session.model:
        cancel(session)
        session.encoder, session.unseen = None, session.unseen or session.encoder is not None
        yield Screen(model=standing(session, models))
        return
    wanted = checked_text(name, "The model’s name").strip()
    cancel(session)
    mine = session.choosing = threading.Event()
    loaded: Held | None = None
    try:
        with closing(models.load(wanted)) as loading:
            while True:
                try:
                    arriving = next(loading)
                except StopIteration as ended:
                    loaded = ended.value
                    break
                if mine.is_set():
                    break
                yield Screen(model=_coming(session, models, wanted, arriving))
        if mine.is_set() or loaded is None:
            if session.choosing is None:  # else the choice is another's to tell
                yield Screen(model=standing(session, models))
            return
        session.choosing, session.unseen = None, True
        if isinstance(loaded, LoadedModel):
            session.languages = session.encoder = None  # first: the model before takes any, the next one may not
            session.model, session.holds = loaded.name, loaded
        else:
            session.encoder = loaded
        del loaded  # it is the session's from here on, and goes with it
        yield Screen(model=standing(session, models))
    except Exception:
        if session.choosing is mine:
            session.choosing = None
            yield Screen(model=standing(session, models))
        raise
    finally:
        if session.choosing is mine:
            session.choosing = None


def cancel(session: Session) -> None:
    """Keep the model of before, as `choose` then tells; what has come of a download stays for the next time."""
    if session.choosing is not None:
        session.choosing.set()
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


def standing(session: Session, models: Models) -> ModelValue:
    """The choice while nothing is loading."""
    writes, encoder = models.get(current(session, models)), session.encoder
    name = session.model if encoder is None else encoder.address
    return {
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


def choices(models: Models, *also: str) -> list[tuple[str, str]]:
    """What can be chosen, as words and names: what is offered, and what is in use or on its way."""
    entries = {entry.name: entry for entry in catalog.ENTRIES}
    told = []
    for name in dict.fromkeys((*models.names, *also)):
        entry = entries.get(name)
        if entry is None:
            told.append((name, name))
        else:
            where = "on this machine" if catalog.is_here(entry) else f"download {in_words(entry.megabytes * 10**6)}"
            told.append((f"{name} · {where} · {entry.licence}", name))
    return told


def _coming(session: Session, models: Models, name: str, arriving: Arriving) -> ModelValue:
    """The choice while a model is on its way."""
    done, total = arriving.done, arriving.total
    downloading = 0 < done < total
    return {
        **standing(session, models),
        "name": name,
        "choices": choices(models, session.model, name),
        "title": f"Downloading {name}" if downloading else f"Loading {name}",
        "said": f"{in_words(done)} of {in_words(total)}" if downloading else "loading the weights" if total else "",
        "share": done / total if downloading else None,
        "notes": [],
    }
