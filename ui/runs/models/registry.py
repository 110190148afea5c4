"""The models that this page may use, loaded on demand.

Visitors only send names; a name that may not be used is refused before anything is opened. `model_cache.py` keeps the
models in memory, `decoder.py` runs them.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, MutableMapping, Sequence
from copy import copy
from dataclasses import replace
from types import MappingProxyType

from decoding.call import Decode
from decoding.observer import Observer, observing
from decoding.schedulers import Schedulers
from model import names
from model.encoder import Encoder
from model.errors import AttendError
from model.loaded import LoadedModel
from model.names import Task
from model.text.languages import marked, unmarked
from ui.limits import Limits
from ui.runs.models.decoder import Decoder
from ui.runs.models.model_cache import AnyModel, Load, LoadProgress, ModelCache, when_loaded
from ui.runs.prompts import task_of
from ui.runs.session import Session


class Models:
    """The models that visitors may use; every visitor begins with the first, which is always in memory."""

    def __init__(
        self,
        names: Sequence[str],
        load: Load,
        *,
        any_name: bool = False,
        limits: Limits = Limits(),
        wrap: Callable[[Decode], Decode] = lambda decode: decode,
        alone: Callable[[str], bool] = lambda name: False,
        observer: Observer = Observer(),
        decoder: Decoder | None = None,
    ) -> None:
        """
        Args:
            names: those that are offered; the first is the default.
            load: loads a model by name; an exception raised by its progress callback cancels it.
            any_name: whether visitors may also name folders and repositories.
            limits: of the page.
            wrap: the host's decorator for decoding, such as one that leases a GPU.
            alone: whether each run of this model has passes of its own, since it leases a GPU.
            observer: measures all runs.
            decoder: runs the strategies; None for one in this process.
        """
        if not names:
            raise ValueError("a page needs at least one model")
        self.names = tuple(names)
        self.any_name = any_name
        self.limits = limits
        self.schedulers = Schedulers(max_rows=limits.rows, prefix_bytes=limits.prefix_bytes, observer=observer)
        self._decoder = decoder or Decoder(self.get, self.schedulers, alone=alone)
        self.decode = observing(wrap(self._decoder.decode), observer)
        self._cache = ModelCache(load)
        self._first: LoadedModel | None = None
        self._kept: MutableMapping[str, AnyModel] | None = None

    def with_embedded_cache(self, kept: MutableMapping[str, AnyModel]) -> Models:
        """The same models; those embedded in Attend, which are small, and the last encoder are also put into `kept`,
        so that they stay in memory."""
        same = copy(self)
        same._kept = kept
        return same

    @property
    def default(self) -> str:
        return self.names[0]

    @property
    def first(self) -> LoadedModel:
        """The model of `default`."""
        if self._first is None:
            self._first = self.get(self.default)
        return self._first

    def get(self, name: object) -> LoadedModel:
        """The model, loaded if it is not in memory; only the caller waits.

        Args:
            name: may contain languages, as `with_languages` adds them, or a precision, as `names.with_precision` does;
                for a folder in use, its display name will do.

        `AttendError` for a name that is neither offered nor in use, for a checkpoint that cannot be read, and for an
        encoder alone.
        """
        plain, languages = self._unmarked(name)
        loaded = self._whole(plain)
        if self._kept is not None and plain in names.embedded():
            self._kept[plain] = loaded
        return loaded if languages is None else replace(loaded.with_languages(*languages), name=str(name))

    def with_languages(self, name: object, source: str, target: str) -> LoadedModel:
        """The model for these languages, under a name that contains them; "" is the model's default language."""
        loaded = self.get(name)
        if not (source or target):
            return loaded
        translator = loaded.with_languages(source, target)
        assert translator.languages is not None  # it would have raised
        return replace(translator, name=marked(self._unmarked(name)[0], translator.languages))

    def current(self, session: Session) -> str:
        """The name of the visitor's model with their languages; the model stays in memory as long as the visitor is
        here."""
        loaded = self.with_languages(session.model.name, *session.model.languages.get(session.model.name, ("", "")))
        session.model.kept = loaded
        return loaded.name

    def for_task(self, task: Task, last: Mapping[Task, str] = MappingProxyType({})) -> str:
        """The model for a task: the one used last, or an embedded one that is offered; "" if there is none.

        Args:
            last: the models that a visitor chose last.
        """
        if task in last:
            return last[task]
        if task_of(self.first) == task:
            return self.default
        fit = (entry.name for entry in names.ENTRIES if entry.task == task and entry.embedded)
        return next((name for name in fit if name in self.names), "")

    def _unmarked(self, name: object) -> tuple[str, tuple[str, str] | None]:
        """An offered name as it is, even if it looks like one with languages."""
        plain = str(name).strip()
        return (plain, None) if plain in self.names else unmarked(plain)

    def _whole(self, name: str) -> LoadedModel:
        if (cached := self.cached(name) or self._cached_as(name)) is not None:
            return cached
        loaded = when_loaded(self.load(name, offered=True))
        if isinstance(loaded, LoadedModel):
            return loaded
        raise AttendError(f"{name} is an encoder, which can't generate text: choose another model.")

    def cached(self, name: object) -> LoadedModel | None:
        """The model, if it is in memory and can generate."""
        cached = self._cache.cached(name) if isinstance(name, str) else None
        return cached if isinstance(cached, LoadedModel) else None

    def is_at_hand(self, name: object) -> bool:
        """Whether a visitor may use the model and needs no download for it."""
        if not isinstance(name, str):
            return False
        plain = names.without_precision(name)[0]
        entry = next((entry for entry in names.ENTRIES if entry.name == plain), None)
        return self.cached(name) is not None or (self._offers(name) and (entry is None or names.is_installed(entry)))

    def is_known(self, name: str) -> bool:
        """Whether `get` takes the name, though the model may yet fail to load."""
        plain, _ = self._unmarked(name)
        return self._offers(plain) or self.cached(plain) is not None or self._cached_as(plain) is not None

    def _offers(self, name: str) -> bool:
        """Whether the model is one of `names`, in any precision."""
        return name in self.names or names.without_precision(name)[0] in self.names

    def in_memory(self) -> tuple[str, ...]:
        """The names of the generating models in memory, the default first."""
        used = sorted(name for name in self._cache.names() if self.cached(name) is not None)
        return tuple(dict.fromkeys((self.default, *used)))

    def encoders(self) -> tuple[str, ...]:
        """The names of the last encoders used."""
        return self._cache.encoders()

    def encoder(self, name: str) -> Encoder:
        """One of `encoders`, loaded again if it is no longer in memory; `AttendError` for any other name."""
        if name not in self.encoders():
            raise AttendError(f"The encoder {name[:80]!r} is not in use: choose it as the page's model first.")
        loaded = when_loaded(self.load(name))
        assert not isinstance(loaded, LoadedModel)
        if self._kept is not None:
            for other in [key for key, kept in self._kept.items() if not isinstance(kept, LoadedModel)]:
                del self._kept[other]
            self._kept[name] = loaded
        return loaded

    def _cached_as(self, display_name: str) -> LoadedModel | None:
        """The model in use with this display name, where visitors may name folders; `AttendError` for several."""
        if not self.any_name or display_name in self.names:
            return None
        cached = [name for name in self._cache.names() if names.display_name(name) == display_name]
        if len(cached) > 1:
            raise AttendError(f"{len(cached)} folders in use are called {display_name}: give the path of one.")
        return self.cached(cached[0]) if cached else None

    def require_loaded(self, name: str) -> LoadedModel:
        """The model of an earlier text; `AttendError` if it is no longer in memory."""
        if not self.is_loaded(name):
            raise AttendError(
                f"{self.display_name(name)} wrote this but is no longer loaded: choose it again to inspect its texts."
            )
        return self.get(name)

    def is_loaded(self, name: str) -> bool:
        """Whether an earlier text of the model can be inspected without loading anything."""
        plain, _ = self._unmarked(name)
        return plain == self.default or self.cached(plain) is not None

    def display_name(self, name: str) -> str:
        """The display name of a model, with its languages if the name contains them."""
        plain, _ = self._unmarked(name)
        return name if plain in self.names else names.display_name(plain) + name[len(plain) :]

    def load(self, name: object, *, offered: bool = False) -> Generator[LoadProgress, None, AnyModel]:
        """See `ModelCache.load`.

        Args:
            offered: whether it must be one of `names`, even if visitors may name others.

        `AttendError` at once for a name that may not be used, and at the end for a model that cannot be loaded.
        """
        if not isinstance(name, str) or not (self._offers(name) or (self.any_name and not offered)):
            raise AttendError(f"There is no model {str(name)[:80]!r} here: choose one of {', '.join(self.names)}.")
        return self._cache.load(name)

    def forget(self, visitor: str) -> None:
        """Drop the cached prefixes of a visitor who has left."""
        self._decoder.forget(visitor)
