"""A name → a loaded model with its tokenizer: of the catalogue, of a folder, or of the Hugging Face Hub.

Knows the names and where they lead, not how a checkpoint is read. Every name is checked by its form before a file or
the network is touched. Who may load what is not decided here, but `check_listed` says what a public page may.
"""

from __future__ import annotations

import os
import re
import threading
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from model import checkpoint
from model.choice import DEFAULT as DEFAULT
from model.choice import ENGINES
from model.encoder import Encoder
from model.errors import AttendError, EncoderOnly
from model.loaded import LoadedModel
from model.ours import assembled
from model.placement import INT8, Placement, native_shortage, total_memory
from model.progress import Progress, silent
from model.tokenizer import Tokenizer

EMBEDDED = Path(__file__).resolve().parent.parent / "checkpoints"


@dataclass(frozen=True, slots=True)
class Entry:
    """A model that is known by a name of its own."""

    place: str  # "owner/name" on the Hub, known by its second part; or a folder under `EMBEDDED`
    megabytes: int  # of weights, which is what is downloaded
    licence: str
    languages: str
    purpose: str

    @property
    def name(self) -> str:
        return self.place.rpartition("/")[2]

    @property
    def embedded(self) -> bool:
        return "/" not in self.place


# One line a model; add your own at the end.
ENTRIES = (
    Entry("attend-chat", 12, "Apache-2.0", "English", "small talk; comes with Attend"),
    Entry("attend-translate", 17, "Apache-2.0", "French, English", "translates French; comes with Attend"),
    Entry("HuggingFaceTB/SmolLM2-135M-Instruct", 269, "Apache-2.0", "English", "short answers"),
    Entry("Qwen/Qwen2.5-0.5B-Instruct", 988, "Apache-2.0", "29 languages", "chat, a little code"),
    Entry("distilbert/distilgpt2", 353, "Apache-2.0", "English", "continues texts; GPT-2 with half its layers"),
    Entry("openai-community/gpt2", 548, "MIT", "English", "continues texts; the smallest GPT-2"),
    Entry("Helsinki-NLP/opus-mt-fr-en", 301, "Apache-2.0", "French, English", "translates French into English"),
)

_REPOSITORY = re.compile(r"(?=.{3,96}$)[A-Za-z0-9](?:[\w.-]*\w)?/\w(?:[\w.-]*\w)?", re.ASCII)
_REVISION = re.compile(r"(?=.{1,200}$)\w[\w.-]*(?:/\w[\w.-]*)*", re.ASCII)
_FIRST_REVISION = "main"
_ADDRESS = re.compile(r"(?i)(?:https?://)?(?:www\.)?(?:huggingface\.co|hf\.co)/+([^?#]*)")
# What trainers call the last part of a folder's path, which says nothing of the model.
_GENERIC = re.compile(r"(?i)(?:final|best|last|latest|output|hf)?[-_]?(?:model|checkpoint|ckpt|weights)?[-_]?\d*")
_MOST_SAID = 80  # characters of a name, in a sentence
_MEMORY = threading.Lock()  # models take their memory one after the other: each counts what is free before it does


@dataclass(frozen=True, slots=True)
class _Source:
    """Where a name leads: to a folder, or to a repository at a revision."""

    called: str
    address: str  # what leads here again
    folder: Path | None
    repository: str = ""
    revision: str = _FIRST_REVISION


def names() -> tuple[str, ...]:
    """All that the catalogue lists, in the order in which it is shown."""
    return tuple(entry.name for entry in ENTRIES)


def embedded() -> tuple[str, ...]:
    """Those of the catalogue that come with Attend and need no download."""
    there = (entry.name for entry in ENTRIES if entry.embedded)
    return tuple(name for name in there if (EMBEDDED / name / checkpoint.CONFIG).is_file())


def rows() -> list[tuple[str, ...]]:
    """The catalogue as a table for people, its header first."""
    header = ("model", "weights", "licence", "languages", "what for")
    return [
        header,
        *((one.name, f"{one.megabytes} MB", one.licence, one.languages, one.purpose) for one in ENTRIES),
    ]


def is_here(entry: Entry) -> bool:
    """Whether a model of the catalogue needs no download."""
    if entry.embedded:
        return entry.name in embedded()
    from model import hub  # brings the Hub's client, which nobody needs before a page is there

    return hub.is_here(entry.place, _FIRST_REVISION)


def check_listed(name: str) -> None:
    """`AttendError` for a name that is not in the catalogue: folders, Hub ids and revisions are for private pages."""
    if name.strip() not in names():
        raise AttendError(f"A public page shows only models of the catalogue: choose one of {', '.join(names())}.")


def called(name: str) -> str:
    """What people call the model that a name leads to: a folder goes by its last part."""
    folder = _folder(name)
    return name if folder is None else _called(folder)


