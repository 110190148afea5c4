"""The paths of OpenAI's protocol."""

from __future__ import annotations

TOKEN_PATHS = ("/tokenize", "/detokenize", "/tokenizer_info")


def is_program_path(path: str) -> bool:
    """Whether a path is one that programs call and pages don't."""
    return path.startswith("/v1/") or path in TOKEN_PATHS
