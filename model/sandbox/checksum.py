"""A short name for weights, by which two machines know whether they have the same."""

from __future__ import annotations

import hashlib
from pathlib import Path

PARTS, BYTES = 256, 65_536  # of a file that are read; a smaller one is read whole
_DIGITS = 12


def weights_checksum(path: Path) -> str:
    """Hexadecimal digits of the weights in a folder, or in a GGUF file; "" if there are none, or they are gone.

    Of a large file, equally spaced parts are read: any further training changes all of them.
    """
    digest = hashlib.sha256()
    try:
        files = sorted(path.glob("*.safetensors")) or sorted(path.glob("*.gguf")) if path.is_dir() else [path]
        for file in files:
            size = file.stat().st_size
            step = max(BYTES, -((BYTES - size) // (PARTS - 1)))  # rounded up, so that the end is read
            digest.update(f"{size}\0".encode())
            with file.open("rb") as weights:
                for start in range(0, size, step):
                    weights.seek(start)
                    digest.update(weights.read(BYTES))
    except OSError:
        return ""
    return digest.hexdigest()[:_DIGITS] if files else ""
