"""Downloads what a model needs from a repository of the Hugging Face Hub into a folder, complete and checked.

The Hub is asked for the list of files first, and a repository that could not or should not be used is refused before
anything is downloaded: pickled weights only, more than the limit. A repository without safetensors may have GGUF files,
of which one is fetched. If the Hub can't be reached, a complete earlier copy is used. Knows nothing of how a model is
built from the files.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from httpx2 import TransportError
from huggingface_hub import HfApi, constants, is_offline_mode
from huggingface_hub.errors import (
    GatedRepoError,
    HfHubHTTPError,
    OfflineModeIsEnabled,
    RemoteEntryNotFoundError,
    RepositoryNotFoundError,
    RevisionNotFoundError,
)

from model.errors import AttendError
from model.gguf import choice
from model.hub.download import HubCache, HubFile
from model.progress import Progress, in_words, silent

_CONFIG, _WEIGHTS, _INDEX = "config.json", "model.safetensors", "model.safetensors.index.json"
_SHARD = re.compile(r"model-\d{5}-of-\d{5}\.safetensors")
_GGUF = re.compile(r"\w[\w.+-]{0,200}\.gguf", re.ASCII | re.IGNORECASE)
_BESIDE = frozenset(  # other files of a model, its tokenizer or its chat template
    {
        "added_tokens.json",
        "chat_template.jinja",
        "chat_template.json",
        "generation_config.json",
        "merges.txt",
        "sentencepiece.bpe.model",
        "source.spm",
        "special_tokens_map.json",
        "spiece.model",
        "target.spm",
        "tokenizer.json",
        "tokenizer.model",
        "tokenizer_config.json",
        "vocab.json",
        "vocab.txt",
    }
)
_PICKLED = (".bin", ".pt", ".pth", ".ckpt")
_COMMIT = re.compile(r"[0-9a-f]{40}")
_CHECKSUM = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
_BUSY = 429  # the status of too many requests


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A model's files on this machine."""

    path: Path  # a folder, or a GGUF file
    note: str = ""  # one sentence for the user if the Hub could not be reached


@dataclass(frozen=True, slots=True)
class _Listing:
    """The Hub's description of a repository."""

    commit: str
    files: list[HubFile]  # those that a model needs, weights last
    architecture: str  # of its GGUF files, as the Hub read it there; "" where it says nothing
    parameters: int  # of the GGUF file, by what the Hub says and how large it is


def fetch(
    repository: str,
    revision: str,
    *,
    limit: int,
    gguf: str = "",
    check: Callable[[Path, int], None] = lambda folder, stored: None,
    check_gguf: Callable[[str, int, int], None] = lambda architecture, parameters, stored: None,
    progress: Progress = silent,
) -> Snapshot:
    """The folder of a model, or its GGUF file, after downloading the files that are missing.

    Args:
        repository, revision: "owner/name", and a branch, a tag or a commit.
        gguf: the name or the quantization of one of its GGUF files; "" for safetensors, or for the only GGUF file.
        limit: the largest download, in bytes.
        check: called with the folder when only `config.json` is in it, and with the bytes of the weights to come;
            raises for a model that cannot be used.
        check_gguf: the same for a GGUF file, called with the name of its architecture ("" if the Hub doesn't say), an
            estimate of its number of parameters, and its size in bytes.
        progress: called with the bytes downloaded so far and in total; an exception that it raises ends the download,
            which the next call resumes.

    Raises `AttendError` if the model can't be downloaded completely and as the Hub lists it.
    """
    cache = HubCache(repository)
    commit = cache.commit(revision)
    copy = _copy(cache, commit, gguf)
    if copy is not None and revision == commit:
        return Snapshot(copy)  # a commit never changes, so there is nothing to ask
    try:
        listing = _listed(repository, revision, gguf)
        commit, files = listing.commit, listing.files
        file = files[0].name if choice.is_gguf(files[0].name) else ""  # a GGUF file is fetched alone
        if file:
            check_gguf(listing.architecture, listing.parameters, files[0].size)
        _check_size(files, limit, repository)
        cache.check_disk(commit, files)
        if not file:
            first = [file for file in files if file.name == _CONFIG]
            stored = sum(file.size for file in files if file.name.endswith(".safetensors"))
            check(cache.download(commit, first, silent), stored)
        folder = cache.download(commit, files, progress)
        cache.remember(revision, commit)
        return Snapshot(folder / file)
    except (HfHubHTTPError, OfflineModeIsEnabled, TransportError) as error:
        if copy is not None and not _final(error):
            revised = f" ({commit[:7]})" if commit else ""
            note = f"{_reason(error)}, so the copy of {repository} downloaded earlier{revised} is used."
            return Snapshot(copy, note)
        raise _refusal(error, repository, revision) from error


