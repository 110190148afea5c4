"""Values sent to the model picker."""

from __future__ import annotations

from typing import TypedDict


class LanguagesValue(TypedDict):
    """What a translator can be told, and is; none of others. Its event: `translate {source, target}`."""

    sources: list[str]  # codes; none where a source needs no language
    targets: list[str]
    source: str
    target: str  # "" where the model chooses


class ModelValue(TypedDict):
    """Which model is chosen, and what there is to say about it."""

    name: str
    choices: list[tuple[str, str]]  # words and name of every model that can be chosen
    title: str  # what is being done; "" where nothing is
    status: str  # how far that is
    share: float | None  # of the download that is here; None where that is not known or is no matter
    notes: list[str]  # sentences about how the model was loaded
    tagline: str  # what the page is for with it
    clears_input: bool  # whether the box for another model's name is to be emptied, since that model is there
    context: int  # how many tokens the model that writes reads at once
    method: str  # of `ui.settings.methods.METHODS`, until the visitor chooses another
    languages: LanguagesValue  # of the model that is in use
