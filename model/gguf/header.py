"""The header of a GGUF file: its metadata, and where each tensor lies. No weight is read.

The layout is that of the specification (github.com/ggml-org/ggml, docs/gguf.md), little-endian: the letters GGUF, a
version and two counts; so many keys with typed values; so many tensors with shape, type and offset; padding; the data.

A stranger's file is hostile input: every length is checked against the file before it is used. The `gguf` package's own
reader believes them, so an impossible count keeps it busy for ever; and it makes four arrays for each token of a
vocabulary, which takes seconds.
"""

from __future__ import annotations

import math
import mmap
import struct
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from gguf.constants import GGML_QUANT_SIZES, GGMLQuantizationType

from model.errors import AttendError

_MAGIC, _POINTER = b"GGUF", b"version https://git-lfs"  # the second begins the placeholder in a clone without Git LFS
_VERSIONS = (2, 3)
_SCALARS = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}
_STRING, _ARRAY = 8, 9
_ALIGNMENT = 32  # bytes, unless the file names another

# Far above what models have: some 60 keys, a few thousand tensors, two lists as long as the vocabulary.
_MAX_KEYS, _MAX_TENSORS, _MAX_ELEMENTS, _MAX_DIMENSIONS = 10_000, 100_000, 1 << 22, 8
_LONGEST = 1 << 24  # bytes in a string


class _Damaged(Exception):
    """What is wrong with a file, as the middle of a sentence."""


@dataclass(frozen=True, slots=True)
class TensorInfo:
    """A tensor as it is stored."""

    shape: tuple[int, ...]  # in PyTorch's order, rows first
    quantization: GGMLQuantizationType
    start: int  # the first of its bytes in the file
    size: int  # in bytes

    @property
    def row_bytes(self) -> int:
        """Bytes of a row, which is stored in blocks of its own."""
        block, size = GGML_QUANT_SIZES[self.quantization]
        return self.shape[-1] // block * size

    @property
    def count(self) -> int:
        return math.prod(self.shape)


@dataclass(frozen=True, slots=True)
class GgufHeader:
    """What a file says about itself."""

    path: Path
    metadata: Mapping[str, Any]  # numbers, strings, booleans, and lists of them
    tensors: Mapping[str, TensorInfo]

    @classmethod
    def read(cls, path: Path) -> Self:
        """The header of a file; `AttendError` if it is not GGUF, is cut short, or its numbers don't fit together."""
        try:
            with path.open("rb") as file:
                if (magic := file.read(len(_POINTER)))[: len(_MAGIC)] != _MAGIC:
                    raise _no_gguf(path, magic)
                with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
                    metadata, tensors = _Reader(content).header()
        except OSError as error:
            raise AttendError(f"{path} can't be read ({error.strerror}): choose another file.") from error
        except _Damaged as error:
            raise AttendError(f"{path} {error}: download it again, or choose another file.") from error
        except (struct.error, UnicodeDecodeError) as error:
            raise AttendError(f"{path} is damaged or incomplete: download it again.") from error
        return cls(path, metadata, tensors)

    @property
    def architecture(self) -> str:
        """The family as llama.cpp names it; "" if the file names none."""
        return str(self.metadata.get("general.architecture", ""))[:80]


def _no_gguf(path: Path, start: bytes) -> AttendError:
    if start == _POINTER:
        return AttendError(f"{path} is a Git LFS pointer without weights: run git lfs pull in its folder.")
    return AttendError(f"{path} is not a GGUF file, whatever its name: choose another file.")


