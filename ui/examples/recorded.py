"""Whether a page shows the recorded examples."""

from __future__ import annotations

from collections.abc import Collection

MODEL, TRANSLATOR = MODELS = ("attend-chat", "attend-translate")  # the models that wrote them


def offers_examples(names: Collection[str]) -> bool:
    """Whether a page with these models shows the examples: only if its visitors can do the same with the models."""
    return set(MODELS) <= set(names)
