"""Values sent to the model picker."""

from __future__ import annotations

from typing import TypedDict


class LanguagesValue(TypedDict):
    """A translator's languages; all empty for other models. Its event: `translate {source, target, count}`."""

    sources: list[str]  # codes; empty if the model needs no source language
    targets: list[str]
    source: str
    target: str  # "" if the model chooses
    count: int  # the number of the last choice of languages that was handled


class ChoiceValue(TypedDict):
    """A model that can be chosen."""

    name: str
    title: str
    about: str  # its purpose, size and languages; for a folder, its location
    availability: str  # whether it is on this machine; "" if that is unknown


class PrecisionValue(TypedDict):
    """A precision of the chosen model."""

    name: str  # of the model in this precision
    title: str


class ModelValue(TypedDict):
    """The chosen model, and what the page shows about it. Its events: `choose {name, typed}`, `cancel`, and
    `differs {}` where the link that opened the page was made with other weights."""

    name: str
    linked: str  # its name in a link, which only says names of the catalogue; "" if it has none
    checksum: str  # of its weights, as a link has it; "" if unknown
    choices: list[ChoiceValue]
    precisions: list[PrecisionValue]  # of the model in use; empty if there is no choice
    title: str  # what is being loaded; "" if nothing is
    status: str  # the progress of loading, in words
    share: float | None  # how much is downloaded, from 0 to 1; None without a download or if its size is unknown
    notes: list[str]  # sentences about how the model was loaded
    clears_input: bool  # whether to empty the box for a model's name, since the model in it is loaded
    context: int  # context length of the generating model, in tokens
    method: str  # the method in `ui.settings.methods.METHODS` until the visitor chooses another
    languages: LanguagesValue  # of the model in use