class _Reader:
    """Reads a file from its beginning; `struct.error` if it ends too early."""

    def __init__(self, content: mmap.mmap) -> None:
        self._content = content
        self._position = len(_MAGIC)
        self._elements_left = _MAX_ELEMENTS

    def header(self) -> tuple[dict[str, Any], dict[str, TensorInfo]]:
        version = self._scalar("I")
        if version not in _VERSIONS:
            raise _Damaged(
                "is in big-endian order, which can't be read"
                if version and not version & 0xFFFF
                else f"is GGUF version {version}, but only versions 2 and 3 can be read"
            )
        tensors, keys = self._scalar("Q"), self._scalar("Q")
        if keys > _MAX_KEYS or tensors > _MAX_TENSORS:
            raise _Damaged(f"claims {keys:,} keys and {tensors:,} tensors, which no model has")
        metadata = {self._string(): self._value(self._scalar("I")) for _ in range(keys)}
        entries = [(self._string(), *self._tensor()) for _ in range(tensors)]
        if not all(name.isprintable() for name in (*metadata, *(name for name, *_ in entries))):
            raise _Damaged("is damaged (it has a name that can't be printed)")
        alignment = metadata.get("general.alignment", _ALIGNMENT)
        if type(alignment) is not int or alignment <= 0 or alignment % 8:
            raise _Damaged(f"has the alignment {alignment!r}, which must be a multiple of 8")
        data = -(-self._position // alignment) * alignment
        placed = {name: self._placed(name, shape, kind, data + offset) for name, shape, kind, offset in entries}
        if sum(tensor.size for tensor in placed.values()) > len(self._content):
            raise _Damaged("is damaged (its tensors overlap)")  # a small file would become a large model
        return metadata, placed

    def _scalar(self, form: str) -> Any:
        (value,) = struct.unpack_from(f"<{form}", self._content, self._position)
        self._position += struct.calcsize(f"<{form}")
        return value

    def _string(self) -> str:
        length = self._scalar("Q")
        end = self._position + length
        if length > _LONGEST or end > len(self._content):
            raise _Damaged(f"is damaged or incomplete (it claims a text of {length:,} bytes)")
        text = self._content[self._position : end].decode()
        self._position = end
        return text

    def _value(self, kind: int) -> Any:
        if kind == _STRING:
            return self._string()
        if kind in _SCALARS:
            return self._scalar(_SCALARS[kind])
        if kind != _ARRAY:
            raise _Damaged(f"is damaged (it holds a value of type {kind})")
        element, count = self._scalar("I"), self._scalar("Q")
        self._elements_left -= count
        if self._elements_left < 0 or element not in (*_SCALARS, _STRING):
            raise _Damaged(f"is damaged (it claims a list of {count:,} elements of type {element})")
        if element == _STRING:
            return [self._string() for _ in range(count)]
        form = f"<{count}{_SCALARS[element]}"
        values = struct.unpack_from(form, self._content, self._position)
        self._position += struct.calcsize(form)
        return list(values)

    def _tensor(self) -> tuple[tuple[int, ...], int, int]:
        """Shape, type and offset in the data of a tensor."""
        dimensions = self._scalar("I")
        if dimensions > _MAX_DIMENSIONS:
            raise _Damaged(f"is damaged (it claims a tensor of {dimensions:,} dimensions)")
        shape = tuple(self._scalar("Q") for _ in range(dimensions))
        return shape[::-1], self._scalar("I"), self._scalar("Q")  # columns come first in the file

    def _placed(self, name: str, shape: tuple[int, ...], kind: int, start: int) -> TensorInfo:
        try:
            quantization = GGMLQuantizationType(kind)
        except ValueError:
            raise _Damaged(f"stores {name[:80]} in a way unknown here (type {kind})") from None
        block, block_bytes = GGML_QUANT_SIZES[quantization]
        if not shape or min(shape) < 1 or shape[-1] % block:
            raise _Damaged(f"is damaged (its {name[:80]} is {' × '.join(map(str, shape))} in blocks of {block})")
        size = math.prod(shape) // block * block_bytes
        if start + size > len(self._content):
            raise _Damaged(f"is incomplete (its {name[:80]} would end at byte {start + size:,})")
        return TensorInfo(shape, quantization, start, size)
