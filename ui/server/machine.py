"""Where the models of a page run. Imports nothing slow, so that a mistyped model is refused at once."""

from __future__ import annotations

from typing import TYPE_CHECKING

from model import catalog
from model.arguments import ModelArguments

if TYPE_CHECKING:
    from model.loaded import LoadedModel
    from model.progress import Progress
    from ui.runs.models.cache import AnyModel
    from ui.runs.models.registry import DecodeT


class Machine:
    """One that runs all models itself."""

    def __init__(self, arguments: ModelArguments) -> None:
        self._arguments = arguments  # of the command line

    def load_first(self) -> LoadedModel:
        """The model of the command line; raises as `catalog.load_arguments`."""
        return catalog.load_arguments(self._arguments)

    def load_another(self, name: str, progress: Progress) -> AnyModel:
        """See `catalog.load_another`."""
        return catalog.load_another(self._arguments, name, progress)

    def borrows(self, name: str) -> bool:
        """Whether a model of this name runs on a GPU that each run borrows."""
        return False

    def borrowing(self, decode: DecodeT) -> DecodeT:
        """For `Models`: decoding that borrows the GPU where its model, the first argument, needs it."""
        return decode
