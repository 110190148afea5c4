"""Downloads a repository's files into the Hub's cache, which other programs share.

The layout is the one in the Hub's documentation ("Understand caching"): contents under `blobs/`, named by their
checksum; links to them under `snapshots/COMMIT/`; and the commit of each branch in `refs/REVISION`. Unlike the
library's own download, an interrupted file is resumed, and every file is checked against its checksum.
"""

from __future__ import annotations

import errno
import hashlib
import os
import shutil
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from httpx2 import TransportError
from huggingface_hub import constants
from huggingface_hub.utils import WeakFileLock, build_hf_headers, get_session, hf_raise_for_status

from model.errors import AttendError
from model.progress import Progress, in_words

_CHUNK = 1 << 20  # bytes
_TRIES = 3  # in a row without new bytes
_RETRY_DELAY = 1.0  # seconds between them


@dataclass(frozen=True, slots=True)
class HubFile:
    """A file as the Hub lists it."""

    name: str
    size: int  # bytes
    checksum: str  # 64 hexadecimal digits: the content's SHA-256; 40: git's SHA-1 of it, for small files

    def fits(self, path: Path) -> bool:
        """Whether the file at this path has the listed content."""
        if len(self.checksum) == 64:
            digest = hashlib.sha256()
        else:  # what git calls a blob: its kind and size stand before the content
            digest = hashlib.sha1(f"blob {self.size}\0".encode(), usedforsecurity=False)
        with open(path, "rb") as content:
            while chunk := content.read(_CHUNK):
                digest.update(chunk)
        return digest.hexdigest() == self.checksum


