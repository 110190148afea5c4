"""Values sent to the model picker."""

from __future__ import annotations

from typing import TypedDict


class LanguagesValue(TypedDict):
    """A translator's languages; all empty for other models. Its event: `translate {source, target}`."""

    sources: list[str]  # codes; empty if the model needs no source language
    targets: list[str]
    source: str
    target: str  # "" if the model chooses


class ChoiceValue(TypedDict):
    """A model that can be chosen."""

    name: str
    title: str
    about: str  # what it is for, how large it is, and its languages; of a folder where it is
    availability: str  # whether it is on this machine; "" if that is not known


class PrecisionValue(TypedDict):
    """A precision of the chosen model."""

    name: str  # of the model in it
    title: str


class ModelValue(TypedDict):
    """The chosen model, and what the page shows about it. Its events: `choose {name, typed}` and `cancel`."""

    name: str
    choices: list[ChoiceValue]
    precisions: list[PrecisionValue]  # of the model in use; empty if it has no choice
    title: str  # what is being loaded; "" if nothing is
    status: str  # the progress of that, in words
    share: float | None  # of the download, from 0 to 1; None if there is no download or its size is unknown
    notes: list[str]  # sentences about how the model was loaded
    clears_input: bool  # whether to empty the box for another model's name, since that model is loaded
    context: int  # context length of the generating model, in tokens
    method: str  # of `ui.settings.methods.METHODS`, until the visitor chooses another
    languages: LanguagesValue  # of the model that is in use
