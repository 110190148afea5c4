"""The loop of a sandbox's child, and its limits. Imports nothing slow."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from typing import Any

_MOST_QUOTED = 200  # characters of an error


def serve(answer: Callable[[Any], object], most_bytes: int) -> None:
    """Answer one question a line, all JSON, until there are no more; `null` asks whether anybody is there.

    Args:
        answer: the exceptions that it raises are answered in its place; a panic of a library, which is none, ends it.
        most_bytes: of memory that may be reserved, where the system can limit it.
    """
    _limit(most_bytes)
    for line in sys.stdin.buffer:
        question = json.loads(line)
        try:
            reply: dict[str, object] = {"answer": None if question is None else answer(question)}
        except MemoryError:
            reply = {"error": f"it needs more than {most_bytes // 10**6:,} MB"}
        except Exception as error:
            message = (str(error) or type(error).__name__)[:_MOST_QUOTED]
            reply = {"error": message, "line": getattr(error, "lineno", None)}
        sys.stdout.write(json.dumps(reply) + "\n")
        sys.stdout.flush()


def _limit(most_bytes: int) -> None:
    try:
        import resource
    except ImportError:  # on Windows the time alone is limited
        return
    resource.setrlimit(resource.RLIMIT_AS, (most_bytes, most_bytes))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))  # it has nothing to write
