"""Whether a page shows the recorded examples."""

from __future__ import annotations

from collections.abc import Collection

MODEL, TRANSLATOR = MODELS = ("attend-chat", "attend-translate")  # that wrote them


def offers_examples(names: Collection[str]) -> bool:
    """Whether a page that offers these models shows them: only where a visitor can do the same."""
    return set(MODELS) <= set(names)
