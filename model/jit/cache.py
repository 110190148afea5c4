"""Keeps compiled functions on the disk, so that only the first start on a machine has to compile them.

They are stored in `__pycache__` beside the source or, if that is not writable, in the user's cache directory. numba
notices changes to a function's own file, but not to another file whose functions were inlined, so each version of a
folder has its own directory. numba would also unpickle whatever a power cut or a full disk left behind, so each file
ends with a checksum. Files that can't be used are discarded, and their functions are compiled again.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from hashlib import sha256
from pathlib import Path
from shutil import rmtree
from typing import Any, Self

from numba.core.caching import CompileResultCacheImpl, FunctionCache, IndexDataCacheFile, _CacheLocator

_CHECKSUM = 32  # bytes at the end of a file: the SHA-256 of everything before
_OUTDATED = 7 * 86_400.0  # seconds; a running server may still add to the directory of its own version


class _Locator(_CacheLocator):
    def __init__(self, directory: Path, line: int) -> None:
        self._directory, self._line = directory, line

    @classmethod
    def from_function(cls, py_func: Callable[..., Any], py_file: str) -> Self | None:
        directory = _cache_directory(Path(py_file).parent)
        return directory and cls(directory, py_func.__code__.co_firstlineno)

    def get_cache_path(self) -> Any:
        return str(self._directory)

    def get_source_stamp(self) -> Any:
        return ""  # the directory's name has one

    def get_disambiguator(self) -> Any:
        return str(self._line)


class _Files(IndexDataCacheFile):
    """The index of a function and a file of machine code for each signature, all with checksums."""

    @contextmanager
    def _open_for_write(self, filepath: str) -> Iterator[Any]:
        with super()._open_for_write(filepath) as file:
            yield file
            file.flush()
            file.write(sha256(Path(file.name).read_bytes()).digest())

    def _load_index(self) -> Any:
        if os.path.lexists(self._index_path):
            _check(self._index_path)
        return super()._load_index()

    def _load_data(self, name: str) -> Any:
        _check(self._data_path(name))
        return super()._load_data(name)

    def discard(self) -> None:
        index = Path(self._index_path)
        for path in (index, *index.parent.glob(f"{index.stem}.*.nbc")):
            with suppress(OSError):
                if path.is_dir() and not path.is_symlink():
                    rmtree(path)
                else:
                    path.unlink(missing_ok=True)


def _check(path: str) -> None:
    """Raise `ValueError` for a file without its checksum."""
    content = Path(path).read_bytes()
    if sha256(content[:-_CHECKSUM]).digest() != content[-_CHECKSUM:]:
        raise ValueError(f"{path} is damaged")


class _Impl(CompileResultCacheImpl):
    _locator_classes = (_Locator,)


class _Cache(FunctionCache):
    """numba's cache, except that no file in it can stop the program: whatever fails, the function is compiled."""

    _impl_class = _Impl

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__(function)
        self._files = self._cache_file = _Files(self._cache_path, self._impl.filename_base, "")

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        try:
            return super().load_overload(sig, target_context)
        except Exception:  # pickle and LLVM may raise anything
            _say("the compiled functions on the disk are damaged, so they are compiled again.")
            self._files.discard()
            return None

    def save_overload(self, sig: Any, data: Any) -> None:
        try:
            try:
                super().save_overload(sig, data)
            except Exception:
                self._files.discard()  # for example if a folder is where a file should be
                super().save_overload(sig, data)
        except Exception as error:
            reason = getattr(error, "strerror", None) or error
            _say(f"compiled functions can't be kept in {self._cache_path} ({reason}), so each start compiles them.")


def keep(dispatcher: Any) -> None:
    """Keep a compiled function on the disk, if there is a place for it."""
    if _cache_directory(Path(dispatcher.py_func.__code__.co_filename).parent):
        dispatcher._cache = _Cache(dispatcher.py_func)  # what `enable_caching` would set to numba's own


@cache
def _say(sentence: str) -> None:
    print(f"Note: {sentence}", file=sys.stderr)  # once


@cache
def _cache_directory(folder: Path) -> Path | None:
    """Where the compiled functions of a folder are kept; None if nothing can be written.

    Removes the directories of earlier versions to which nothing was added for a week.
    """
    state = sha256()
    for path in (*sorted(Path(__file__).parent.glob("*.py")), *sorted(folder.glob("*.py"))):
        state.update(os.fsencode(path) + path.read_bytes())
    name = f"{folder.name}-{state.hexdigest()[:16]}"
    for find_parent in (lambda: folder / "__pycache__", _user_cache):
        try:
            parent = find_parent()
            (parent / name).mkdir(parents=True, exist_ok=True)
        except (OSError, RuntimeError):  # the latter if the user has no home directory
            continue
        if os.access(parent / name, os.R_OK | os.W_OK | os.X_OK):
            for other in parent.glob(f"{folder.name}-*"):
                with suppress(OSError):  # another process may remove it, too
                    if other.name != name and time.time() - other.stat().st_mtime > _OUTDATED:
                        rmtree(other, ignore_errors=True)
            return parent / name
    return None


def _user_cache() -> Path:
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "attend"