class HubCache:
    """A repository's folder in the cache; nothing is created before something is downloaded."""

    def __init__(self, repository: str) -> None:
        folder = f"models--{repository.replace('/', '--')}"
        self.repository = repository
        self._folder = Path(constants.HF_HUB_CACHE) / folder
        self._locks = Path(constants.HF_HUB_CACHE) / ".locks" / folder

    def snapshot(self, commit: str) -> Path:
        """The folder of one commit's files."""
        return self._folder / "snapshots" / commit

    def commit(self, revision: str) -> str | None:
        """The commit of a branch or tag at its last download, or the revision itself if it is a commit."""
        if self.snapshot(revision).is_dir():
            return revision
        try:
            return (self._folder / "refs" / revision).read_text(encoding="ascii").strip()
        except (OSError, UnicodeDecodeError):
            return None

    def remember(self, revision: str, commit: str) -> None:
        """Store the commit of a branch or tag, for when the Hub cannot be reached."""
        if revision != commit:
            reference = self._folder / "refs" / revision
            reference.parent.mkdir(parents=True, exist_ok=True)
            reference.write_text(commit, encoding="ascii")

    def check_disk(self, commit: str, files: Sequence[HubFile]) -> None:
        """Raise `AttendError` if the disk has no room for the missing files."""
        missing = sum(file.size - self._here(file, self.snapshot(commit)) for file in files)
        there = next(path for path in (self._folder, *self._folder.parents) if path.exists())
        free = shutil.disk_usage(there).free
        if missing > free:
            raise AttendError(
                f"{self.repository} needs {in_words(missing)} on the disk of {there}, but only {in_words(free)} is "
                f"free: free some space, or set HF_HOME to a folder on another disk."
            )

    def download(self, commit: str, files: Sequence[HubFile], progress: Progress) -> Path:
        """Download the missing files, one by one; returns the folder of the commit.

        Raises `AttendError` for a full disk, for an interrupted download, which the next call resumes, and for a file
        that differs from the Hub's listing; `HfHubHTTPError` for what the Hub refuses.
        """
        folder, total, done = self.snapshot(commit), sum(file.size for file in files), 0
        if all(_whole(folder / file.name, file) for file in files):
            return folder  # and there is no progress to tell
        for file in files:
            if not _whole(folder / file.name, file):
                before = done

                def report(size: int, before: int = before) -> None:
                    progress(before + size, total)

                try:
                    self._bring(file, commit, report)
                except OSError as error:
                    if error.errno not in (errno.ENOSPC, errno.EDQUOT):
                        raise
                    raise AttendError(
                        f"The disk of {self._folder} is full, so {self.repository} doesn't fit: free some space and "
                        f"try again."
                    ) from error
            done += file.size
            progress(done, total)
        return folder

    def _here(self, file: HubFile, folder: Path) -> int:
        """How many bytes of a file have been downloaded."""
        if _whole(folder / file.name, file):
            return file.size
        return max((_size(path) for path in (self._blob(file), self._part(file))), default=0)

    def _blob(self, file: HubFile) -> Path:
        return self._folder / "blobs" / file.checksum

    def _part(self, file: HubFile) -> Path:
        return self._folder / "blobs" / f"{file.checksum}.attend.incomplete"

    def _bring(self, file: HubFile, commit: str, report: Callable[[int], None]) -> None:
        blob, part, named = self._blob(file), self._part(file), self.snapshot(commit) / file.name
        for folder in (blob.parent, named.parent, self._locks):
            folder.mkdir(parents=True, exist_ok=True)
        with WeakFileLock(self._locks / f"{file.checksum}.lock"):  # the library's own, so that nobody else writes, too
            if not _whole(blob, file):
                self._fill(part, file, commit, report)
                if not file.fits(part):
                    part.unlink()
                    raise AttendError(
                        f"{file.name} of {self.repository} was deleted because its checksum differs from the Hub's: "
                        f"try again, and if this happens again, don't use this model."
                    )
                os.replace(part, blob)
            named.unlink(missing_ok=True)
            try:
                named.symlink_to(os.path.relpath(blob, named.parent))
            except OSError:  # a system or a disk without links: the name takes the content, as the library does it
                os.replace(blob, named)

    def _fill(self, part: Path, file: HubFile, commit: str, report: Callable[[int], None]) -> None:
        """Append to a partial file until it is complete."""
        tries, reason = 0, "it ended too early"
        if _size(part) > file.size:
            part.unlink()
        while (before := _size(part)) < file.size:
            if tries == _TRIES:
                raise AttendError(
                    f"The download of {self.repository} was interrupted in {file.name} ({reason}) after "
                    f"{in_words(before)} of {in_words(file.size)}: try again, and it resumes from there."
                )
            if tries:
                time.sleep(_RETRY_DELAY)
            try:
                self._stream(part, file, commit, report)
            except TransportError as error:
                reason = str(error).partition("\n")[0].rstrip(".") or type(error).__name__
            tries = 0 if _size(part) > before else tries + 1
        part.touch()  # a file of no bytes

    def _stream(self, part: Path, file: HubFile, commit: str, report: Callable[[int], None]) -> None:
        """Request the missing bytes."""
        here = _size(part)
        headers = {**build_hf_headers(), "Accept-Encoding": "identity"}
        if here:
            headers["Range"] = f"bytes={here}-"
        url = f"{constants.ENDPOINT}/{self.repository}/resolve/{commit}/{file.name}"
        with get_session().stream("GET", url, headers=headers, timeout=constants.HF_HUB_DOWNLOAD_TIMEOUT) as answer:
            hf_raise_for_status(answer)
            resumed = answer.status_code == 206
            here = here if resumed else 0
            with open(part, "ab" if resumed else "wb") as content:
                for chunk in answer.iter_bytes():  # written at once, so that an interruption loses nothing
                    content.write(chunk)
                    here += len(chunk)
                    if here > file.size:  # not the listed file; its checksum will show it
                        return
                    report(here)


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0


def _whole(path: Path, file: HubFile) -> bool:
    """Whether a file is complete; its content was checked after the download."""
    return path.is_file() and path.stat().st_size == file.size