def load(
    name: str,
    engine: str = "auto",
    placement: Placement = Placement(),
    *,
    limit: int | None = None,
    progress: Progress = silent,
) -> LoadedModel:
    """Load a model of the catalogue by its name, any folder, or a repository of the Hub as "owner/name".

    Args:
        name: both of the Hub's may end in "@" and a revision.
        engine: of `ENGINES` what runs a model of others, see `model.huggingface_folder.load`.
        placement: the device and the precision to compute with.
        limit: bytes of a download, over which it is refused; None for what this machine has of memory.
        progress: told how a download goes, see `model.hub.fetch`; an exception of its own ends it.

    Raises `AttendError` when there is none, when it is damaged, or when its parts do not belong together; an encoder
    alone is refused as `EncoderOnly`, see `load_encoder`.
    """
    if engine not in ENGINES:
        raise AttendError(f"There is no engine {engine!r}: choose one of {', '.join(ENGINES)}.")
    source = _source(name)
    if placement.dtype == INT8:
        return _in_8_bits(load(name, engine, replace(placement, dtype="float32"), limit=limit, progress=progress))
    if source.folder is not None:
        with _MEMORY:
            return replace(_read(source.folder, source.called, engine, placement), address=source.address)
    from model import hub, huggingface_folder  # they bring transformers, which takes seconds and ours do without

    placement.torch_device()  # refused before a download, not after

    def check(folder: Path, stored: int) -> None:
        huggingface_folder.check_config(folder, source.called)
        huggingface_folder.check_memory(folder, source.called, stored, engine, placement)

    snapshot = hub.fetch(
        source.repository,
        source.revision,
        limit=total_memory() if limit is None else limit,
        check=check,
        progress=progress,
    )
    with _MEMORY:
        loaded = huggingface_folder.load(snapshot.folder, source.called, engine, placement)
    notes = (snapshot.note, *loaded.notes) if snapshot.note else loaded.notes
    return replace(loaded, address=source.address, notes=notes)


def _in_8_bits(loaded: LoadedModel) -> LoadedModel:
    from model.quantised import quantise

    return replace(loaded, model=quantise(loaded.model))


def load_encoder(
    name: str, placement: Placement = Placement(), *, limit: int | None = None, progress: Progress = silent
) -> Encoder:
    """Load what `load` refuses as `EncoderOnly`; the arguments are the same."""
    from model import hub, huggingface_encoder, huggingface_folder

    source = _source(name)
    if source.folder is not None:
        with _MEMORY:
            return huggingface_encoder.load(source.folder, source.called, placement, address=source.address)

    def check(folder: Path, stored: int) -> None:
        with suppress(EncoderOnly):
            huggingface_folder.check_config(folder, source.called)
        huggingface_folder.check_memory(folder, source.called, stored, "auto", placement)

    limit = total_memory() if limit is None else limit
    snapshot = hub.fetch(source.repository, source.revision, limit=limit, check=check, progress=progress)
    with _MEMORY:
        return huggingface_encoder.load(snapshot.folder, source.called, placement, address=source.address)


def _source(name: str) -> _Source:
    """Where a name leads, by its form alone; `AttendError` for one that leads nowhere."""
    name = name.strip()
    listed = {entry.name: entry for entry in ENTRIES}
    base, at, revision = name.partition("@")
    if entry := listed.get(base):
        if not entry.embedded:
            return _Source(name, name, None, entry.place, _revision(revision) if at else _FIRST_REVISION)
        if not at:
            return _Source(name, name, EMBEDDED / name)
        raise AttendError(f"{base} comes with Attend and has no revisions: leave @{revision[:_MOST_SAID]} out.")
    if (folder := _folder(name)) is not None:
        return _Source(_called(folder), name, folder)
    if "://" in name or _ADDRESS.match(name):
        raise AttendError(f"A model is not named by an address ({_quoted(name)}): give {_named_by(name)}.")
    if _is_repository(base):
        return _Source(name, name, None, base, _revision(revision) if at else _FIRST_REVISION)
    raise AttendError(
        f"There is no model {_quoted(name)}: choose one of {', '.join(names())}, or give the folder of a checkpoint or "
        "owner/name of a model on the Hub."
    )


def _folder(name: str) -> Path | None:
    """The folder that a name leads to, if it leads to one; names of the catalogue lead elsewhere."""
    folder = os.path.expanduser(name)  # as a shell would, which a box on a page is not
    # isdir, unlike Path.is_dir, says False to a name that no system could hold
    return Path(folder) if name not in names() and os.path.isdir(folder) else None


def _called(folder: Path) -> str:
    """The last part of its path; one that says nothing, such as `final` or `checkpoint-500`, behind its parent's."""
    whole = Path(os.path.abspath(folder))
    generic = whole.parent.name and _GENERIC.fullmatch(whole.name)
    return f"{whole.parent.name}/{whole.name}" if generic else whole.name or str(whole)


def _is_repository(base: str) -> bool:
    return bool(_REPOSITORY.fullmatch(base)) and "--" not in base and ".." not in base


def _named_by(address: str) -> str:
    """The name of the model that an address of the Hub shows, where it can be told."""
    match = _ADDRESS.match(address)
    parts = match[1].strip("/").split("/")[:2] if match else []
    named = "/".join(parts)
    return named if named in names() or _is_repository(named) else "owner/name as the Hub shows it"


def _revision(text: str) -> str:
    if not _REVISION.fullmatch(text) or ".." in text:
        raise AttendError(f"{_quoted(text)} is no revision: give a branch, a tag or a commit after the @.")
    return text


def _quoted(text: str) -> str:
    """A long one by both of its ends: that of a path is what somebody has mistyped."""
    half = _MOST_SAID // 2
    return repr(text if len(text) <= _MOST_SAID else f"{text[:half]}…{text[-half:]}")


def _read(folder: Path, called: str, engine: str, placement: Placement) -> LoadedModel:
    """Load a folder, ours or in Hugging Face form."""
    if "model_type" in checkpoint.read_config(folder):
        from model import huggingface_folder  # brings transformers, which takes seconds and which ours do without

        return huggingface_folder.load(folder, called, engine, placement)
    weights = folder / checkpoint.WEIGHTS
    device, dtype = placement.torch_device(), placement.torch_dtype(None)
    if lacking := native_shortage(checkpoint.count_numbers(weights), weights.stat().st_size, device, dtype):
        raise AttendError(f"{called} {lacking}: choose a smaller model.")
    model = checkpoint.load(folder, device, dtype)
    tokenizer = Tokenizer.load(folder / checkpoint.TOKENIZER, padded=model.config.padding is not None)
    return assembled(called, model, tokenizer)
