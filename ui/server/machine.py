"""Where a page's models run. Imports nothing slow, so that a mistyped model name is refused at once."""

from __future__ import annotations

from typing import TYPE_CHECKING

from model import catalog
from model.arguments import ModelArguments

if TYPE_CHECKING:
    from decoding.call import Decode
    from model.loaded import LoadedModel
    from model.progress import Progress
    from ui.runs.models.model_cache import AnyModel


class Machine:
    """A machine that runs all models in this process."""

    def __init__(self, arguments: ModelArguments) -> None:
        self._arguments = arguments  # of the command line

    def load_first(self) -> LoadedModel:
        """See `catalog.load_arguments`."""
        return catalog.load_arguments(self._arguments)

    def load_another(self, name: str, progress: Progress) -> AnyModel:
        """See `catalog.load_another`."""
        return catalog.load_another(self._arguments, name, progress)

    def needs_gpu_lease(self, name: str) -> bool:
        """Whether each run of this model leases a GPU."""
        return False

    def with_gpu_lease(self, decode: Decode) -> Decode:
        """Make decoding lease a GPU for each run whose model needs one."""
        return decode
