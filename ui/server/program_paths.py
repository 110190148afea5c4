"""The paths that programs call and pages don't: those of OpenAI's protocol, and of agents."""

from __future__ import annotations

TOKEN_PATHS = ("/tokenize", "/detokenize", "/tokenizer_info")
MCP_PATH = "/mcp"


def is_program_path(path: str) -> bool:
    """Whether a path is one that programs call and pages don't."""
    return path.startswith("/v1/") or path in (*TOKEN_PATHS, MCP_PATH)