def is_installed(repository: str, revision: str) -> bool:
    """Whether a complete copy of the model is on this machine."""
    cache = HubCache(repository)
    return _copy(cache, cache.commit(revision), "") is not None


def _copy(cache: HubCache, commit: str | None, gguf: str) -> Path | None:
    """The folder of a commit, if it has all the files that a model needs, or the GGUF file in it."""
    folder = cache.snapshot(commit) if commit and _COMMIT.fullmatch(commit) else None
    if folder is None or not folder.is_dir():
        return None
    if not gguf and _is_whole(folder):
        return folder
    with suppress(AttendError):  # several, and none of them named
        there = (path.name for path in folder.iterdir() if choice.is_gguf(path.name) and path.is_file())
        return folder / choice.choose(there, gguf, cache.repository, "")
    return None


def _listed(repository: str, revision: str, gguf: str) -> _Listing:
    try:
        info = HfApi().model_info(
            repository, revision=revision, files_metadata=True, timeout=constants.HF_HUB_DOWNLOAD_TIMEOUT
        )
        commit = str(info.sha)
        sizes: dict[str, Any] = {sibling.rfilename: sibling for sibling in info.siblings or ()}
        gguf_values = info.gguf or {}
        architecture, parameters = str(gguf_values.get("architecture", "")), gguf_values.get("total")
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        if isinstance(error, HfHubHTTPError):  # some are a ValueError, too
            raise
        raise AttendError(f"{constants.ENDPOINT} sent an invalid reply about {repository}: try later.") from error
    files = []
    for name in _needed(set(sizes), repository, gguf):
        listed = sizes[name]
        checksum = listed.lfs.sha256 if listed.lfs is not None else listed.blob_id
        if not isinstance(listed.size, int) or listed.size < 0 or not _CHECKSUM.fullmatch(str(checksum)):
            raise AttendError(f"The Hub gives no size or checksum for {name} of {repository}: choose another model.")
        files.append(HubFile(name, listed.size, checksum))
    if not _COMMIT.fullmatch(commit):
        raise AttendError(f"{constants.ENDPOINT} sent an invalid reply about {repository}: try later.")
    # The count may be that of another file here: a weight takes four bytes at most, and hardly less than a bit.
    size, counted = files[0].size, parameters if isinstance(parameters, int) else 0
    return _Listing(commit, files, architecture, min(max(counted, size // 4), size * 8))


def _needed(names: set[str], repository: str, gguf: str) -> list[str]:
    """The files of a repository to download; `AttendError` if they are not a model that Attend can read."""
    shards = sorted(name for name in names if _SHARD.fullmatch(name))
    weights = [_WEIGHTS] if _WEIGHTS in names else [_INDEX, *shards] if _INDEX in names and shards else []
    files = [name for name in names if _GGUF.fullmatch(name)]
    if gguf or (files and not weights):
        way_out = f"name one after a colon, such as {repository}:Q4_K_M"
        return [choice.choose(files, gguf, repository, way_out)]
    if _CONFIG not in names:
        raise AttendError(f"{repository} has no {_CONFIG}, so it is not a transformers model: choose another.")
    if not weights:
        pickled = sorted(name for name in names if name.endswith(_PICKLED))
        if pickled:
            raise AttendError(
                f"{repository} has only pickled weights ({pickled[0][:80]}), which can run arbitrary code: choose a "
                "model with safetensors."
            )
        raise AttendError(f"{repository} has no {_WEIGHTS}: choose a model with safetensors.")
    return [_CONFIG, *sorted(names & _BESIDE), *weights]


def _check_size(files: list[HubFile], limit: int, repository: str) -> None:
    size = sum(file.size for file in files)
    if size > limit:
        raise AttendError(
            f"{repository} is {in_words(size)}, over the limit of {in_words(limit)} (by default this machine's "
            "memory): choose a smaller model, or raise the limit with --max-size."
        )


def _is_whole(folder: Path) -> bool:
    """Whether a folder has all the files that a model needs."""
    names = {path.name for path in folder.iterdir() if path.is_file()} if folder.is_dir() else set()
    if _CONFIG not in names or not any(name.startswith(("tokenizer.", "vocab.", "spiece.")) for name in names):
        return False
    if _WEIGHTS in names:
        return True
    try:
        return names.issuperset(json.loads((folder / _INDEX).read_text(encoding="utf-8"))["weight_map"].values())
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return False


def _final(error: Exception) -> bool:
    """Whether the Hub has refused; false if it can't be reached, is busy or is down."""
    return isinstance(error, HfHubHTTPError) and error.response.status_code < 500 and not _is_busy(error)


def _is_busy(error: Exception) -> bool:
    return isinstance(error, HfHubHTTPError) and error.response.status_code == _BUSY


def _reason(error: Exception) -> str:
    """Why the Hub is unavailable, without the full stop."""
    if is_offline_mode():
        return "Offline (HF_HUB_OFFLINE is set)"
    if _is_busy(error):
        return "The Hub has received too many requests from this address"
    if isinstance(error, HfHubHTTPError):
        return f"The Hub is having problems (status {error.response.status_code})"
    reason = str(error).strip().partition("\n")[0].rstrip(".")
    return f"{constants.ENDPOINT} cannot be reached ({reason or type(error).__name__})"


def _refusal(error: Exception, repository: str, revision: str) -> AttendError:
    """The Hub's answer as one sentence with the way out."""
    login = "log in with `hf auth login`"
    match error:
        case GatedRepoError():
            terms = f"{constants.ENDPOINT}/{repository}"
            return AttendError(f"{repository} is gated: accept its terms on {terms} and {login}, or choose another.")
        case RevisionNotFoundError():
            return AttendError(
                f"{repository} has no revision {revision!r}: choose one of its branches, tags or commits."
            )
        case RemoteEntryNotFoundError():
            return AttendError(f"A file of {repository} is missing on the Hub: try again later.")
        case RepositoryNotFoundError():
            return AttendError(
                f"There is no model {repository} on the Hub and no such folder here: check the name or, if it is "
                f"private, {login}."
            )
        case HfHubHTTPError() if error.response.status_code in (401, 403):
            status = error.response.status_code
            return AttendError(f"You have no access to {repository} on the Hub (status {status}): {login} again.")
        case HfHubHTTPError() if not _is_busy(error) and error.response.status_code < 500:
            return AttendError(
                f"The Hub refused {repository} (status {error.response.status_code}): choose another model."
            )
    if is_offline_mode():
        return AttendError(f"{_reason(error)}, and {repository} isn't downloaded: unset it to download the model.")
    if isinstance(error, HfHubHTTPError):  # the Hub answers, but is busy or out of order
        return AttendError(f"{_reason(error)}, and {repository} isn't downloaded: try again later.")
    return AttendError(
        f"There is no folder {repository}, and {_reason(error)}, so it can't be downloaded: check the name or the "
        "connection."
    )
